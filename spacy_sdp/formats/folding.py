"""Composite labels, for graphs with a single label between two words.

Enhanced dependencies have arcs to and from *empty nodes*, words that are understood but
not written: in "Kim reads books and Lee papers", "Lee" is the subject of a second
"reads". They may also have several labels between two words. Both are folded into
composite labels, which a parser learns like all other labels:

    reads -conj:and-> (reads) -nsubj-> Lee     becomes   reads -conj:and>nsubj-> Lee
    reads -obj-> books, reads -topic-> books   becomes   reads -obj|topic-> books

Special characters within labels are escaped by a backslash.

Unfolding is exact if the sentence still has its empty nodes: an arc of an empty node is
kept if all paths through it are in the graph. For other paths, such as those of a
parser, new empty nodes are created, one for each head and label.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..graph.record import EmptyNode, Record
from .files import FormatError

SEVERAL, PATH = "|", ">"
ROOT, ROOT_LABEL = "0", "root"
# Limits far above real annotations. Without them, a few nodes could have millions of
# paths between them.
MAX_PATHS, MAX_EMPTY_NODES = 1000, 10

NAME = r"(?:\\[\\|>]|[^\\|>])+"
PART = re.compile(rf"({NAME})([|>]?)", re.DOTALL)
COMPOSITE = re.compile(rf"{NAME}(?:[|>]{NAME})*", re.DOTALL)

# The labels on a path from one word to another.
Path = tuple[str, ...]
# Heads with their labels, by node.
Heads = dict[str, list[tuple[str, str]]]


def fold_label(paths: Iterable[Path]) -> str:
    """Create the composite label of all paths between two words.

    paths (Iterable[Path]): The labels on each path. A direct arc has one label.
    RETURNS (str): The label.
    """
    return SEVERAL.join(sorted(PATH.join(map(_escape, path)) for path in paths))


@lru_cache(maxsize=10_000)
def unfold_label(label: str) -> tuple[Path, ...]:
    """Get the paths that a composite label represents.

    label (str): The label.
    RETURNS (Tuple[Path, ...]): The paths, or the label itself if it is not composite.
    """
    if not COMPOSITE.fullmatch(label):
        return ((label,),)
    paths: list[Path] = [()]
    for text, separator in PART.findall(label):
        paths[-1] += (re.sub(r"\\(.)", r"\1", text),)
        if separator == SEVERAL:
            paths.append(())
    return tuple(paths)


@lru_cache(maxsize=10_000)
def _escape(label: str) -> str:
    return re.sub(r"([\\|>])", r"\\\1", label)


def join_labels(labels: Iterable[str]) -> str:
    """Create a single label from all labels between two words.

    labels (Iterable[str]): The labels, which may be composite.
    RETURNS (str): The label.
    """
    return fold_label({path for label in labels for path in unfold_label(label)})


def split_label(label: str) -> list[str]:
    """Get the labels between two words, for formats without empty nodes.

    label (str): A label.
    RETURNS (List[str]): The labels. Paths through empty nodes stay composite.
    """
    return [fold_label([path]) for path in unfold_label(label)]


def fold(heads: Heads, sentence: Record) -> None:
    """Set the arcs and tops of a sentence, and the arguments of its empty nodes.

    heads (Heads): The heads of the words.
    sentence (Record): The sentence. Its empty nodes must have their heads.
    """
    empty = {node.id: node for node in sentence.empty_nodes}
    between: defaultdict[tuple[int, int], set[Path]] = defaultdict(set)
    tops: set[int] = set()
    for word in range(len(sentence.words)):
        for head, label in heads.get(str(word + 1), ()):
            if head in empty:
                empty[head].args.append((str(word + 1), label))
            elif head == ROOT:
                tops.add(word)
            else:
                between[int(head) - 1, word].add((label,))
    tops_by_paths = set()
    for origin, word, path, _ in _paths(sentence.empty_nodes):
        if origin == ROOT:
            tops_by_paths.add(word)
        elif int(origin) - 1 != word:
            between[int(origin) - 1, word].add(path)
    if twice := tops & tops_by_paths:
        raise FormatError(
            f"word {min(twice) + 1} is a root twice: directly and through an empty node"
        )
    sentence.tops = sorted(tops | tops_by_paths)
    sentence.arcs = [
        (head, word, fold_label(paths)) for (head, word), paths in between.items()
    ]


def unfold(sentence: Record) -> tuple[Heads, list[EmptyNode]]:
    """Get the heads of all words, and all empty nodes.

    sentence (Record): The sentence.
    RETURNS (Tuple[Heads, List[EmptyNode]]): The heads of the words, which may be empty
        nodes, and the empty nodes with their own heads, in order.
    """
    # The paths of the graph: (origin, word, path). The kept nodes explain some of them.
    graph = {
        (str(head + 1), word, path)
        for head, word, label in sentence.arcs
        for path in unfold_label(label)
    }
    graph.update((ROOT, word, (ROOT_LABEL,)) for word in sentence.tops)
    explained: defaultdict[tuple[str, int, str], set] = defaultdict(set)
    for origin, word, path, node in _paths(sentence.empty_nodes):
        key = (node.id, word, path[-1])
        if origin == ROOT:
            explained[key].add((ROOT, word, (ROOT_LABEL,)))
        elif origin != str(word + 1):
            explained[key].add((origin, word, path))
    heads: Heads = {str(word + 1): [] for word in range(len(sentence.words))}
    nodes = [EmptyNode(n.id, n.cells, list(n.heads)) for n in sentence.empty_nodes]
    for kept in sentence.empty_nodes:
        for arg, label in kept.args:
            if explained[kept.id, int(arg) - 1, label] <= graph:
                heads[arg].append((kept.id, label))
    for kept in sentence.empty_nodes:
        for arg, label in kept.args:
            if (kept.id, label) in heads[arg]:
                graph -= explained[kept.id, int(arg) - 1, label]
    # The number of empty nodes after each word, where new ones are inserted.
    last = Counter(order(node.id)[0] for node in nodes)
    made_up: dict[tuple[str, str], str] = {}
    for origin, word, path in sorted(graph):
        for label in path[:-1]:
            if (origin, label) not in made_up:
                last[word] += 1
                node = EmptyNode(f"{word}.{last[word]}", ["_"] * 8, [(origin, label)])
                made_up[origin, label] = node.id
                nodes.append(node)
            origin = made_up[origin, label]
        heads[str(word + 1)].append((origin, path[-1]))
    return heads, sorted(nodes, key=lambda node: order(node.id))


def order(node: str) -> tuple[int, int]:
    """Get the position of a node in a sentence, as a sort key."""
    word, _, empty = node.partition(".")
    return int(word), int(empty or 0)


def folding_losses(sentence: Record) -> Counter[str]:
    """Count the annotations of a sentence that its graph cannot represent.

    sentence (Record): The sentence.
    RETURNS (Counter[str]): The counts by type.
    """
    losses: Counter[str] = Counter()
    for origin, word, _, _ in _paths(sentence.empty_nodes):
        losses["paths that fold to a self-loop"] += origin == str(word + 1)
    heads = {head for node in sentence.empty_nodes for head, _ in node.heads}
    losses["empty nodes without arguments"] = sum(
        not node.args and node.id not in heads for node in sentence.empty_nodes
    )
    return +losses


def _paths(
    empty_nodes: list[EmptyNode],
) -> Iterator[tuple[str, int, Path, EmptyNode]]:
    """Find all paths through empty nodes that end at a word.

    Yields the first node, the word, the labels, and the last empty node of each path.
    """
    empty = {node.id: node for node in empty_nodes}
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps > MAX_PATHS:
            raise FormatError(f"more than {MAX_PATHS} paths through empty nodes")

    for node in empty_nodes:
        # Paths from a word or the root to this node, found backwards.
        ways: list[tuple[str, Path]] = []
        unfinished: list[tuple[tuple[str, ...], Path]] = [((node.id,), ())]
        while unfinished and node.args:
            visited, labels = unfinished.pop()
            for head, label in empty[visited[-1]].heads:
                step()
                if len(visited) > MAX_EMPTY_NODES:
                    raise FormatError(
                        f"more than {MAX_EMPTY_NODES} empty nodes in a row"
                    )
                if head not in empty:
                    ways.append((head, (label, *labels)))
                elif head not in visited:
                    unfinished.append(((*visited, head), (label, *labels)))
        for origin, labels in ways:
            for arg, label in node.args:
                step()
                yield origin, int(arg) - 1, (*labels, label), node
