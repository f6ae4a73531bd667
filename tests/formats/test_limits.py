"""Files that would fill the memory are refused with a sentence."""

import gzip
import os
import subprocess
import sys
import tracemalloc
import zlib

import pytest
import srsly
from util import run

from spacy_sdp.formats import docbin
from spacy_sdp.formats.erg import profile as erg
from spacy_sdp.formats.files import (
    LONGEST_LINE,
    MOST_LINES,
    FormatError,
    read_blocks,
    read_lines,
)
from spacy_sdp.formats.table import read_csv

resource = pytest.importorskip("resource", reason="needs Unix")


def bomb(size):
    """As many zeros, compressed."""
    packer = zlib.compressobj()
    piece = bytes(10_000_000)
    pieces = [packer.compress(piece) for _ in range(size // len(piece))]
    return b"".join(pieces) + packer.flush()


def test_a_docbin_that_unpacks_to_too_much_is_refused_in_little_memory(
    tmp_path, monkeypatch
):
    path = tmp_path / "bomb.spacy"
    path.write_bytes(bomb(400_000_000))
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "300000000")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match="unpacks to more than 300,000,000 bytes"):
        list(docbin.read_docs(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB
    assert "SPACY_SDP_MAX_UNPACKED" in run("convert", path, tmp_path / "x.sdp")[2]


def test_the_limit_is_a_setting(tmp_path, monkeypatch, cat):
    path = tmp_path / "cat.spacy"
    docbin.write_docs([cat], path)
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "100")
    with pytest.raises(FormatError, match="unpacks to more than 100 bytes"):
        list(docbin.read_docs(path))
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "1000000")
    assert [doc.text for doc in docbin.read_docs(path)] == [cat.text]
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "much")
    with pytest.raises(ValueError, match="must be a number of bytes, not 'much'"):
        list(docbin.read_docs(path))


def test_what_is_not_compressed_is_refused_at_once(tmp_path):
    path = tmp_path / "zeros.spacy"
    with path.open("wb") as file:
        file.truncate(400_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match=r"not a valid \.spacy file"):
        list(docbin.read_docs(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB


def test_what_unpacks_to_nothing_is_refused_by_its_own_size(tmp_path, monkeypatch):
    packer = zlib.compressobj()
    path = tmp_path / "empty.spacy"
    # The header, and empty blocks without an end.
    header = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(header + b"\0\0\0\xff\xff" * 100_000)
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "300000")
    with pytest.raises(FormatError, match="more than 300,000 bytes"):
        list(docbin.read_docs(path))


def test_a_broken_docbin_is_not_quoted_at_length(tmp_path):
    path = tmp_path / "long.spacy"
    path.write_bytes(bomb(50_000_000))
    with pytest.raises(FormatError) as found:
        list(docbin.read_docs(path))
    assert len(str(found.value)) < 1000


def pack(cat, **values):
    """The content of a `.spacy` file, with these values as msgpack."""
    content = srsly.msgpack_loads(zlib.decompress(docbin.to_bytes([cat])))
    packed = {key: srsly.msgpack_dumps(value) for key, value in content.items()}
    packed |= values
    header = bytes([0x80 + len(packed)])
    pairs = [srsly.msgpack_dumps(key) + value for key, value in packed.items()]
    return zlib.compress(header + b"".join(pairs), 1)


def array(length, values):
    return b"\xdd" + length.to_bytes(4, "big") + values


# Arrays that claim to be long, one in the other.
NESTED = array(100_000, b"") * 200 + bytes(100_000)


@pytest.mark.parametrize(
    "values",
    [
        {"cats": array(1_000_000, b"\x90" * 1_000_000)},
        {"cats": array(1_000_000, b"\x80" * 1_000_000)},
        {"other": array(20, array(50_000, b"\xa3abc" * 50_000) * 20)},
        {"other": NESTED},
        {"user_data": srsly.msgpack_dumps([NESTED])},
        {"span_groups": srsly.msgpack_dumps([array(1_000_000, b"\x90" * 1_000_000)])},
        {
            "lengths": srsly.msgpack_dumps(bytes(400_000)),
            "cats": array(100_000, b"\0" * 100_000),
        },
        {"lengths": srsly.msgpack_dumps((100_000).to_bytes(4, "little"))},
        {"strings": srsly.msgpack_dumps([str(i) for i in range(100_000)])},
    ],
    ids=[
        "lists",
        "maps",
        "strings",
        "nested",
        "user data",
        "spans",
        "docs",
        "tokens",
        "vocab",
    ],
)
def test_a_docbin_with_too_many_objects_is_refused(values, cat, tmp_path, monkeypatch):
    path = tmp_path / "in.spacy"
    path.write_bytes(pack(cat, **values))
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "20000000")
    tracemalloc.start()
    with pytest.raises(
        FormatError, match=r"in.spacy: .* 20,000,000 bytes; .*MAX_UNPACKED"
    ):
        list(docbin.read_docs(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_values_are_counted_whatever_their_type():
    values = [0, -1, 200, -200, 2**15, -(2**15), 2**31, -(2**31), 2**63, -(2**63), 0.5]
    values += [None, True, "", "a" * 31, "a" * 32, "a" * 256, "a" * 65536, {"a": [[]]}]
    values += [b"a", b"a" * 256, b"a" * 65536, [0] * 16, [0] * 65536]
    values += [dict.fromkeys(range(size), 0) for size in (15, 16, 65536)]
    for size in (1, 2, 4, 8, 16, 3, 256, 65536):
        values.append(srsly.msgpack.ExtType(5, b"a" * size))
    expected = 1 + len(values) + 4 - 1 + 16 + 65536 + 2 * (15 + 16 + 65536)
    assert docbin._count_values(srsly.msgpack_dumps(values)) == expected


def test_a_docbin_whose_lengths_do_not_match_is_refused(cat, tmp_path):
    path = tmp_path / "in.spacy"
    path.write_bytes(pack(cat, lengths=srsly.msgpack_dumps(bytes(400))))
    with pytest.raises(
        FormatError, match=r"not a valid .spacy file \(100 lengths for 1 Doc"
    ):
        list(docbin.read_docs(path))


def test_a_relation_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "item.gz"
    path.write_bytes(gzip.compress(b"1@word\n" * 10_000))
    assert len(list(erg._read_relation_lines(path))) == 10_000
    monkeypatch.setenv("SPACY_SDP_MAX_UNPACKED", "50000")
    with pytest.raises(FormatError, match="unpacks to more than 50,000 bytes"):
        list(erg._read_relation_lines(path))
    monkeypatch.undo()
    path.write_bytes(gzip.compress(b"x" * (LONGEST_LINE + 1)))
    with pytest.raises(FormatError, match="line 1: the line has more than 16,777,216"):
        list(erg._read_relation_lines(path))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("command", ["parse", "convert", "draw"])
def test_what_never_ends_is_refused(command, tmp_path):
    link = tmp_path / "in.sdp"
    link.symlink_to("/dev/zero")
    if command == "parse":
        arguments = ["parse", link, "--from", "lines", "--model", "en_sdp_dm_sm"]
        pytest.importorskip("en_sdp_dm_sm", reason="en_sdp_dm_sm is not installed")
    elif command == "convert":
        arguments = ["convert", link, tmp_path / "out.conllu"]
    else:
        arguments = ["draw", link, "--output", tmp_path / "out.html"]
    code, _, err = run(*arguments)
    assert code == 1
    assert (
        "line 1: the line has more than 16,777,216 bytes; is this a text file?" in err
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.sdp"]


def test_a_line_and_a_block_may_be_as_long_as_the_limit(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"x" * (LONGEST_LINE - 1) + b"\nshort")
    lengths = [len(line) for _, line in read_lines(path)]
    assert lengths == [LONGEST_LINE - 1, 5]
    with pytest.raises(FormatError, match="line 2: more than 16,777,216 characters"):
        list(read_blocks(path))


def test_a_block_has_a_limit_of_lines(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"a\n" * (MOST_LINES + 1))
    with pytest.raises(
        FormatError, match="line 1000001: more than 1,000,000 lines wit"
    ):
        list(read_blocks(path))
    path.write_bytes(b'text\n"' + b"\n" * (MOST_LINES + 1))
    with path.open("rb") as file:
        _, rows = read_csv(file, str(path), ",")
        assert "the row has more than 1,000,000 lines" in next(rows).reason


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_an_endless_pipe_is_refused(tmp_path):
    """As a process of its own: whoever writes to the pipe must not wait for ever."""
    command = "yes word | " + f'"{sys.executable}" -m spacy_sdp convert - '
    command += f'"{tmp_path}/out.conllu" --from sdp'
    result = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=100
    )
    assert result.returncode == 1
    assert "without a blank line" in result.stderr or ("expected" in result.stderr)
    assert list(tmp_path.iterdir()) == []
