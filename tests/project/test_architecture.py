"""Which module may import which, as their sources tell."""

import ast
from pathlib import Path

import pytest

import spacy_sdp

PACKAGE = Path(spacy_sdp.__file__).parent
# A subpackage imports only from itself and from those before it.
SUBPACKAGES = (
    "graph",
    "formats",
    "display",
    "evaluation",
    "model",
    "pipeline",
    "training",
    "distributed",
    "cli",
)
# A notebook asks the graph itself for its picture, which is imported then.
EXCEPTIONS = {("spacy_sdp.graph.graph", "display")}
# Users parse and train without them.
FORBIDDEN = {
    "evaluation": {"formats", "display"},
    "model": {"formats", "display"},
    "pipeline": {"formats", "display"},
}


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_for_types(node):
    """Tell whether a node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def find_imports(name, *, when_used):
    """Give what a module imports; `when_used`, also what its functions import."""
    found = set()
    package = name if SOURCES[name].name == "__init__.py" else name.rpartition(".")[0]

    def visit(node):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found.add(source)
            found.update(f"{source}.{alias.name}" for alias in node.names)
        if is_for_types(node):
            return
        if isinstance(node, ast.FunctionDef | ast.Lambda) and not when_used:
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(SOURCES[name].read_text(encoding="utf8")))
    return found


def import_closure(name):
    """Give all that is imported with a module, the packages that it is in included."""
    found, waiting = set(), [name]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name.startswith("spacy_sdp."):
            waiting.append(name.rpartition(".")[0])
        if name in SOURCES:
            waiting += find_imports(name, when_used=False)
    return found


def subpackage(name):
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "spacy_sdp" else None


@pytest.mark.parametrize("name", SOURCES)
def test_no_module_imports_from_a_later_subpackage(name):
    own = subpackage(name)
    imported = {subpackage(each) for each in find_imports(name, when_used=True)}
    imported -= {other for module, other in EXCEPTIONS if module == name}
    if own in SUBPACKAGES:
        assert not imported & set(SUBPACKAGES[SUBPACKAGES.index(own) + 1 :])
    assert not imported & FORBIDDEN.get(own, set())


def test_all_subpackages_are_in_the_order():
    assert {subpackage(name) for name in SOURCES} - set(SUBPACKAGES) == {
        *(None, "__main__", "about", "data")
    }


@pytest.mark.parametrize("name", ["spacy_sdp.pipeline.parser", "spacy_sdp.cli"])
def test_what_spacy_imports_for_everybody_is_little(name):
    found = import_closure(name)
    assert not {subpackage(each) for each in found} & {"formats", "display"}
    tops = {each.split(".")[0] for each in found}
    assert not tops & {"matplotlib", "networkx", "transformers", "spacy_transformers"}
    assert not tops & {"pyarrow", "ray"}
    # PyTorch itself comes with thinc.
    own = {each for each in found if subpackage(each) == "model"} & SOURCES.keys()
    assert not [each for each in own if "torch" in find_imports(each, when_used=False)]


def test_the_command_line_imports_no_pipeline():
    imported = {subpackage(each) for each in import_closure("spacy_sdp.cli")}
    assert not imported & {"evaluation", "model", "pipeline", "training", "distributed"}


def test_drawing_is_loaded_when_it_is_used():
    assert "spacy_sdp.display" not in import_closure("spacy_sdp")
    assert "render" in dir(spacy_sdp)
    with pytest.raises(AttributeError, match="'spacy_sdp' has no attribute 'draw_it'"):
        spacy_sdp.draw_it  # noqa: B018
