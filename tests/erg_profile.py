"""Profiles of the English Resource Grammar, as tests need them."""

# Markup is what some of these tests are about.

SCHEMA = """item:
  i-id :integer :key
  i-input :string
  i-wf :integer
  i-comment :string

parse:
  parse-id :integer :key                # unique parse identifier
  i-id :integer :key                    # item parsed
  p-input :string                       # initial parser input

tree:
  parse-id :integer :key
  t-active :integer

result:
  parse-id :integer :key
  result-id :integer
  mrs :string
"""

# "Owls hunted mice." with markup: each token with its start, its end and its tag.
TEXT = "⌊>Owls>⌋ hunted ⌊/mice/⌋."
TOKENS = [
    ("Owls", 2, 6, "NNS"),
    ("hunted", 9, 15, "VBD"),
    ("⌊/mice/⌋", 16, 24, "NNS"),
    (".", 24, 25, "."),
]
# The predicate of "hunted" is another word, to see whether it shows up anywhere.
MRS = """[ LTOP: h0 INDEX: e2 [ e SF: prop TENSE: past ] RELS: <
  [ udef_q<2:6> LBL: h4 ARG0: x3 [ x PERS: 3 NUM: pl ] RSTR: h5 BODY: h6 ]
  [ _owl_n_1<2:6> LBL: h7 ARG0: x3 ]
  [ _stalk_v_1<9:15> LBL: h1 ARG0: e2 ARG1: x3 ARG2: x8 [ x PERS: 3 NUM: pl ] ]
  [ udef_q<16:25> LBL: h9 ARG0: x8 RSTR: h10 BODY: h11 ]
  [ _mouse_n_1<16:25> LBL: h12 ARG0: x8 ] >
  HCONS: < h0 qeq h1 h5 qeq h7 h10 qeq h12 > ]"""


def one_node(start, end, predicate="_owl_n_1"):
    """An analysis with a single node, where only the words matter."""
    node = f"[ {predicate}<{start}:{end}> LBL: h1 ARG0: x1 ]"
    return f"[ LTOP: h0 INDEX: x1 RELS: < {node} > HCONS: < h0 qeq h1 > ]"


def yy(tokens):
    """Tokens in the YY format, with a second tag that is less likely."""
    return " ".join(
        f'({i}, {i}, {i + 1}, <{start}:{end}>, 1, "{form}", 0, "null", '
        f'"{tag}" 0.7500 "XX" 0.2500)'
        for i, (form, start, end, tag) in enumerate(tokens)
    )


def cell(value):
    value = " ".join(str(value).splitlines())
    return value.replace("\\", "\\\\").replace("@", "\\s")


def write_relation(profile, name, *records):
    lines = ["@".join(map(cell, record)) + "\n" for record in records]
    (profile / name).write_text("".join(lines), encoding="utf-8")


def write_profile(path, text=TEXT, tokens=TOKENS, mrs=MRS, active=1, well_formed=1):
    """Write a profile of one sentence; `mrs` are its analyses if there are several."""
    analyses = [mrs] if isinstance(mrs, str) else mrs
    (path / "relations").write_text(SCHEMA)
    write_relation(path, "item", (71, text, well_formed, ""))
    yy_tokens = tokens if isinstance(tokens, str) else yy(tokens)
    write_relation(path, "parse", (5, 71, yy_tokens))
    write_relation(path, "tree", (5, active))
    write_relation(path, "result", *((5, i, each) for i, each in enumerate(analyses)))
    return path
