"""The command ``disambig explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.options import Models, Quiet, Rate, Sets, Tasks
from disambig.formatting import escape_control_chars

if TYPE_CHECKING:
    from disambig.explain import ContributionTable
    from disambig.models import Model


_PIPE_WIDTH = 160


class Console:
    """Prints lines and tables: in colours on a terminal, plainly into a pipe."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole

        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        self._console = RichConsole(width=width, highlight=False, markup=False, soft_wrap=False)

    def line(self, text: str = "", *, style: str = "") -> None:
        """Print a line."""
        self._console.print(escape_control_chars(text, lines=True), style=style or None, soft_wrap=True)

    def table(self, table: ContributionTable) -> None:
        """Print a table, its figures flush right."""
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
        for index, name in enumerate(table.head):
            justify: Any = "right" if index >= len(table.head) - table.numbers else "left"
            drawn.add_column(Text(escape_control_chars(name)), justify=justify, overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text(escape_control_chars(cell)) for cell in row))
        self._console.print(drawn)


def explain_text(
    text: str, model: Model, *, console: Console, flags_per_1000: float | None = None, top: int = 5
) -> None:
    """Print one block for each decision that `model` takes, or leaves to protection, in `text`."""
    from disambig.explain import accounts, title

    console.line(title(model, flags_per_1000=flags_per_1000), style="bold")
    decided = False
    for account in accounts(text, model, flags_per_1000=flags_per_1000, top=top):
        if not decided and not account.tables:
            console.line("  no decision: all words that are in question are protected")
        decided = True
        console.line()
        console.line(f"  {account.place}", style="bold red" if account.flagged else "bold")
        for line in account.lines:
            console.line(f"  {line}")
        for table in account.tables:
            console.table(table)
        for note in account.notes:
            console.line(f"  {note}", style="dim")
    if not decided:
        console.line("  no decision: the text has no word that is in question")
    console.line()


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def explain(
    text: Annotated[str, typer.Argument(help="A sentence or more; - reads standard input.")],
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    sets: Sets = None,
    top: Annotated[
        int, typer.Option(min=1, help="Candidates of each decision, and parts of each score, that are shown.")
    ] = 5,
    quiet: Quiet = False,
) -> None:
    """Show why each word of a text was decided as it was, and why it is flagged or not.

    Behind each score stand its parts, the largest first: what was looked up, such as an n-gram, its count,
    the value made of it, the weight that was learned, and what the two make; they add up to the score. Count
    0: nowhere in the counted text; <3: the table leaves out what was seen less than 3 times.
    All digits are counted as one: 0.
    """
    from disambig.cli.options import parse_rates
    from disambig.data import read_confusion_sets
    from disambig.errors import UserError
    from disambig.files import decode
    from disambig.jobs import ModelSource
    from disambig.models import task_rates

    asked = parse_rates(flags_per_1000)
    if text == "-":
        text = decode(sys.stdin.buffer.read(), "standard input")
    if not text.strip():
        raise UserError("D307", what="the text")
    source = ModelSource((*(task or ()), *(model or ())), sets=read_confusion_sets(sets) if sets else ())
    console, models = Console(), source.load_models()
    rates = task_rates(models, asked)
    for loaded in models:
        explain_text(text, loaded, console=console, flags_per_1000=rates.get(loaded.task.name), top=top)
