"""Any bytes give records or an error that names the file, in every format."""

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp import formats
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import FormatError, Record, sdp
from spacy_sdp.formats.files import atomic_write
from spacy_sdp.formats.folding import unfold_label

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
    assert all(isinstance(sentence, Record) for sentence in sentences)
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
@pytest.mark.parametrize(
    "bad, reason", [(b"\0", "the line has a NUL"), (b"\xff", "not UTF-8")]
)
def test_bytes_that_are_no_text_are_refused(tmp_path, files, name, bad, reason):
    path = tmp_path / "file"
    lines = files[name].split(b"\n")
    lines[2] = lines[2][:4] + bad + lines[2][4:]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(FormatError, match=f"file, line 3: {reason}"):
        list(formats.read(path, format=name))


@pytest.mark.parametrize("name", WRITABLE)
def test_repeated_ids_are_read(tmp_path, name):
    one = Record(words=["a", "b"], arcs=[(0, 1, "A")], tops=[0], id="7")
    formats.write([one, one], tmp_path / "file", format=name)
    first, second = formats.read(tmp_path / "file", format=name)
    assert first.id == second.id


def chain(size, word="w"):
    return Record(
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


ODD = st.text(st.sampled_from("ab|>\\:_# \t\n\r\0\u00a0\u2028"), max_size=3)


@st.composite
def odd_sentences(draw):
    size = draw(st.integers(1, 3))
    words = draw(st.lists(ODD.filter(bool), min_size=size, max_size=size))
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return Record(
        words=words,
        arcs=[(i, j, draw(ODD.filter(bool))) for i, j in sorted(chosen)],
        tops=sorted(draw(st.sets(st.integers(0, size - 1)))),
        id=draw(st.none() | ODD),
        comments=draw(st.lists(ODD, max_size=1)),
        tags=draw(st.just([]) | st.lists(ODD, min_size=size, max_size=size)),
        pos=draw(st.just([]) | st.just(["CONJ"] * size)),
        heads=draw(st.just([]) | st.just([-1] * size)),
        deps=["root"] * size,
        # MRP has only words that are nodes.
        nodes=[True] * size,
    )


@pytest.mark.parametrize("name", TEXT_FORMATS)
@given(sentence=odd_sentences())
def test_what_is_written_can_be_read(tmp_path_factory, name, sentence):
    path = tmp_path_factory.getbasetemp() / f"odd.{name}"
    try:
        formats.write([sentence], path, format=name)
    except FormatError as error:
        assert str(path) in str(error)
        return
    (again,) = formats.read(path, format=name)
    assert again.words == sentence.words and again.tops == sentence.tops
    meaning = {(h, d, frozenset(unfold_label(label))) for h, d, label in sentence.arcs}
    assert meaning == {
        (h, d, frozenset(unfold_label(label))) for h, d, label in again.arcs
    }


@pytest.mark.parametrize("name", WRITABLE)
def test_writing_is_all_or_nothing(tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def sentences():
        yield Record(words=["a"], tops=[0])
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        formats.write(sentences(), path, format=name)
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["file"]


def test_a_link_stays_a_link_and_rights_stay_rights(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="needs Unix")
def test_new_files_have_the_usual_rights(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "new") as file:
            (part,) = tmp_path.glob(".*.part")
            assert part.stat().st_mode & 0o777 == 0o640
            file.write(b"new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    finally:
        assert os.umask(before) == 0o027


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"data")
    assert os.read(reader, 9) == b"data" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_errors_do_not_quote_whole_files(tmp_path):
    (tmp_path / "a.sdp").write_text("1\t" + "x" * 1_000_000)
    with pytest.raises(FormatError) as error:
        list(formats.read(tmp_path / "a.sdp"))
    assert len(str(error.value)) < 1000
