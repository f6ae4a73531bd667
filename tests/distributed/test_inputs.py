"""Parts of files: together, they have every row once."""

import csv
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp.distributed import parse_schema
from spacy_sdp.distributed.columns import merge_schemas, read_schema
from spacy_sdp.distributed.inputs import find_inputs, read_rows
from spacy_sdp.formats import FormatError


def find_schema(*paths, text_column="text"):
    """RETURNS the columns of all files."""
    schemas = {}
    for file in find_inputs(map(str, paths), None):
        schemas[file.name] = read_schema(file, text_column, parse_schema())
    return merge_schemas(schemas)


def read_parts(path, part_size=10**9, schema=None):
    (file,) = find_inputs([str(path)], None)
    schema = schema or find_schema(path)
    parts = file.parts(part_size)
    rows, reasons = [], []
    for part in parts:
        for table, found in read_rows(part, schema):
            assert table.schema == schema
            rows += table.to_pylist()
            reasons += found
    return parts, rows, reasons


@given(st.lists(st.text(max_size=20), max_size=30), st.integers(1, 200))
def test_parts_of_jsonl_have_every_line_once(tmp_path_factory, texts, size):
    path = tmp_path_factory.mktemp("in") / "in.jsonl"
    rows = [{"id": i, "text": text} for i, text in enumerate(texts)]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_bytes("".join(lines).encode("utf8", "surrogatepass"))
    parts, found, reasons = read_parts(path, size)
    assert found == rows and not any(reasons)
    assert [part.end for part in parts[:-1]] == [part.start for part in parts[1:]]


@given(st.integers(0, 50), st.integers(1, 9), st.integers(1, 2000))
def test_parts_of_parquet_have_every_row_once(tmp_path_factory, rows, group, size):
    path = tmp_path_factory.mktemp("in") / "in.parquet"
    table = pa.table({"id": pa.array(range(rows), "i4"), "text": ["It rains."] * rows})
    pq.write_table(table, path, row_group_size=group)
    parts, found, reasons = read_parts(path, size)
    assert found == table.to_pylist() and not any(reasons)
    assert len({part.name for part in parts}) == len(parts)


def test_csv_and_tsv_have_columns_of_text(tmp_path):
    rows = [{"id": "1", "text": "Dogs\nbark."}, {"id": "2", "text": 'He said "no".'}]
    for suffix, dialect in (("csv", "excel"), ("tsv", "excel-tab")):
        with (tmp_path / f"in.{suffix}").open("w", newline="") as file:
            writer = csv.DictWriter(file, ["id", "text"], dialect=dialect)
            writer.writeheader()
            writer.writerows(rows)
        parts, found, reasons = read_parts(tmp_path / f"in.{suffix}", part_size=1)
        assert (len(parts), found, reasons) == (1, rows, [None, None])


def test_paragraphs_have_a_source_and_a_line(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("Dogs bark.\nCats purr.\n \nFish swim.")
    row = {"source": str(path), "line": 1, "text": "Dogs bark. Cats purr."}
    last = {"source": str(path), "line": 4, "text": "Fish swim."}
    assert read_parts(path)[1] == [row, last]


def test_compressed_files_are_one_part(tmp_path):
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}\n' * 99))
    parts, found, _ = read_parts(path, part_size=1)
    assert [part.name for part in parts] == ["in.parquet"]
    assert found == [{"text": "a"}] * 99


def test_uris_of_fsspec(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    parts, found, _ = read_parts(f"local://{tmp_path}/in.jsonl", part_size=14)
    assert len(parts) == 2 and found == [{"text": "a"}, {"text": "b"}]


def test_types_of_jsonl_are_those_of_the_first_rows(tmp_path):
    rows = [{"i": 1, "f": 1, "b": True, "text": 1, "o": {"a": [1]}, "n": None}]
    rows += [{"i": 2, "f": 2.5, "b": False, "text": "x", "o": None, "n": 2**63}]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    schema = find_schema(tmp_path / "in.jsonl")
    assert dict(zip(schema.names, map(str, schema.types), strict=True)) == {
        "i": "int64",
        "f": "double",
        "b": "bool",
        "text": "string",
        "o": "string",
        "n": "string",
    }
    found = read_parts(tmp_path / "in.jsonl")[1]
    assert [row["text"] for row in found] == ["1", "x"]
    assert [row["o"] for row in found] == ['{"a": [1]}', None]
    assert [row["n"] for row in found] == [None, str(2**63)]


def test_numbers_of_jsonl_fit_into_their_columns(tmp_path):
    path = tmp_path / "in.jsonl"
    first = '{"text": "a", "f": 1, "i": 1}\n{"text": "a", "f": 0.5, "i": 1}\n' * 500
    path.write_text(
        f"{first}"
        '{"text": "a", "f": 36893488147419103232, "i": 2.0}\n'
        '{"text": "a", "f": 1e30, "i": 2.5}\n'
        f'{{"text": "a", "f": {10**400}, "i": 9223372036854775808}}'
    )
    _, rows, reasons = read_parts(path)
    assert [(row["f"], row["i"]) for row in rows[1000:]] == [
        (2.0**65, 2),
        (1e30, None),
        (None, None),
    ]
    assert reasons[:1001] == [None] * 1001
    assert reasons[1001].startswith("'i' should be int64, as before, but is 2.5, at ")
    f, i = reasons[1002].split("; ")
    assert f == f"'f' should be double, as before, but is {10**99}"
    assert i.startswith("'i' should be int64, as before, but is 9223372036854775808, ")


def test_long_lines_do_not_affect_others(tmp_path):
    path = tmp_path / "in.jsonl"
    long = json.dumps({"text": "a" * 2**24})
    path.write_text(f'{{"text": "b"}}\n{long}\n{{"text": "c"}}\n{long}')
    parts, rows, reasons = read_parts(path, part_size=2**23)
    assert [row["text"] for row in rows] == ["b", None, "c", None] and len(parts) == 5
    assert reasons[::2] == [None, None]
    assert (
        reasons[1] == f"the line has more than 16,777,216 bytes, at byte 14 of {path}"
    )


def test_files_of_different_columns_have_one_schema(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "n": null, "i": 1, "s": 1}')
    (tmp_path / "b.jsonl").write_text('{"n": 1, "text": "a", "i": 1.5, "o": [1]}')
    (tmp_path / "c.jsonl").write_text("\n")
    (tmp_path / "d.csv").write_text("text,s\na,x")
    table = pa.table({"text": ["a"], "i": pa.array([2], "i4"), "s": [True]})
    pq.write_table(table, tmp_path / "e.parquet")
    schema = find_schema(tmp_path)
    assert dict(zip(schema.names, map(str, schema.types), strict=True)) == {
        "text": "string",
        "n": "int64",
        "i": "double",
        "s": "string",
        "o": "string",
    }
    found = []
    for path in sorted(tmp_path.iterdir()):
        _, rows, reasons = read_parts(path, schema=schema)
        found += [[row[name] for name in "niso"] for row in rows]
        assert not any(reasons)
    assert found == [
        [None, 1.0, "1", None],
        [1, 1.5, None, "[1]"],
        [None, None, "x", None],
        [None, 2.0, "true", None],
    ]
    pq.write_table(pa.table({"text": ["a"], "s": [["b"]]}), tmp_path / "f.parquet")
    message = r"'s' has the type string in a.jsonl, and list<element: string> in f.parq"
    with pytest.raises(ValueError, match=message):
        find_schema(tmp_path)


@pytest.mark.parametrize(
    "texts",
    [
        pa.array(["a", None], pa.large_string()),
        pa.array(["a", None], pa.string_view()),
        pa.array(["a", None]).dictionary_encode(),
        pa.nulls(2),
    ],
)
def test_all_types_of_texts_can_be_parsed(texts, tmp_path):
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    assert find_schema(tmp_path / "in.parquet").types == [pa.string()]
    _, rows, _ = read_parts(tmp_path / "in.parquet")
    assert [row["text"] for row in rows] == texts.to_pylist()


def test_parts_of_parquet_are_row_groups_if_they_are_small(tmp_path):
    path = tmp_path / "in.parquet"
    schema = pa.schema([("text", pa.string())])
    sizes = [10, 10, 10, 60, 0, 2]
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for size in sizes:
            writer.write_table(pa.table({"text": ["a" * 1000] * size}, schema))
    (file,) = find_inputs([str(path)], None)
    bounds = [(part.start, part.end) for part in file.parts(25_000)]
    assert bounds == [(0, 20), (20, 30), (30, 50), (50, 70), (70, 90), (90, 92)]
    # Each part of a row group reads it from its start.
    assert len(file.parts(1)) == 3 * 10 + 32 + 2


def test_rows_of_parquet_are_read_in_small_tables(tmp_path):
    table = pa.table({"id": range(64), "text": [f"{i}" * 10**5 for i in range(64)]})
    pq.write_table(table, tmp_path / "in.parquet")
    (file,) = find_inputs([str(tmp_path / "in.parquet")], None)
    (part,) = file.parts(10**9)
    read = list(read_rows(part, find_schema(tmp_path)))
    assert sum(len(rows) for rows, _ in read) == 64
    assert max(rows.nbytes for rows, _ in read) < 3 * 2**20
    ids = [rows for rows, _ in read_rows(part, find_schema(tmp_path), "id")]
    assert pa.concat_tables(ids) == table.select(["id"])


def test_rows_that_cannot_be_read_have_a_reason(tmp_path):
    path = tmp_path / "in.jsonl"
    first = '{"n": 1, "text": "a"}\n' * 1000
    bad = ['{"n": "x", "text": "b"}', '{"text": "c", "new": 1}', "{", "[1]"]
    bad += ['{"text": "\\ud800"}']
    path.write_text(first + "\n".join(bad))
    _, rows, reasons = read_parts(path)
    where = [f", at byte {len(first)} of".replace("22000", "22,000")]
    assert reasons[:1000] == [None] * 1000
    assert [row["text"] for row in rows[1000:]] == ["b", "c", None, None, None]
    messages = [
        f"'n' should be int64, as before, but is 'x'{where[0]}",
        "the first 1,000 rows of the file have no 'new'",
        "not JSON (",
        "not an object",
        "'text' has an unpaired surrogate",
    ]
    for reason, message in zip(reasons[1000:], messages, strict=True):
        assert reason.startswith(message) and reason.endswith(str(path))
    (tmp_path / "in.csv").write_bytes(b"id,text\n1\n2,caf\xe9\n3,a\n")
    reasons = read_parts(tmp_path / "in.csv")[2]
    assert reasons[0].startswith("the row has 1 cells, but the header has 2, in line 2")
    assert reasons[1].startswith("cell 2 is not UTF-8 (it has the byte 0xe9)")
    assert reasons[2] is None
    (tmp_path / "in.csv").write_bytes(b'id,text\n1,"a" b\n2,c\n')
    _, rows, reasons = read_parts(tmp_path / "in.csv")
    assert rows == [{"id": None, "text": None}, {"id": "2", "text": "c"}]
    assert reasons[0].startswith("broken quoting") and reasons[1] is None


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("in.parquet", b"PAR1", "in.parquet: cannot be read"),
        ("in.jsonl.gz", b"text", "in.jsonl.gz: cannot be read"),
        ("in.txt", b"caf\xe9", "in.txt, line 1: not UTF-8"),
        ("in.csv", b"", "in.csv: the file is empty"),
        ("in.pdf", b"", "in.pdf: unknown suffix"),
        ("in.jsonl", b"a" * (2**24 + 1), "a JSON object .*more than 16,777,216 bytes"),
        ("in.jsonl", b"\n[1]\n", r"a JSON object \(not an object, at byte 1\)"),
        (
            "in.jsonl",
            b'{"body": 1}',
            "There is no column 'text' with the texts, only b",
        ),
        ("in.jsonl", b'{"text": 1}', "'text' has int64, not texts"),
        ("in.jsonl", b'{"text": "a", "arcs": 1}', "has the column 'arcs'"),
    ],
)
def test_broken_files_are_named(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_parts(tmp_path / name)


def test_columns_of_the_same_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array(["a"])] * 2, ["text", "text"])
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(FormatError, match=r"in\.parquet: there are two columns 'text'"):
        find_schema(tmp_path / "in.parquet")


def test_folders_have_files_of_all_formats(tmp_path):
    for name in ("a/b.csv", "c.jsonl.gz", "_d.jsonl", ".e/f.csv", "readme.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = find_inputs([str(tmp_path)], None)
    assert [(each.name, each.format) for each in found] == [
        ("a/b.csv", "csv"),
        ("c.jsonl.gz", "jsonl"),
    ]
    (tmp_path / "empty").mkdir()
    for name in ("empty", "none.csv"):
        with pytest.raises(FileNotFoundError, match=name):
            find_inputs([str(tmp_path / name)], None)
