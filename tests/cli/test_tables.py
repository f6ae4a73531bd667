"""`parse`: tables that are read, and tables that are written."""

import csv
import datetime
import io
import json
import math
import subprocess
import sys
import tracemalloc

import pytest
from util import run, save_chain

from spacy_sdp.cli.progress import Progress
from spacy_sdp.cli.table_writer import write_table
from spacy_sdp.formats import FormatError
from spacy_sdp.formats.files import LONGEST_LINE
from spacy_sdp.formats.table import read_csv
from spacy_sdp.graph.table import CLAUSE_COLUMNS, TRIPLE_COLUMNS


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    return save_chain(tmp_path_factory.mktemp("pipelines") / "chain")


def rows_of(data, delimiter=","):
    """RETURNS what is read of a file: (line, cells, reason)."""
    _, rows = read_csv(io.BytesIO(data), "a.csv", delimiter)
    return [(row.number, row.cells, row.reason) for row in rows]


def read_back(path, delimiter=","):
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_cells_of_csv():
    data = (
        '\ufeffid,body\r\n1,"A, ""b""."\r\n\r\n2,"Two\nlines."\n3,\n4," \u2028 "\n'
        "5,It's 5\" wide."
    ).encode()
    assert rows_of(data) == [
        (2, {"id": "1", "body": 'A, "b".'}, None),
        (4, {"id": "2", "body": "Two\nlines."}, None),
        (6, {"id": "3", "body": ""}, None),
        (7, {"id": "4", "body": " \u2028 "}, None),
        (8, {"id": "5", "body": "It's 5\" wide."}, None),
    ]


def test_cells_of_tsv():
    data = b'\tbody\n0\tA, b.\n1\t"Tab\there."\n'
    assert [cells for _, cells, _ in rows_of(data, "\t")] == [
        {"": "0", "body": "A, b."},
        {"": "1", "body": "Tab\there."},
    ]


def test_bad_rows_have_a_reason_and_the_others_are_read():
    data = (
        b"id,body\n1,Good.\n2,caf\xe9\n3,a,b\n4\n5,a\0b\n"
        b'6,"a"b\n7,Good.\n8,"open,\n9,Good.\n10,Good.\n'
    )
    rows = rows_of(data)
    assert [cells["id"] for _, cells, reason in rows if reason is None] == [
        *("1", "7", "9", "10")
    ]
    quoting = "double quotation marks in quoted cells"
    assert [(line, reason) for line, _, reason in rows if reason] == [
        (
            3,
            "cell 2 is not UTF-8 (it has the byte 0xe9); convert the file to UTF-8 "
            "first",
        ),
        (4, "the row has 3 cells, but the header has 2"),
        (5, "the row has 1 cells, but the header has 2"),
        (6, "cell 2 has a NUL byte; is this a text file?"),
        (7, f"broken quoting (',' expected after '\"'); {quoting}"),
        (9, f"broken quoting (unexpected end of data); {quoting}"),
    ]
    assert [cells for _, cells, reason in rows if reason][1:5] == [
        ["3", "a", "b"],
        ["4"],
        {"id": "5", "body": "a\0b"},
        '6,"a"b',
    ]


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "a.csv: the file is empty; expected a line with the columns"),
        (b"body,x,x\n", "a.csv, line 1: there are two columns 'x'"),
        ("body\n".encode("utf-16"), "line 1: cell 1 is not UTF-8 (it has the byte 0xf"),
        (b'"body\n', "a.csv, line 1: broken quoting (unexpected end of data)"),
    ],
)
def test_files_without_columns_are_refused(data, message):
    with pytest.raises(FormatError) as error:
        rows_of(data)
    assert message in str(error.value)


def test_a_quotation_mark_does_not_fill_the_memory():
    class Endless(io.RawIOBase):
        def __init__(self):
            self.lines = iter([b"body\n", b'"open\n'])

        def readline(self, limit=-1):
            return next(self.lines, b"x" * 99_999 + b"\n")

    _, rows = read_csv(Endless(), "a.csv", ",")
    tracemalloc.start()
    first = next(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first.number == 2 and first.cells == '"open'
    assert f"the row has more than {LONGEST_LINE:,} characters" in first.reason
    assert peak < 10 * LONGEST_LINE
    assert next(rows).cells == {"body": "x" * 99_999}


def test_other_columns_are_kept_in_tables(chain, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("id,body,score\n7,Dogs bark,good\n8,,\n9,Cats purr,\n")
    arguments = ["parse", path, "--model", chain, "--text-column", "body"]
    arguments += ["--to", "triples", "-o"]
    # Neither frame nor score.
    end = ["", "", "Dogs bark"], ["", "", "Cats purr"]
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t")):
        output = tmp_path / f"out{suffix}"
        assert run(*arguments, output)[:2] == (0, "")
        rows = read_back(output, delimiter)
        assert list(rows[0]) == ["id", "input_score", *TRIPLE_COLUMNS]
        assert [list(row.values()) for row in rows] == [
            ["7", "good", "0", "0", "1", "0", *("bark", "ARG1", "Dogs"), *end[0]],
            ["9", "", "2", "0", "1", "0", *("purr", "ARG1", "Cats"), *end[1]],
        ]
    output = tmp_path / "out.jsonl"
    assert run(*arguments, output)[0] == 0
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert rows[1]["id"] == "9" and rows[1]["doc"] == 2 and rows[1]["score"] is None


def test_clauses_of_a_table(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text('id,text\na,"The shy cat wants to eat. The dog did not sleep."\n')
    arguments = ["parse", path, "--model", "en_sdp_dm_sm"]
    assert run(*arguments, "-o", tmp_path / "out.csv")[:2] == (0, "")
    rows = read_back(tmp_path / "out.csv")
    assert list(rows[0]) == ["id", *CLAUSE_COLUMNS]
    assert [(row["id"], row["sent"], row["subject"], row["verb"]) for row in rows] == [
        ("a", "0", "The shy cat", "wants"),
        ("a", "0", "The shy cat", "eat"),
        ("a", "1", "The dog", "did sleep"),
    ]
    assert [row["negated"] for row in rows] == ["false", "false", "true"]
    table = (tmp_path / "out.csv").read_text(encoding="utf8")
    assert run(*arguments, "--to", "csv")[:2] == (0, table)
    code, out, _ = run(*arguments, "--to", "clauses")
    assert code == 0 and out.splitlines() == [
        "The shy cat wants to eat.",
        "   The shy cat  wants  to eat",
        "   The shy cat  eat            modality: wants",
        "",
        "The dog did not sleep.",
        "   The dog  did sleep    negated",
        "",
    ]
    text = "Anna and Ben bought tea."
    clauses = ["parse", text, "--model", "en_sdp_dm_sm", "--to", "clauses"]
    assert run(*clauses)[1].splitlines()[1:-1] == ["   Anna and Ben  bought  tea"]
    assert run(*clauses, "--conjuncts")[1].splitlines()[1:-1] == [
        "   Anna  bought  tea",
        "   Ben   bought  tea",
    ]


def test_triples_as_text(chain):
    out = run("parse", "猫 吃鱼 a", "--model", chain, "--to", "triples")[1]
    assert out.splitlines() == [
        "猫 吃鱼 a",
        "   吃鱼  ARG1  猫",
        "   a     ARG1  吃鱼",
        "",
    ]


def test_parquet_in_and_out(chain, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    day = datetime.datetime(2024, 5, 17, 12, 30, tzinfo=datetime.UTC)
    rows = [
        {"id": 7, "body": "Dogs bark", "when": day, "rank": None, "tags": ["a"]},
        {"id": 8, "body": None, "when": None, "rank": None, "tags": []},
        {"id": 9, "body": "Cats purr", "when": None, "rank": 0.5, "tags": []},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "in.parquet")
    arguments = ["parse", tmp_path / "in.parquet", "--model", chain]
    arguments += ["--text-column", "body", "--to", "triples"]
    code, _, err = run(*arguments)
    assert code == 1 and "in.parquet: row 2: there is no text in 'body'" in err
    errors, output = tmp_path / "errors.jsonl", tmp_path / "out.parquet"
    assert run(*arguments, "--errors", errors, "-o", output)[0] == 0
    (error,) = map(json.loads, errors.read_text().splitlines())
    assert error["number"] == 2 and error["row"]["id"] == 8
    table = parquet.read_table(output)
    kept = [{name: row[name] for name in rows[0] if name != "body"} for row in rows]
    names = ["id", "when", "rank", "tags", *TRIPLE_COLUMNS]
    assert table.column_names == names
    found = table.select(["id", "when", "rank", "tags"]).to_pylist()
    assert found == [kept[0], kept[2]]
    types = [str(table.schema.field(name).type) for name in ("id", "head", "score")]
    assert types == ["int64", "int64", "double"]
    # The values of other types are written as text to CSV.
    assert run(*arguments, "--errors", errors, "-o", tmp_path / "out.csv")[0] == 0
    (first, second) = read_back(tmp_path / "out.csv")
    assert (first["when"], first["tags"]) == ("2024-05-17 12:30:00+00:00", '["a"]')
    assert (second["when"], second["rank"], second["tags"]) == ("", "0.5", "[]")


def test_files_without_the_column_of_the_texts_are_refused(chain, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in.csv").write_text("id;body\n")
    parquet.write_table(pyarrow.table({"id;body": ["1"]}), tmp_path / "in.parquet")
    for name in ("in.csv", "in.parquet"):
        code, _, err = run("parse", tmp_path / name, "--model", chain)
        assert code == 1 and f"{name}: there is no column 'text'; specify the" in err
        assert "with --text-column (found 'id;body')" in err


def test_numbers_that_json_lacks_are_null(chain, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"text": ["Dogs bark."], "x": [math.nan], "y": [[math.inf, 0.5]]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "in.parquet")
    output = tmp_path / "out.jsonl"
    for to in ("jsonl", "triples"):
        arguments = ["--model", chain, "--to", to, "-o", output]
        assert run("parse", tmp_path / "in.parquet", *arguments)[0] == 0
        line = output.read_text().splitlines()[0]
        row = json.loads(line, parse_constant=pytest.fail)
        assert (row["x"], row["y"]) == (None, [None, 0.5])


@pytest.mark.parametrize(
    "column, reason",
    [
        ([7], "expected a text in 'text', found int"),
        ([b"a"], "expected a text in 'text', found bytes"),
        ([["a"]], "expected a text in 'text', found list"),
        ([None], "there is no text in 'text'"),
    ],
    ids=["number", "bytes", "list", "null"],
)
def test_columns_that_are_not_text_are_named(column, reason, chain, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "in.parquet"
    parquet.write_table(pyarrow.table({"text": column}), path)
    code, _, err = run("parse", path, "--model", chain)
    assert code == 1 and f"in.parquet: row 1: {reason}" in err


def test_broken_parquet_is_refused(chain, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    (tmp_path / "in.parquet").write_bytes(b"PAR1x")
    arguments = ["--model", chain]
    code, _, err = run("parse", tmp_path / "in.parquet", *arguments)
    assert code == 1 and "in.parquet: not a valid Parquet file (" in err
    code, _, err = run("parse", "-", "--from", "parquet", *arguments, input="")
    assert code == 1 and "Parquet cannot be read from standard input" in err
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for more in ([tmp_path / "in.parquet"], ["Hi.", "-o", tmp_path / "out.parquet"]):
        code, _, err = run("parse", *more, *arguments)
        assert code == 1
        assert 'Parquet files require pyarrow: pip install "spacy-sdp[tables]"' in err
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_with_different_columns_make_one_table(kind, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {"a": 1, "b": None, "own": "x"},
        {"a": 2.5, "c": True, "own": "y"},
        {"a": None, "d": 1, "own": '"q",\r'},
        {"d": "one", "e": None, "own": None},
    ]
    path = tmp_path / f"out.{kind}"
    write_table(iter(rows), {"own": str}, path, kind)
    if kind == "csv":
        assert [list(row.values()) for row in read_back(path)] == [
            ["1", "", "", "", "", "x"],
            ["2.5", "", "true", "", "", "y"],
            ["", "", "", "1", "", '"q",\r'],
            ["", "", "", "one", "", ""],
        ]
        return
    table = parquet.read_table(path)
    assert {each.name: str(each.type) for each in table.schema} == {
        "a": "double",
        "b": "string",
        "c": "bool",
        "d": "string",
        "e": "string",
        "own": "string",
    }
    assert table["a"].to_pylist() == [1.0, 2.5, None, None]
    assert table["d"].to_pylist() == [None, None, "1", "one"]


def test_a_table_without_rows_has_its_columns(chain, tmp_path):
    output = tmp_path / "out.csv"
    assert run("parse", "", "--model", chain, "--to", "triples", "-o", output)[0] == 0
    assert output.read_text() == ",".join(TRIPLE_COLUMNS) + "\n"


def test_memory_does_not_grow_with_the_table(tmp_path):
    def peak(count):
        rows = ({"id": i, "own": "x" * 1000} for i in range(count))
        tracemalloc.start()
        write_table(rows, {"own": str}, tmp_path / "out.csv", "csv")
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(5_000) < 2 * peak(500)


def test_unknown_suffixes_are_refused(chain, tmp_path):
    arguments = ("parse", "Hi.", "--model", chain, "--to", "clauses", "-o")
    code, _, err = run(*arguments, tmp_path / "out.xls")
    assert code == 2 and "the file must end in .csv, .tsv, .jsonl, .parquet" in err
    code, _, err = run(*arguments, tmp_path / "out.tsv", "--to", "csv")
    assert code == 2 and "--to csv: the file must end in .csv, not 'out.tsv'" in err


def test_json_lines_and_pages_have_the_clauses_of_the_table(tmp_path):
    arguments = ["parse", "Anna and Ben sing.", "They don't stop.", "--model"]
    arguments += ["en_sdp_dm_sm", "-o"]
    for option in ([], ["--conjuncts"]):
        paths = [tmp_path / f"out.{suffix}" for suffix in ("jsonl", "table.jsonl")]
        for path, more in zip(paths, (["jsonl"], ["clauses"]), strict=True):
            assert run(*arguments, path, "--to", *more, *option)[0] == 0
        lines, rows = (
            list(map(json.loads, path.read_text().splitlines())) for path in paths
        )
        assert [list(row) for row in rows] == [list(CLAUSE_COLUMNS)] * len(rows)
        assert [row for line in lines for row in line["clauses"]] == rows
        assert (rows[0]["subject"] == "Anna") == bool(option)
    assert run(*arguments, tmp_path / "out.html")[0] == 0
    page = (tmp_path / "out.html").read_text()
    assert '<span class="quiet">negated by</span>' in page
    assert page.count("data-row=") == 2 and '{"doc": 1, "sent": 0, "clause": 0' in page


def test_text_output_does_not_load_the_code_for_drawing():
    code = """if True:
        import sys
        from spacy_sdp.cli import sdp
        arguments = ["parse", "Dogs bark.", "--model", "en_sdp_dm_sm"]
        sdp(arguments, standalone_mode=False)
        print([name for name in sys.modules if name.startswith("spacy_sdp.display")])
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_shows_words_per_second_and_the_time_left():
    for total, expected in ((200, " 50%|"), (None, "30 words [")):
        screen = Terminal()
        with Progress(total, file=screen, delay=0, mininterval=0) as progress:
            progress.update(30, 100)
            progress.bar.refresh()
        assert expected in screen.getvalue()
        assert ("<00:" in screen.getvalue()) == (total is not None)
        assert "words/s" in screen.getvalue()
    screen = Terminal()
    with Progress(200, file=screen, delay=0, mininterval=0) as progress:
        progress.add(30, 50)
        progress.add(30, 50)
        progress.bar.refresh()
    assert " 50%|" in screen.getvalue() and progress.words == 60
