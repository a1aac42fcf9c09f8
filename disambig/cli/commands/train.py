"""The command ``disambig train``, which trains a model from a config and text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.cli import options
from disambig.cli.output import note_printer, remark, say, stages
from disambig.formatting import first_names, pluralize

if TYPE_CHECKING:
    from disambig.models import Model

app = typer.Typer(**options.SETTINGS)
FORMS = {"--lists": ("lists",), "--labelled": ("labelled", "encoding", "strict"), "--text": ("text", "lines")}
"""The sources of training examples, and the options that are only for each."""


@app.command()
def train(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Argument(help="Config file, or the name of a config provided by a plugin, such as topic."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory of the model (required).")
    ] = None,
    text: options.Texts = None,
    labelled: options.Labelled = None,
    lists: options.Lists = None,
    fixes: options.Fixes = None,
    clean: options.Clean = None,
    encoding: options.Encoding = None,
    strict: options.Strict = False,
    lines: options.Lines = None,
    test: Annotated[
        bool, typer.Option("--test/--no-test", help="Evaluate the model for its card; this takes a while.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")] = False,
    quiet: options.Quiet = False,
    example: Annotated[
        bool, typer.Option("--example", help="Print CONFIG, or an example config, and do nothing else.")
    ] = False,
) -> None:
    """Train a model."""
    from disambig.models import check_target
    from disambig.training import config_path

    if example:
        shown = Path(__file__).with_name("example.cfg") if config is None else config_path(config)
        typer.echo(shown.read_text(encoding="utf8"), nl=False)
        return
    if config is None or output is None:
        missing = "CONFIG (--example prints one)" if config is None else "--output DIRECTORY"
        raise typer.BadParameter(f"name {missing}")
    if form := next((name for name in FORMS if context.params[name.removeprefix("--")]), None):
        options.check_form_options(context, FORMS, form)
    check_target(output, force=force)  # raise an error before the long training
    from disambig.evaluation import add_assessment, assessment_line, why_untested
    from disambig.models import save_model
    from disambig.training import report_line, run

    # The model stores the notes of its training as well; those shown during it are not shown again below.
    printed: set[str] = set()
    print_note = note_printer()

    def tell(note: str) -> None:
        printed.add(note)
        print_note(note)

    with stages() as progress:
        model, plan, test_data = run(
            config,
            text=text or (),
            labelled=labelled or (),
            lists=lists or (),
            fixes=fixes or (),
            clean=clean or (),
            encoding=encoding,
            strict=strict,
            tell=tell,
            lines=lines,
            progress=progress,
        )
        if test:
            model = add_assessment(model, plan, test_data, progress=progress)
    save_model(model, output, force=force)
    examples = model.provenance["examples"]
    if "account" in examples:
        remark(report_line(examples["account"]))
    if "mistakes" in examples:
        remark(f"{report_line(examples['mistakes'])}; {pluralize(examples['clean_words'], 'clean word')}")
    for note in model.provenance.get("notes", ()):
        if note not in printed:
            say(f"note: {note}")
    remark(f"{output}: {_learned(model)}")
    if tested := assessment_line(model.provenance.get("test", {})) or (test and why_untested(model)):
        for line in tested.split("\n"):
            remark(line)


def _learned(model: Model) -> str:
    """Return what a model learned from what, and how many groups are left to the baseline."""
    examples = model.provenance["examples"]
    if "lists" in examples:
        amount = pluralize(examples["lists"], "list")
    else:
        amount = pluralize(examples["train_words"], "word")
    n_learned = sum(scorer is not None for scorer in model.scorers)
    n_groups = pluralize(len(model.scorers), "group")
    line = f"{model.task.name}, {n_learned} of {n_groups} learned from {amount}"
    n_others = len(model.scorers) - n_learned
    if not n_others:
        return line
    return f"{line}; left to the baseline: {_left_to_baseline(model)}"


def _left_to_baseline(model: Model) -> str:
    """Return the groups that a model did not learn, with the reason and their names."""
    # Only models that set documents aside for tests record the minimum.
    min_examples = model.provenance.get("settings", {}).get("min_examples", 0)
    few: list[str] = []
    uniform: list[str] = []
    for group, scorer in zip(model.task.groups, model.scorers, strict=True):
        if scorer is None:
            report = model.provenance.get("groups", {}).get(group.name, {})
            if "labels" in report:  # of examples in folds
                is_uniform = len(report["labels"]) == 1
            else:
                is_uniform = report.get("examples", 0) >= min_examples > 0
            (uniform if is_uniform else few).append(group.name)
    few_what = f"fewer than {pluralize(min_examples, 'example')}" if min_examples else "too few examples"
    reasons = [
        f"{pluralize(len(names), 'group')} with {what} ({first_names(names)})"
        for names, what in (
            (few, f"{few_what} to learn from"),
            (uniform, "the same right candidate in all examples to learn from"),
        )
        if names
    ]
    return ", ".join(reasons)
