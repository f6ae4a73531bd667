import datetime

import pytest

from spacy_sdp.formats.files import LONGEST_LINE, FormatError
from spacy_sdp.formats.table import BATCH_ROWS, read_csv, read_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def read(path):
    with path.open("rb") as file:
        columns, rows = read_parquet(file, str(path))
        return columns, list(rows)


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, compression="zstd", **options)
    return path


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_all_types_of_text_are_read(kind, tmp_path):
    if not hasattr(pa, kind):
        pytest.skip(f"this version of pyarrow has no {kind}")
    texts = ["Dogs bark.", None, "Çats", "Dogs bark."]
    column = pa.array(texts, getattr(pa, kind)())
    columns, rows = read(write(tmp_path / "in.parquet", {"text": column}))
    assert columns == ["text"]
    assert [row.cells["text"] for row in rows] == texts
    dictionary = pa.array(texts).dictionary_encode()
    _, rows = read(write(tmp_path / "in.parquet", {"text": dictionary}))
    assert [row.cells["text"] for row in rows] == texts


def test_rows_are_numbered_across_row_groups(tmp_path):
    count = 2 * BATCH_ROWS + 500
    texts = [str(i) for i in range(count)]
    path = write(tmp_path / "in.parquet", {"text": texts}, row_group_size=1500)
    _, rows = read(path)
    assert [row.cells["text"] for row in rows] == texts
    assert [row.number for row in rows] == list(range(1, count + 1))
    assert rows[-1].position == path.stat().st_size


def test_a_row_group_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    columns = {"text": ["a", "b" * 30_000_000]}
    path = write(tmp_path / "in.parquet", columns, row_group_size=1)
    assert path.stat().st_size < 10_000
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "20000000")
    with pytest.raises(
        FormatError,
        match=r"in.parquet: row group 2 unpacks to more than 20,000,000 bytes; .*"
        "SPACY_SDP_MAX_UNPACKED",
    ):
        read(path)


def test_a_text_that_occurs_often_is_read_in_small_batches(tmp_path, monkeypatch):
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "20000000")
    text = "a" * 1_000_000
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 200), pa.array([text]))
    for values in (column, column.dictionary_decode()):
        path = write(tmp_path / "in.parquet", {"text": values})
        before = pa.default_memory_pool().max_memory()
        with path.open("rb") as file:
            _, rows = read_parquet(file, str(path))
            assert sum(row.cells == {"text": text} for row in rows) == 200
        assert pa.default_memory_pool().max_memory() - before < 100_000_000


def test_rows_that_are_too_long_or_invalid_have_a_reason(tmp_path):
    text = pa.array(["a", "b" * LONGEST_LINE, "c", "d"])
    far = pa.array([0, 0, 2**62, 0], pa.timestamp("us"))
    zeros = [[0] * (LONGEST_LINE // 8 + 1), [], [1], [2]]
    columns = {"text": text, "time": far, "list": zeros[::-1]}
    path = write(tmp_path / "in.parquet", columns)
    _, rows = read(path)
    time = datetime.datetime(1970, 1, 1)
    assert rows[0].cells == {"text": "a", "time": time, "list": [2]}
    assert rows[1].reason == "the row has more than 16,777,216 bytes"
    assert rows[2].reason.startswith("the row has an invalid value (")
    assert rows[3].reason == rows[1].reason
    # pyarrow does not check this itself.
    buffers = pa.array([b"\xff\xfe"]).buffers()
    text = pa.Array.from_buffers(pa.string(), 1, buffers)
    _, (row,) = read(write(tmp_path / "in.parquet", {"text": text}))
    assert "'utf-8' codec can't decode byte 0xff" in row.reason


def test_columns_of_the_same_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"])
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(FormatError, match=r"in.parquet: there are two columns 'text'"):
        read(tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("text,id,text\na,1,b\n")
    with (
        (tmp_path / "in.csv").open("rb") as file,
        pytest.raises(FormatError, match=r"in.csv, line 1: there are two columns"),
    ):
        read_csv(file, str(tmp_path / "in.csv"), ",")
    # Linear in the number of columns.
    names = [str(i) for i in range(200_000)]
    (tmp_path / "in.csv").write_text(",".join(names))
    with (tmp_path / "in.csv").open("rb") as file:
        assert read_csv(file, "in.csv", ",")[0] == names
