"""``disambig evaluate A B``: two models on the same examples, for people or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from disambig.files.json_text import json_text
from disambig.measures.shown import shown as figure
from disambig.plural import many

if TYPE_CHECKING:
    from disambig.model.model import Model


def is_model(name: str) -> bool:
    """Tell whether an argument names a model: its directory, or an installed one that no file is called."""
    from disambig.packs import available

    path = Path(name)
    return (path / "model.json").is_file() if path.exists() else name in available()


def check_named(name: str) -> None:
    """Refuse what is named beside examples, where a second model goes, and is nothing at all.

    Raises
    ------
    UserError
        D942 for a name of neither a model nor a file, D666 for a directory without a model.
    """
    from disambig.errors import UserError, nearest_first
    from disambig.packs import available

    path = Path(name)
    if path.is_dir() and not is_model(name):
        raise UserError("D666", path=name)
    if not path.exists() and name != "-" and not is_model(name):
        raise UserError("D942", name=name, names=nearest_first(name, available()))


def run(
    names: tuple[str, str],
    *,
    labelled: Sequence[str] = (),
    lists: Sequence[str] = (),
    text: Sequence[str] = (),
    encoding: str | None = None,
    strict: bool = False,
    lines: bool = False,
    only_test: bool = False,
    measure: str | None = None,
    json: bool = False,
) -> None:
    """Compare two models and print what came out."""
    from disambig.evaluation.comparison import compare, on_labelled, on_lists, on_texts
    from disambig.measures.named import measure_named, measure_of_lists
    from disambig.model.loading import load

    if sum(map(bool, (labelled, lists, text))) != 1:
        raise typer.BadParameter("two models are compared on one of: text, --labelled FILE, --lists FILE")
    if measure is not None:
        (measure_of_lists if lists else measure_named)(measure)  # refused before anything is read
    models = told_apart((load(names[0]), load(names[1])), names)
    if labelled:
        from disambig.cli.telling import notes
        from disambig.formats.labelled.reader import read_labelled

        same = on_labelled(*models, read_labelled(labelled, encoding=encoding, strict=strict, tell=notes()))
    elif lists:
        from disambig.formats.nbest.reader import read_nbest
        from disambig.model.lists import check_lists

        for model in models:
            check_lists(model)
        same = on_lists(*models, list(read_nbest(list(lists))))
    else:
        from disambig.training.run import read_texts
        from disambig.training.splits import split

        texts = read_texts(list(text), lines=lines)
        same = on_texts(*models, split(texts)["test"] if only_test else texts)
    found = compare(models, same, measure=measure)
    if json:
        typer.echo(json_text(found))
        return
    from disambig.training.accounting import line

    typer.echo(line(found["account"]), file=sys.stderr)
    for each in readable(found):
        typer.echo(each)


def told_apart(models: tuple[Model, Model], names: tuple[str, str]) -> tuple[Model, Model]:
    """Return the models; two of one name and version are named by where they are, too."""
    first, second = models
    if (first.name, first.version) != (second.name, second.version):
        return models
    one, other = (
        replace(model, name=f"{name}: {model.name}") for model, name in zip(models, names, strict=True)
    )
    return one, other


def readable(found: dict[str, Any]) -> list[str]:
    """Return a comparison as lines for people."""
    about, difference, table = found["measure"], found["difference"], found["table"]
    unit = "" if about["unit"].startswith("share") else f", {about['unit']}"
    better = "more" if about["more_is_better"] else "less"
    lines = [f"{about['name']}{unit} ({better} is better) of {many(found['n'], 'example')}:"]
    for letter, system in zip("AB", found["systems"], strict=True):
        low, high = (shown(value, about) for value in system["interval"])
        lines.append(f"  {letter}  {shown(system['value'], about)} ({low} to {high})  {system['model']}")
    low, high = (shown(value, about, signed=True) for value in difference["interval"])
    units = many(found["units"]["n"], found["units"]["what"].removesuffix("s"))
    lines.append(
        f"B minus A: {shown(difference['value'], about, signed=True)} ({low} to {high}), "
        f"p = {figure(difference['p'], '.4f')} "
        f"(paired bootstrap over {units}, {many(difference['draws'], 'draw')})"
    )
    if found["mcnemar"] is not None:
        lines.append(f"McNemar's test: p = {found['mcnemar']:.4f}")
    lines.append(
        f"both right {table['both']:,}, only A {table['first']:,}, only B {table['second']:,}, "
        f"both wrong {table['neither']:,}"
    )
    frequent = [pair for pair in found["pairs"] if pair["n"] > 1]
    if frequent:
        lines.append("where they differ most often:")
    for pair in frequent:
        right, one, other = (_named(pair[name]) for name in ("right", "first", "second"))
        lines.append(f"  {pair['n']:,} x  right {right}, A {one}, B {other}")
    return lines


def shown(value: float, about: dict[str, Any], *, signed: bool = False) -> str:
    """Return a figure as people read it; shares as percentages."""
    return figure(value, ("+" if signed else "") + (".2%" if about["unit"].startswith("share") else ".4f"))


def _named(candidate: str | None) -> str:
    if candidate is None:
        return "nothing"
    return repr(candidate if len(candidate) <= 60 else f"{candidate[:60]} ...") if candidate else "(no word)"
