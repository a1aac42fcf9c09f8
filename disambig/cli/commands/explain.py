"""The command ``disambig explain``."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.cli.options import SETTINGS, Models, Quiet, Rate, Sets, Tasks, parse_rates, text_argument
from disambig.cli.output import check_stdout, is_terminal
from disambig.formatting import escape_control_chars

if TYPE_CHECKING:
    from disambig.explain import CheckedDecisions, ContributionTable
    from disambig.models import Model


_PIPE_WIDTH = 160
"""Number of columns if the output is not a terminal."""
_MIN_WIDTH = 80
"""Minimum number of columns of a table."""


class Console:
    """Print lines and tables, with colours on a terminal. Raises D309 if standard output is closed."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole

        check_stdout()
        # in a narrow terminal, the lines of a table are broken rather than its cells
        width = max(shutil.get_terminal_size().columns, _MIN_WIDTH) if is_terminal() else _PIPE_WIDTH
        self._console = RichConsole(width=width, highlight=False, markup=False, soft_wrap=False)

    def line(self, text: str = "", *, style: str = "") -> None:
        """Print a line."""
        self._console.print(escape_control_chars(text, lines=True), style=style or None, soft_wrap=True)

    def table(self, table: ContributionTable) -> None:
        """Print a table with right-aligned figures."""
        from rich.table import Table as RichTable
        from rich.text import Text

        rich_table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
        for index, name in enumerate(table.head):
            justify: Any = "right" if index >= len(table.head) - table.numbers else "left"
            rich_table.add_column(Text(escape_control_chars(name)), justify=justify, overflow="fold")
        for row in table.rows:
            rich_table.add_row(*(Text(escape_control_chars(cell)) for cell in row))
        self._console.print(rich_table)


def explain_text(
    text: str,
    model: Model,
    *,
    console: Console,
    flags_per_1000: float | None = None,
    top: int = 5,
    checked: CheckedDecisions | None = None,
) -> None:
    """Print one block per decision of `model` in `text`, including those suppressed by protected spans."""
    from disambig.explain import accounts, reason_for_no_decision, title

    console.line(title(model, flags_per_1000=flags_per_1000), style="bold")
    decided = False
    for account in accounts(text, model, flags_per_1000=flags_per_1000, top=top, checked=checked):
        if not decided and not account.tables:
            console.line(f"  no decision: {reason_for_no_decision(text, model, protected=True)}")
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
        console.line(f"  no decision: {reason_for_no_decision(text, model, protected=False)}")
    console.line()


app = typer.Typer(**SETTINGS)


@app.command()
def explain(
    text: Annotated[str, typer.Argument(help="One or more sentences; - reads standard input.")],
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    sets: Sets = None,
    top: Annotated[
        int,
        typer.Option(
            min=1, help="Number of candidates per decision, and of contributions per score, to show."
        ),
    ] = 5,
    quiet: Quiet = False,
) -> None:
    """Explain each decision in a text, and why a word is flagged or not.

    Each task is shown by itself. `disambig check` raises one flag in a place, that of the most certain task,
    and drops a flag if a surer correction near it explains it, or if the models would flag its correction. A
    flag that it does not raise has a line with the reason.

    Each score is followed by its contributions, the largest first: the feature, such as an n-gram, its count,
    its value, the learned weight, and their product; the contributions add up to the score. A count of 0
    means that the n-gram does not occur in the counted text; <3 that the table omits n-grams seen fewer than
    3 times. All digits are counted as 0.
    """
    from disambig.data import read_confusion_sets
    from disambig.explain import check_together
    from disambig.models import ModelSource, detected_languages, task_rates
    from disambig.text import describe_foreign, foreign_to_all

    requested = parse_rates(flags_per_1000)
    text = text_argument(text)
    source = ModelSource((*(task or ()), *(model or ())), sets=read_confusion_sets(sets) if sets else ())
    console, models = Console(), source.load_models()
    rates = task_rates(models, requested)
    languages = detected_languages(models)
    counts = Counter(paragraph.language for paragraph in foreign_to_all(text, languages))
    if counts:
        console.line(f"{describe_foreign(counts, languages)}: check leaves them alone", style="dim")
    checked = check_together(text, models, rates)
    for number, loaded in enumerate(models):
        rate = rates.get(loaded.task.name)
        explain_text(text, loaded, console=console, flags_per_1000=rate, top=top, checked=checked.get(number))
