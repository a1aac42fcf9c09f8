"""The command ``disambig train``, which trains a model from a config and text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disambig.cli import options
from disambig.formatting import pluralize

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
    from disambig.cli.output import note_printer, remark, say, stages
    from disambig.evaluation import add_assessment, assessment_line, why_untested
    from disambig.models import save_model
    from disambig.training import report_line, run

    printed: set[str] = set()
    print_note = note_printer()

    def tell(note: str) -> None:
        printed.add(note)
        print_note(note)

    with stages() as progress:
        model, plan, material = run(
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
            model = add_assessment(model, plan, material, progress=progress)
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
    # Only models that set documents aside for tests record the minimum.
    min_examples = model.provenance.get("settings", {}).get("min_examples")
    few = "too few examples" if min_examples is None else f"fewer than {pluralize(min_examples, 'example')}"
    verb = "is" if n_others == 1 else "are"
    return f"{line}; {pluralize(n_others, 'group')} with {few} to learn from {verb} left to the baseline"
