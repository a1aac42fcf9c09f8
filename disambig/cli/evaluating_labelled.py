"""``disambig evaluate --labelled``: figures on labelled examples, for people or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer

from disambig.files.json_text import json_text
from disambig.plural import many

NAMES = {"model": "model", "baseline": "unsupervised baseline", "majority": "majority"}


def run(
    model: str,
    labelled: Sequence[str],
    *,
    encoding: str | None,
    strict: bool,
    folds: int | None,
    text: Sequence[str],
    json: bool,
    key: str | None = None,
    sensemap: str | None = None,
) -> None:
    """Print how good a model, or with `folds` a config, is on labelled examples; with a key Senseval's score.

    Raises
    ------
    UserError
        D465 where text is named too, or no examples; D426 for a config that names mistakes of people.
    """
    from disambig.cli.progress import progress, stages
    from disambig.cli.telling import notes
    from disambig.errors import UserError
    from disambig.evaluation.labelled import cross_validate, evaluate_labelled
    from disambig.files.telling import teller
    from disambig.formats.labelled.reader import read_labelled
    from disambig.training.accounting import line

    if text or not labelled:
        raise UserError("D465")
    reading: dict[str, Any] = {"strict": strict, "tell": notes()}
    say = teller(**reading)
    if folds is None:
        from disambig.model.loading import load

        loaded = load(model)
        scores: dict[str, Any] = {}
        if key is None:
            examples = read_labelled(labelled, encoding=encoding, **reading)
        else:
            from disambig.evaluation.senseval.model import judge_senseval

            examples, scores = judge_senseval(
                loaded, labelled, key=key, sensemap=sensemap, encoding=encoding, **reading
            )
        with progress() as meter:
            meter.show("scoring", 0, None)
            judged = evaluate_labelled(loaded, examples, say=say)
        found = {"model": f"{loaded.name} {loaded.version}", **judged, **scores}
        systems, overall = {"model": found["groups"]}, {"model": found["overall"]}
    else:
        from disambig.training.run import SOURCES, check_people, read_plan

        plan = read_plan(model)
        written = plan.settings.get("fixes") or [], plan.settings.get("clean") or []
        if any(written):  # which are learned from beside text: no such model comes of labelled examples
            check_people(plan, *written, other=True)
        examples = read_labelled(labelled, encoding=encoding or plan.settings.get("encoding"), **reading)
        plan = plan.with_settings_of(examples)
        settings = {name: value for name, value in plan.settings.items() if name not in SOURCES}
        with stages() as told:
            found = cross_validate(plan.parts, examples, folds=folds, say=say, progress=told, **settings)
        systems, overall = found["systems"], found["overall"]
    if json:
        typer.echo(json_text(found))
        return
    typer.echo(line(found["account"]), file=sys.stderr)
    how = f", {folds} folds" if folds else ""
    unused = f", {found['unused']:,} not used" if found["unused"] else ""
    typer.echo(f"{many(found['n'], 'example')} in {many(found['documents'], 'document')}{how}{unused}")
    if unknown := found.get("unknown"):
        typer.echo(f"{many(unknown, 'more example')} of words that the model does not know: not attempted")
    for grain, each in found.get("senseval", {}).items():
        typer.echo(
            f"Senseval, {grain}: precision {each['precision']:.3f}, recall {each['recall']:.3f}, "
            f"attempted {each['attempted']:.1%} of {each['n']:,}"
        )
    for system, groups in systems.items():
        if len(groups) > 1 or found.get("unknown"):
            typer.echo(figures_line(f"{NAMES[system]}, all", overall[system]))
        for each in readable(NAMES[system], groups):
            typer.echo(each)


def figures_line(what: str, at: dict[str, Any]) -> str:
    """Return the figures of one group, or of all, in a line."""
    low, high = at["interval"]
    balanced = f", balanced {at['balanced_accuracy']:.2%}" if "balanced_accuracy" in at else ""
    attempted = f", attempted {at['attempted']:.2%}" if at["attempted"] < 1 else ""
    auc = f", AUC {at['auc']:.3f}" if "auc" in at else ""
    return f"{what}: accuracy {at['accuracy']:.2%} ({low:.2%} to {high:.2%}){balanced}{attempted}{auc}"


def readable(system: str, groups: dict[str, Any]) -> list[str]:
    """Return the figures of one system as lines for people."""
    lines = []
    for name, at in groups.items():
        lines.append(figures_line(f"{system}, {name}", at))
        for candidate, each in at["candidates"].items():
            shown = ", ".join(
                f"{key} {'-' if each[key] is None else format(each[key], '.3f')}"
                for key in ("precision", "recall", "f1")
            )
            lines.append(f"  {candidate or '(no word)'}: {shown}, {many(each['n'], 'example')}")
    return lines
