"""Any bytes give records or an error that names the file, in every format."""

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp import formats
from spacy_sdp.demo import EXAMPLES
from spacy_sdp.formats import FormatError, Sentence, sdp

WRITABLE = [name for name in formats.FORMATS if name != "erg"]
TEXT_FORMATS = [name for name in WRITABLE if name != "spacy"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The example sentences in each format."""
    folder = tmp_path_factory.mktemp("files")
    contents = {}
    for name in WRITABLE:
        formats.write(sdp.read(EXAMPLES), folder / name, format=name)
        contents[name] = (folder / name).read_bytes()
    return contents


def read_or_refuse(content, name, folder):
    path = folder / f"broken.{name}"
    path.write_bytes(content)
    try:
        sentences = list(formats.read(path, format=name))
    except FormatError as error:
        assert str(path) in str(error)
        return None
    assert all(isinstance(sentence, Sentence) for sentence in sentences)
    return sentences


# What the formats give a meaning to.
SNIPPETS = [
    *(
        b"\t",
        b"\n",
        b"\n\n",
        b"#",
        b"_",
        b"+",
        b"-",
        b"|",
        b":",
        b">",
        b"0",
        b"1",
        b"99",
    ),
    *(
        b"1.1",
        b"1-2",
        b"0:root",
        b"Root",
        b"\r",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\\",
    ),
    *(b"{", b"}", b"[", b'"', b"null", b"1e999", b"-1", b"NaN", b"\\ud800", b"=", b" "),
    *("\N{LINE SEPARATOR}".encode(), "\N{IDEOGRAPHIC SPACE}".encode()),
]


@pytest.mark.parametrize("name", WRITABLE)
@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, 2**20),
            st.integers(0, 12),
            st.sampled_from(SNIPPETS) | st.binary(max_size=6),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, files, name, edits):
    content = files[name]
    for position, removed, inserted in edits:
        position %= len(content) + 1
        content = content[:position] + inserted + content[position + removed :]
    read_or_refuse(content, name, tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("name", WRITABLE)
@given(content=st.binary() | st.lists(st.sampled_from(SNIPPETS)).map(b"".join))
def test_any_bytes_are_read_or_refused(tmp_path_factory, name, content):
    read_or_refuse(content, name, tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("name", WRITABLE)
def test_a_file_cut_off_anywhere_is_read_or_refused(tmp_path, files, name):
    content = files[name]
    for end in random.Random(0).sample(range(len(content)), 60):
        read_or_refuse(content[:end], name, tmp_path)


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_windows_files_are_the_same(tmp_path, files, name):
    expected = read_or_refuse(files[name], name, tmp_path)
    assert len(expected) == 24
    content = b"\xef\xbb\xbf" + files[name].replace(b"\n", b"\r\n")
    assert read_or_refuse(content, name, tmp_path) == expected


@pytest.mark.parametrize("name", TEXT_FORMATS)
@pytest.mark.parametrize("bad, reason", [(b"\0", "a NUL"), (b"\xff", "not UTF-8")])
def test_bytes_that_are_no_text_are_refused(tmp_path, files, name, bad, reason):
    path = tmp_path / "file"
    lines = files[name].split(b"\n")
    lines[2] = lines[2][:4] + bad + lines[2][4:]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(FormatError, match=f"file, line 3: {reason}"):
        list(formats.read(path, format=name))


@pytest.mark.parametrize("name", WRITABLE)
def test_repeated_ids_are_read(tmp_path, name):
    one = Sentence(words=["a", "b"], arcs=[(0, 1, "A")], tops=[0], id="7")
    formats.write([one, one], tmp_path / "file", format=name)
    first, second = formats.read(tmp_path / "file", format=name)
    assert first.id == second.id


def chain(size, word="w"):
    return Sentence(
        words=[word] * size, arcs=[(0, i, "A") for i in range(1, size)], tops=[0]
    )


@pytest.mark.parametrize("name", WRITABLE)
def test_a_sentence_of_100_000_words(tmp_path, name):
    formats.write([chain(100_000)], tmp_path / "file", format=name)
    (sentence,) = formats.read(tmp_path / "file", format=name)
    assert len(sentence.words) == 100_000 and len(sentence.arcs) == 99_999


@pytest.mark.parametrize("name", WRITABLE)
def test_a_line_of_a_million_bytes(tmp_path, name):
    formats.write([chain(2, "x" * 1_000_000)], tmp_path / "file", format=name)
    (sentence,) = formats.read(tmp_path / "file", format=name)
    assert [len(word) for word in sentence.words] == [1_000_000] * 2


@pytest.mark.parametrize("name", WRITABLE)
def test_writing_is_all_or_nothing(tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def sentences():
        yield Sentence(words=["a"], tops=[0])
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        formats.write(sentences(), path, format=name)
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["file"]
