"""Explanations on a terminal or into a pipe. What is said is put together in `disambig.explaining`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from disambig.visible import visible

if TYPE_CHECKING:
    from disambig.explaining.parts import Table
    from disambig.model.model import Model

_PIPE_WIDTH = 160


class Console:
    """Prints lines and tables: in colours on a terminal, plainly into a pipe."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole

        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        self._console = RichConsole(width=width, highlight=False, markup=False, soft_wrap=False)

    def line(self, text: str = "", *, style: str = "") -> None:
        """Print a line."""
        self._console.print(visible(text, lines=True), style=style or None, soft_wrap=True)

    def table(self, table: Table) -> None:
        """Print a table, its figures flush right."""
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
        for index, name in enumerate(table.head):
            justify: Any = "right" if index >= len(table.head) - table.numbers else "left"
            drawn.add_column(Text(visible(name)), justify=justify, overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text(visible(cell)) for cell in row))
        self._console.print(drawn)


def explain_text(
    text: str, model: Model, *, console: Console, flags_per_1000: float | None = None, top: int = 5
) -> None:
    """Print one block for each decision that `model` takes, or leaves to protection, in `text`."""
    from disambig.explaining.account import accounts, title

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
