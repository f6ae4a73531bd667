"""The command `sdp`, which imports its subcommands only when they are used.

Importing all subcommands would load all formats, visualizers and pipelines, just to
show the help.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

# The subcommands, with their descriptions in the help of `sdp`.
COMMANDS = {
    "annotate": "Create silver data: parse texts, and keep the most confident parses.",
    "convert": "Convert graphs from one file format to another.",
    "draw": "Draw graphs on an HTML page.",
    "evaluate": "Score a pipeline, or the output of a parser, against a gold standard.",
    "fine-tune": "Fine-tune a trained pipeline on your data.",
    "inspect": "Print statistics of training data, and warn about problems.",
    "parse": "Parse text: who does what to whom.",
    "serve": "Try a parser in a browser.",
    "train": "Train a pipeline like `spacy train`, with support for resuming.",
    "weights": "Average or round the weights of trained pipelines.",
}


class LazyGroup(TyperGroup):
    """A group of subcommands in modules that register themselves with `sdp`.

    The arguments have the type Any, because some versions of typer use click's classes,
    and others use copies of them.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """RETURNS (List[str]): The names of the subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """RETURNS (Optional[Command]): The subcommand, from its module."""
        if cmd_name not in COMMANDS:
            return None
        import_module(f".{cmd_name.replace('-', '_')}", __package__)
        return get_group(sdp).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of subcommands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


sdp = typer.Typer(
    name="sdp", cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None
)


@sdp.callback()
def sdp_cli() -> None:
    """Semantic dependency graphs: who does what to whom."""
