"""The command ``disambig evaluate``: score models on text, examples or human errors, or compare two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from disambig.cli import options
from disambig.cli.output import check_stdout, note_printer, progress, remark, say, stages
from disambig.errors import UserError, nearest_first
from disambig.files import error_sink, json_text, save_output
from disambig.formatting import format_p, format_value, pluralize

if TYPE_CHECKING:
    from disambig.models import Model
    from disambig.training import TrainingPlan

System = TypeVar("System", "Model", "TrainingPlan")
app = typer.Typer(**options.SETTINGS)


@app.command()
def evaluate(
    context: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="A task, PACK/TASK or a model directory, or two of them to compare; with --folds a config "
            "or two; with --fixes also several models joined by +, or none for all installed models.",
        ),
    ] = None,
    text: options.Texts = None,
    labelled: options.Labelled = None,
    lists: options.Lists = None,
    fixes: options.Fixes = None,
    clean: options.Clean = None,
    readings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --clean: what people decided about flags there (.jsonl): mistake, taste or wrong.",
        ),
    ] = None,
    tier: Annotated[
        int, typer.Option(min=1, max=2, help="With --fixes: 1 for certain errors only, 2 for all.")
    ] = 1,
    encoding: options.Encoding = None,
    strict: options.Strict = False,
    key: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Senseval key of the labelled XML: also compute Senseval's score."),
    ] = None,
    sensemap: Annotated[
        str | None, typer.Option(metavar="FILE", help="Senseval sense map: also compute the coarse score.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Train and test by cross-validation over documents, with this number of folds."),
    ] = None,
    errors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --labelled: write the examples that were decided wrongly to this file (.jsonl), the "
            "most certain first.",
        ),
    ] = None,
    lines: options.Lines = None,
    only_test: Annotated[
        bool,
        typer.Option(
            "--test-part", help="Use only the fifth of the documents that training sets aside for testing."
        ),
    ] = False,
    rate: Annotated[
        list[float] | None,
        typer.Option(
            help="Flags per 1,000 correct words; with --fixes a point of the curve, for all models together. "
            "Can be repeated."
        ),
    ] = None,
    flags_per_1000: options.Rate = None,
    writing: options.Writing = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure for two models, labelled examples or lists: accuracy, macro_f1, f1:CANDIDATE, auc, "
            "auc:CANDIDATE, cost, cer, wer, exact, or a registered measure. Default: that of the task; "
            "of one model on labelled examples, accuracy.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot the reliability of probabilities, with --fixes the errors found at each rate, to a "
            ".svg, .png or .pdf file."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate a model on correct text, labelled examples or human errors, or compare two models."""
    names = models or []
    form = evaluation_form(names, fixes=fixes, lists=lists, labelled=labelled, folds=folds)
    # Typer cannot express that each form of the evaluation accepts other options.
    options.check_form_options(context, FORMS, form)
    if plot is not None:
        from disambig.evaluation import check_plot

        check_plot(plot)
    check_stdout()  # before long work
    if errors is not None and not errors.parent.is_dir():
        raise UserError("D309", path=errors, problem=f"there is no directory {errors.parent}")
    reading: dict[str, Any] = {"encoding": encoding, "strict": strict}
    wrong: list[dict[str, Any]] = []
    show: Callable[[dict[str, Any]], Iterable[str]]
    if form == FIXES:
        if len(names) > 2 or (len(names) == 2 and (plot is not None or rate)):
            raise typer.BadParameter("--fixes accepts one or two models, --plot and --rate only one")
        if readings and not clean:
            raise typer.BadParameter("--readings requires --clean FILE")
        limits = options.parse_rates(flags_per_1000)
        result = figures_on_fixes(
            names, fixes or [], clean or [], readings, tier, rate, limits, writing, plot
        )
        show = fixes_comparison_lines if len(names) == 2 else fixes_lines
    elif form == TWO_MODELS:
        examples: dict[str, Any] = {"labelled": labelled, "lists": lists, "text": text}
        parts: dict[str, Any] = {"lines": bool(lines), "only_test": only_test}
        result, show = compare_models(names, measure, **examples, **parts, **reading), comparison_lines
    elif form == TWO_CONFIGS:
        result, show = compare_two_configs(names, measure, labelled, folds or 0, **reading), comparison_lines
    elif not names:
        raise typer.BadParameter("MODEL is required, except with --fixes FILE")
    elif form == LISTS:
        from disambig.evaluation import list_lines

        result, show = figures_on_lists(names[0], lists or [], measure), list_lines
    elif form == LABELLED:
        if sensemap and not key:
            raise typer.BadParameter("--sensemap requires --key FILE")
        if key and folds is not None:
            raise typer.BadParameter("--key cannot be used with --folds")
        if text or not labelled:
            raise UserError("D465")
        result = figures_on_labelled(names[0], labelled, folds, key, sensemap, wrong, measure, **reading)
        show = partial(examples_lines, folds=folds)
    elif not text:
        raise typer.BadParameter("give text with --text, or labelled examples with --labelled")
    else:
        rates = rate or DEFAULT_RATES
        result = figures_on_text(names[0], text, rates, plot, lines=bool(lines), only_test=only_test)
        show = evaluation_lines
    _print(result, show, json)
    if errors is not None:
        save_errors(wrong, errors)


FIXES, TWO_MODELS, TWO_CONFIGS, LISTS = "--fixes", "two models", "two configs", "--lists"
LABELLED, TEXT = "--labelled (one model)", "--text (one model)"
FORMS: dict[str, tuple[str, ...]] = {
    FIXES: ("fixes", "clean", "readings", "tier", "rate", "flags_per_1000", "writing", "plot"),
    TWO_MODELS: ("text", "labelled", "lists", "encoding", "strict", "lines", "only_test", "measure"),
    TWO_CONFIGS: ("labelled", "encoding", "strict", "folds", "measure"),
    LISTS: ("lists", "measure"),
    LABELLED: ("labelled", "encoding", "strict", "folds", "text", "key", "sensemap", "errors", "measure"),
    TEXT: ("text", "lines", "only_test", "rate", "plot"),
}
"""The forms of the command, and the options of each besides --json and --quiet."""
DEFAULT_RATES = (0.3, 1.0, 4.0)


def evaluation_form(
    models: Sequence[str],
    *,
    fixes: Sequence[str] | None,
    lists: Sequence[str] | None,
    labelled: Sequence[str] | None,
    folds: int | None,
) -> str:
    """Return the one of `FORMS` that the arguments select.

    Raises `typer.BadParameter` for more than two models without ``--fixes``; the errors of `check_named`.
    """
    if fixes:
        return FIXES
    if len(models) > 1:
        if folds is None:
            for name in models[1:]:
                check_named(name)
        if len(models) > 2:
            raise typer.BadParameter("give one model, or two to compare")
        return TWO_MODELS if folds is None else TWO_CONFIGS
    if lists:
        return LISTS
    return LABELLED if labelled or folds is not None else TEXT


def is_model(name: str) -> bool:
    """Return True if an argument names a model: a model directory, or else an installed model."""
    from disambig.packs import available

    path = Path(name)
    return (path / "model.json").is_file() if path.exists() else name in available()


def check_named(name: str) -> None:
    """Raise an error if an argument after the first one does not name a model.

    Raises D525 for a file or directory that is not a model, D403 if its pack is damaged, D942 otherwise.
    """
    from disambig.packs import available, providing_pack, require_undamaged_pack

    if is_model(name):
        return
    if Path(name).exists() or name == "-":
        advice = "name the directory that `disambig train --output DIRECTORY` made; "
        advice += f"text is given with --text {name}"
        if name.endswith(".cfg"):
            advice = "to compare two configs on labelled examples, give --folds 10"
        raise UserError("D525", path=name, advice=advice)
    require_undamaged_pack(name, providing_pack(name))
    raise UserError("D942", name=name, names=nearest_first(name, available()))


def compare_models(
    names: Sequence[str],
    measure: str | None,
    *,
    labelled: Sequence[str] | None,
    lists: Sequence[str] | None,
    text: Sequence[str] | None,
    lines: bool,
    only_test: bool,
    encoding: str | None,
    strict: bool,
) -> dict[str, Any]:
    """Return the comparison of two models on one kind of examples."""
    from disambig.evaluation import compare, on_labelled, on_lists, on_texts
    from disambig.metrics import list_measure_named, measure_named
    from disambig.models import load

    first, second = names
    if sum(map(bool, (labelled, lists, text))) != 1:
        raise typer.BadParameter("to compare two models, give --text PATH, --labelled PATH or --lists FILE")
    if measure is not None:
        (list_measure_named if lists else measure_named)(measure)  # raise an error before anything is read
    models = with_different_names((load(first), load(second)), names)
    if labelled:
        from disambig.formats import read_labelled

        examples = read_labelled(labelled, encoding=encoding, strict=strict, tell=note_printer())
        decided = on_labelled(*models, examples)
    elif lists:
        from disambig.formats import read_nbest
        from disambig.models import check_lists

        for model in models:
            check_lists(model)
        decided = on_lists(*models, list(read_nbest(list(lists))))
    else:
        from disambig.training import read_texts, split

        texts = read_texts(list(text or ()), lines=lines)
        decided = on_texts(*models, split(texts)["test"] if only_test else texts)
    return compare(models, decided, measure=measure)


def compare_two_configs(
    names: Sequence[str],
    measure: str | None,
    labelled: Sequence[str] | None,
    folds: int,
    *,
    encoding: str | None,
    strict: bool,
) -> dict[str, Any]:
    """Return the comparison of two configs by cross-validation on labelled examples."""
    from disambig.evaluation import compare_configs
    from disambig.formats import read_labelled
    from disambig.metrics import measure_named

    if not labelled:
        raise UserError("D465")
    if measure is not None:
        measure_named(measure)  # raise an error before anything is read
    first, second = map(_plan_for_labelled, names)
    encoding = encoding or first.sources.get("encoding")
    first, second = with_different_names((first, second), names)
    examples = read_labelled(labelled, encoding=encoding, strict=strict, tell=note_printer())
    with stages() as report_progress:
        result = compare_configs(
            (first, second), examples, folds=folds, measure=measure, progress=report_progress
        )
    for name, unlearned in zip(names, result["unlearned"], strict=True):
        _note_unlearned(f"{name}: ", unlearned)
    return result


def _plan_for_labelled(name: str) -> TrainingPlan:
    """Return the plan of a config; raise D426 for one with human errors, which need text."""
    from disambig.training import check_error_files, read_plan

    plan = read_plan(name)
    error_files = plan.sources.get("fixes", []), plan.sources.get("clean", [])
    if any(error_files):  # they can only be used with text, not with labelled examples
        check_error_files(plan, *error_files, other=True)
    return plan


def _note_unlearned(what: str, unlearned: dict[str, int]) -> None:
    """Say how many groups have too few examples in the other folds to learn from."""
    if unlearned["n"]:
        groups = f"{unlearned['n']:,} of {pluralize(unlearned['of'], 'group')} in all folds"
        say(f"note: {what}too few examples to learn from (min_examples) for {groups}: the baseline decides")


def with_different_names(systems: tuple[System, System], paths: Sequence[str]) -> tuple[System, System]:
    """Return two models or plans; if they have the same name and version, add their paths to the names."""
    first, second = systems
    if (first.name, first.version) == (second.name, second.version):
        first = replace(first, name=f"{paths[0]}: {first.name}")
        second = replace(second, name=f"{paths[1]}: {second.name}")
    return first, second


def comparison_lines(result: dict[str, Any]) -> list[str]:
    """Return a comparison as lines of text."""
    measure, difference, table = result["measure"], result["difference"], result["table"]
    folds = f" in {pluralize(result['folds'], 'fold')}" if "folds" in result else ""
    lines = [f"{_describe_measure(measure)} of {pluralize(result['n'], 'example')}{folds}:"]
    for letter, system in zip("AB", result["systems"], strict=True):
        value = format_value(system["value"], measure)
        low, high = (format_value(bound, measure) for bound in system["interval"])
        lines.append(f"  {letter}  {value} ({low} to {high})  {system['model']}")
    value = format_value(difference["value"], measure, signed=True)
    low, high = (format_value(bound, measure, signed=True) for bound in difference["interval"])
    units = pluralize(result["units"]["n"], result["units"]["what"].removesuffix("s"))
    lines.append(
        f"B minus A: {value} ({low} to {high}), "
        f"p {_with_relation(format_p(difference['p'], draws=difference['draws']))} "
        f"(paired bootstrap over {units}, {pluralize(difference['draws'], 'draw')})"
    )
    if result["mcnemar"] is not None:
        lines.append(f"McNemar's test: p {_with_relation(format_p(result['mcnemar']))}")
    lines.append(
        f"both right {table['both']:,}, only A {table['first']:,}, only B {table['second']:,}, "
        f"both wrong {table['neither']:,}"
    )
    frequent = [pair for pair in result["pairs"] if pair["n"] > 1]
    if frequent:
        lines.append("most frequent differences:")
    for pair in frequent:
        right, first, second = (_quoted(pair[name]) for name in ("right", "first", "second"))
        lines.append(f"  {pair['n']:,} x  right {right}, A {first}, B {second}")
    return lines


def _describe_measure(measure: dict[str, Any]) -> str:
    """Return the name and the unit of a measure, and whether more of it is better."""
    unit = "" if measure["unit"].startswith("share") else f", {measure['unit']}"
    return f"{measure['name']}{unit} ({'more' if measure['more_is_better'] else 'less'} is better)"


def _with_relation(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def _quoted(candidate: str | None) -> str:
    """Return a candidate in quotation marks, cut to 60 characters."""
    if candidate is None:
        return "nothing"
    return repr(candidate if len(candidate) <= 60 else f"{candidate[:60]} ...") if candidate else "(no word)"


def figures_on_fixes(
    names: Sequence[str],
    fixes: Sequence[str],
    clean: Sequence[str],
    readings: str | None,
    tier: int,
    rates: Sequence[float] | None,
    flags_per_1000: float | Mapping[str, float] | None,
    writing: str | None,
    plot: Path | None,
) -> dict[str, Any]:
    """Return the share of human errors that a checker finds, or the comparison of two checkers.

    `names`: for each checker, the names of its models joined by ``+``; by default all installed models.
    `rates`: rates of false alarms for the points of the curve.
    `flags_per_1000`: rate of false alarms at which the figures are computed; by default that of each model.
    """
    from disambig.checking import RATES, ModelChecker, sweep_rates
    from disambig.evaluation import MistakeTrial, mistake_figures
    from disambig.formats import read_clean, read_fixes, read_flag_readings
    from disambig.models import unused_writing

    for rate in rates or ():
        options.check_rate(rate, option="--rate")
    checkers = [ModelChecker.from_names(name, writing=writing) for name in names or ("",)]
    for checker in checkers:
        if note := unused_writing(checker.models, writing):
            remark(f"disambig: {note}")
    limits = [checker.limits(flags_per_1000) for checker in checkers]
    mistakes = [mistake for path in fixes for mistake in read_fixes(path, tier=tier)]
    clean_paragraphs = [paragraph for path in clean for paragraph in read_clean(path)]
    judgements = read_flag_readings(readings) if readings else None
    with progress() as meter:
        meter.show("scoring", 0, None)
        trials = [
            MistakeTrial.from_checker(checker, mistakes, clean_paragraphs, judgements) for checker in checkers
        ]
    if len(checkers) == 2:
        from disambig.evaluation import compare_trials

        return compare_trials((trials[0], trials[1]), (limits[0], limits[1]))
    checker, trial = checkers[0], trials[0]
    curve = sweep_rates(checker, trial, rates or RATES)
    result = {
        "model": checker.name,
        "rates": checker.rates(flags_per_1000),
        "tier": tier,
        **({} if writing is None else {"writing": writing}),
        **mistake_figures(trial, limits[0]),
        "curve": curve,
    }
    if plot is not None:
        from disambig.evaluation import plot_rates

        plot_rates(curve, plot, title=checker.name)
        remark(f"{plot}: drawn")
    return result


def fixes_lines(result: dict[str, Any]) -> list[str]:
    """Return the figures of one checker as lines of text."""
    clean = result["clean"]
    read = f"read {pluralize(result['all']['n'], 'mistake')} of {pluralize(result['projects'], 'project')}"
    if clean is not None:
        read += f", {pluralize(clean['words'], 'clean word')} of {pluralize(clean['projects'], 'project')}"
    rates = ", ".join(f"{task} {rate:g}" for task, rate in result["rates"].items())
    writing = f"; writing: {result['writing']}" if "writing" in result else ""
    return [
        read,
        f"{result['model']}, set to flags per 1,000 words: {rates}{writing}",
        *_mistake_lines(result),
        *(_clean_lines(clean) if clean is not None else ()),
        *_curve_lines(result["curve"]),
    ]


def fixes_comparison_lines(result: dict[str, Any]) -> list[str]:
    """Return the comparison of two checkers, and the figures of each, as lines of text."""
    lines = comparison_lines(result)
    for letter, system in zip("AB", result["systems"], strict=True):
        lines += [f"{letter}  {system['model']}", *_mistake_lines(system["figures"])]
        if system["figures"]["clean"] is not None:
            lines += _clean_lines(system["figures"]["clean"])
    return lines


def _mistake_lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield a line for all errors, one for each class, and one for each kind in a class with several."""
    yield f"{'':24}{'n':>7}  {'found':>7}  {'right (95 %)':24}  {'wrong':>6}"
    yield _mistake_line("all", result["all"])
    for name, error_class in result["classes"].items():
        yield _mistake_line(name, error_class)
        for kind, figures in error_class["kinds"].items() if len(error_class["kinds"]) > 1 else ():
            yield _mistake_line(f"  {kind}", figures)


def _mistake_line(name: str, figures: dict[str, Any]) -> str:
    if not figures["n"]:
        return f"{name:24}{0:7}"
    cells = f"{figures['n']:7,}  {figures['found']:7.1%}  {_right_cell(figures)}  {figures['wrong']:6.1%}"
    return f"{name:24}{cells}"


def _right_cell(figures: dict[str, Any]) -> str:
    return f"{figures['right']:7.1%}{_interval(figures['right_interval'], '.1%')}".ljust(24)


def _clean_lines(clean: dict[str, Any]) -> Iterator[str]:
    """Yield the rates of flags in text without errors."""
    yield f"false flags per 1,000 clean words: {_flag_rate(clean)}, {clean['flags']:,} in all"
    if len(clean["tasks"]) > 1:
        for task, figures in clean["tasks"].items():
            yield f"  {task}: {_flag_rate(figures)}"
    if "readings" in clean:
        yield from _readings_lines(clean)


def _readings_lines(clean: dict[str, Any]) -> Iterator[str]:
    """Yield the rates of flags in clean text by the judgement of people who read them."""
    unread = clean["readings"]["unread"]["flags"]
    read = f"{clean['flags'] - unread:,} of {pluralize(clean['flags'], 'flag')}"
    yield f"{read} in clean text were read; per 1,000 words:"
    columns = ("raw", "mistake", "(mended)", "taste", "wrong", "unread")
    yield f"{'':24}{''.join(f'{column:>9}' for column in columns)}  wrong, with the unread (95 %)"
    for name, figures in [("all", clean), *(clean["tasks"].items() if len(clean["tasks"]) > 1 else ())]:
        by_label = figures["readings"]
        if figures["per_1000"] is None:
            yield f"{name:24}{'-':>9}"
            continue
        mended = 1000 * by_label["mistake"]["right"] / clean["words"]
        others = (by_label[label]["per_1000"] for label in ("taste", "wrong", "unread"))
        rates = (figures["per_1000"], by_label["mistake"]["per_1000"], mended, *others)
        cells = "".join(f"{rate:9.2f}" for rate in rates)
        yield f"{name:24}{cells}  {_flag_rate(by_label['wrong_or_unread'])}"


def _flag_rate(figures: dict[str, Any]) -> str:
    if figures["per_1000"] is None:
        return "-"
    return f"{figures['per_1000']:.2f}{_interval(figures['interval'], '.2f')}"


def _curve_lines(points: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the figures at each rate."""
    has_readings = any(point["clean"] is not None and "readings" in point["clean"] for point in points)
    columns = f"{'rate set':>8}  {'right (95 %)':24}  {'wrong':>6}  "
    yield columns + (
        f"{'false flags per 1,000':24}  plainly wrong" if has_readings else "false flags per 1,000"
    )
    for point in points:
        figures, clean = point["all"], point["clean"]
        flags = "-" if clean is None else _flag_rate(clean)
        if has_readings and clean["per_1000"] is not None:
            wrong, wrong_or_unread = (
                clean["readings"][name]["per_1000"] for name in ("wrong", "wrong_or_unread")
            )
            flags = f"{flags:24}  {wrong:.2f}" + (
                "" if wrong == wrong_or_unread else f", at most {wrong_or_unread:.2f}"
            )
        yield f"{point['rate']:8g}  {_right_cell(figures)}  {figures['wrong']:6.1%}  {flags}"


def _interval(interval: tuple[float, float] | None, spec: str) -> str:
    return "" if interval is None else f" ({interval[0]:{spec}} to {interval[1]:{spec}})"


def _print(result: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], json: bool) -> None:
    """Print a result as JSON or as lines of text, with the account of its examples on standard error."""
    if json:
        typer.echo(json_text(result))
        return
    if "account" in result:
        from disambig.training import report_line

        remark(report_line(result["account"]))
    for line in lines(result):
        typer.echo(line)


SYSTEM_NAMES = {"model": "model", "baseline": "unsupervised baseline", "majority": "majority"}


def figures_on_labelled(
    model: str,
    labelled: Sequence[str],
    folds: int | None,
    key: str | None,
    sensemap: str | None,
    wrong: list[dict[str, Any]],
    measure: str | None,
    *,
    encoding: str | None,
    strict: bool,
) -> dict[str, Any]:
    """Return the accuracy on labelled examples of a model or, with `folds`, of a config.

    The examples that were decided wrongly are added to `wrong`. Raises D426 for a config with human errors.
    """
    from disambig.evaluation import cross_validate, evaluate_labelled
    from disambig.formats import read_labelled
    from disambig.metrics import measure_named

    if measure is not None:
        measure_named(measure)  # raise an error before anything is read
    on_error: dict[str, Any] = {"strict": strict, "tell": note_printer()}
    # examples that cannot be used are counted in one line, with their reasons
    report = error_sink(strict=True, tell=None) if strict else None
    if folds is None:
        from disambig.models import load

        loaded = load(model)
        scores: dict[str, Any] = {}
        if key is None:
            examples = read_labelled(labelled, encoding=encoding, **on_error)
        else:
            from disambig.evaluation import judge_senseval

            examples, scores = judge_senseval(
                loaded, labelled, key=key, sensemap=sensemap, encoding=encoding, **on_error
            )
        with progress() as meter:
            meter.show("scoring", 0, None)
            figures = evaluate_labelled(loaded, examples, report=report, wrong=wrong, measure=measure)
        return {"model": f"{loaded.name} {loaded.version}", **figures, **scores}
    plan = _plan_for_labelled(model)
    examples = read_labelled(labelled, encoding=encoding or plan.sources.get("encoding"), **on_error)
    plan = plan.with_learned_settings(examples)
    with stages() as report_progress:
        common: dict[str, Any] = {"report": report, "wrong": wrong, "measure": measure}
        common["progress"] = report_progress
        figures = cross_validate(plan.parts, examples, folds=folds, **common, **plan.settings)
    _note_unlearned("", figures["unlearned"])
    return figures


def save_errors(wrong: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the wrongly decided examples as JSON Lines, the most certain decisions first."""
    by_margin = sorted(wrong, key=lambda record: -(record["margin"] or 0.0))
    with save_output(path) as write:
        for record in by_margin:
            write(json_text(record, indent=None, ensure_ascii=False).encode("utf8", "surrogatepass") + b"\n")
    remark(f"{path}: {pluralize(len(wrong), 'wrong decision')}")


def examples_lines(result: dict[str, Any], folds: int | None) -> Iterator[str]:
    """Yield the figures on labelled examples as lines of text."""
    n_documents = pluralize(result["documents"], "document")
    with_folds = f", {folds} folds" if folds else ""
    unused = f", {result['unused']:,} not used" if result["unused"] else ""
    yield f"{pluralize(result['n'], 'example')} in {n_documents}{with_folds}{unused}"
    if unknown := result.get("unknown"):
        yield f"{pluralize(unknown, 'more example')} of words unknown to the model: not attempted"
    if unknown_labels := result.get("unknown_labels", 0):
        n_unknown = pluralize(unknown_labels, "more example")
        yield f"{n_unknown} with labels unknown to the model: counted as wrong"
    for grain, score in result.get("senseval", {}).items():
        yield (
            f"Senseval, {grain}: precision {score['precision']:.3f}, recall {score['recall']:.3f}, "
            f"attempted {score['attempted']:.1%} of {score['n']:,}"
        )
    if measure := result.get("measure"):
        for system, figures in measure["systems"].items():
            low, high = (format_value(bound, measure) for bound in figures["interval"])
            value = f"{format_value(figures['value'], measure)} ({low} to {high})"
            yield f"{SYSTEM_NAMES[system]}: {_describe_measure(measure)} {value}"
    has_systems = "systems" in result  # cross-validation compares the model with baselines
    systems = result["systems"] if has_systems else {"model": result["groups"]}
    overall = result["overall"] if has_systems else {"model": result["overall"]}
    for system, groups in systems.items():
        if len(groups) > 1 or unknown or unknown_labels:
            yield figures_line(f"{SYSTEM_NAMES[system]}, all", overall[system])
        if unknown_labels:
            yield figures_line(f"{SYSTEM_NAMES[system]}, all with known labels", result["overall_known"])
        yield from labelled_lines(SYSTEM_NAMES[system], groups)


def figures_line(title: str, figures: dict[str, Any]) -> str:
    """Return the figures of one group, or of all groups, as a line of text."""
    low, high = figures["interval"]
    line = f"{title}: accuracy {figures['accuracy']:.2%} ({low:.2%} to {high:.2%})"
    line += f", balanced {figures['balanced_accuracy']:.2%}" if "balanced_accuracy" in figures else ""
    line += f", attempted {figures['attempted']:.2%}" if figures["attempted"] < 1 else ""
    return line + (f", AUC {figures['auc']:.3f}" if "auc" in figures else "")


def labelled_lines(system: str, groups: dict[str, Any]) -> list[str]:
    """Return the figures of one system as lines of text."""
    lines = []
    for name, group in groups.items():
        lines.append(figures_line(f"{system}, {name}", group))
        for candidate, figures in group["candidates"].items():
            values = ", ".join(
                f"{key} {'-' if figures[key] is None else format(figures[key], '.3f')}"
                for key in ("precision", "recall", "f1")
            )
            lines.append(f"  {candidate or '(no word)'}: {values}, {pluralize(figures['n'], 'example')}")
    return lines


def figures_on_lists(name: str, paths: Sequence[str], measure: str | None) -> dict[str, Any]:
    """Return the figures of the model `name` on n-best lists."""
    from disambig.evaluation import evaluate_lists
    from disambig.formats import read_nbest
    from disambig.metrics import list_measure_named
    from disambig.models import check_lists, load

    if measure is not None:
        list_measure_named(measure)  # raise an error before anything is read
    model = load(name)
    check_lists(model)
    figures = evaluate_lists(model, list(read_nbest(paths)), measure=measure)
    return {"model": f"{model.name} {model.version}", **figures}


def figures_on_text(
    model: str,
    paths: Sequence[str],
    rates: Sequence[float],
    plot: Path | None,
    *,
    lines: bool,
    only_test: bool,
) -> dict[str, Any]:
    """Return the figures of a model on text that is assumed to be correct.

    Raises D664 if the text has nothing to decide, D751 if there is nothing to plot.
    """
    from disambig.evaluation import evaluate
    from disambig.models import load
    from disambig.training import read_texts, split

    for rate in rates:
        options.check_rate(rate, option="--rate")
    loaded = load(model)
    texts = read_texts(paths, lines=lines)
    with progress() as meter:
        meter.show("scoring", 0, None)
        figures = evaluate(loaded, split(texts)["test"] if only_test else texts, rates=rates)
    if not figures["decisions"]:
        what = "the test part of " * only_test + ", ".join(paths)
        hint = "give more documents: a fifth of them is the test part" if only_test else "give other text"
        read = {"documents": figures["documents"], "words": figures["words"]}
        raise UserError("D664", what=what, **read, task=loaded.task.name, hint=hint)
    if plot is not None:
        if not figures["reliability"]:
            raise UserError("D751", model=model)
        from disambig.evaluation import plot_reliability

        plot_reliability(figures["reliability"], plot, title=loaded.task.name)
        remark(f"{plot}: drawn")
    return {"model": f"{loaded.name} {loaded.version}", **figures}


def evaluation_lines(figures: dict[str, Any]) -> list[str]:
    """Return the figures as lines of text."""
    read = f"read {pluralize(figures['documents'], 'document')}, {pluralize(figures['words'], 'word')}"
    lines = [f"{read}: {pluralize(figures['decisions'], 'decision')}"]
    low, high = figures["interval"]
    lines.append(f"accuracy {figures['accuracy']:.2%} ({low:.2%} to {high:.2%})")
    if len(figures["groups"]) > 1:
        low, high = figures["mean_interval"]
        lines.append(f"mean of groups {figures['mean_accuracy']:.2%} ({low:.2%} to {high:.2%})")
    for name, group in figures["groups"].items():
        low, high = group["interval"]
        lines.append(
            f"  {name}: {group['accuracy']:.2%} ({low:.2%} to {high:.2%}) of {group['n']:,}, "
            f"majority {group['majority']:.2%}"
        )
    if figures.get("reliability"):
        from disambig.metrics import reliability_lines

        lines += reliability_lines(figures["reliability"])
    for rate, point in figures["rates"].items():
        share_found = "-" if point["errors_found"] is None else f"{point['errors_found']:.1%}"
        share_mended = "-" if point["errors_mended"] is None else f"{point['errors_mended']:.1%}"
        lines.append(
            f"at {rate} flags per 1,000 words: {point['false_flags_per_1000']:.2f} false flags per 1,000, "
            f"{share_found} of {pluralize(point['errors_made'], 'made error')} found, {share_mended} "
            f"with the right suggestion"
        )
    return lines
