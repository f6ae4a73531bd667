"""Parts of files: together, they have every row once."""

import csv
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp.distributed.inputs import find_inputs, read_rows, read_schema
from spacy_sdp.formats import FormatError


def read_parts(path, part_size=10**9, format=None):
    (file,) = find_inputs([str(path)], format)
    parts = file.parts(part_size)
    rows, reasons = [], []
    for part in parts:
        for table, found in read_rows(part):
            assert table.schema == read_schema(part)
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
    rows = [{"i": 1, "f": 1, "b": True, "m": 1, "o": {"a": [1]}, "n": None}]
    rows += [{"i": 2, "f": 2.5, "b": False, "m": "x", "o": None, "n": None}]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    (file,) = find_inputs([str(tmp_path / "in.jsonl")], None)
    schema = read_schema(file.parts(1000)[0])
    assert dict(zip(schema.names, map(str, schema.types), strict=True)) == {
        "i": "int64",
        "f": "double",
        "b": "bool",
        "m": "string",
        "o": "string",
        "n": "string",
    }
    found = read_parts(tmp_path / "in.jsonl")[1]
    assert [(row["m"], row["o"]) for row in found] == [("1", '{"a": [1]}'), ("x", None)]


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
        ("in.jsonl", b"a" * (2**24 + 1), "more than 16,777,216 bytes"),
    ],
)
def test_broken_files_are_named(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_parts(tmp_path / name)


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
