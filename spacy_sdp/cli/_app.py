"""The command `sdp`, whose subcommands are imported when they are used.

Importing all of them would load every format, the pictures and the pipelines, for a
page of help.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

# The modules of the subcommands, and what the help of `sdp` says of them.
COMMANDS = {
    "annotate": "Make silver data: parse texts, and keep the sentences the parser is "
    "surest of.",
    "convert": "Convert graphs from one file format to another.",
    "draw": "Draw graphs on a page for a browser.",
    "evaluate": "Score a pipeline, or the output of a parser, against a gold standard.",
    "fine-tune": "Train a pipeline on your data, starting from its weights.",
    "inspect": "Count what is in training data, and warn of problems.",
    "parse": "Parse text: who does what to whom.",
    "serve": "Try a parser in a browser.",
    "train": "Train a pipeline, as `spacy train` does, but so that it can be resumed.",
    "weights": "Average or round the weights of trained pipelines.",
}


class LazyGroup(TyperGroup):
    """A command whose subcommands are in modules that register them with `sdp`.

    The arguments are of any type, because they are click's own in some versions of
    typer, and copies of them in others.
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
