"""What the card of a model of lists says otherwise than those of models of places: use, examples, figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disambig.measures.shown import shown
from disambig.model.model import Model
from disambig.plural import many

TITLES = {
    "model": "the model's choice",
    "first": "the first candidate",
    "oracle": "the best candidate there is",
}


def use(directory: str) -> list[str]:
    """Say how lists are reranked."""
    return [
        "Lists as JSON Lines, written again with the best candidate first:",
        f"```console\n$ disambig annotate lists.jsonl --from nbest --model {directory} > out.jsonl\n```",
    ]


def learned_from(model: Model) -> list[str]:
    """Say how many lists there were."""
    said = model.provenance.get("examples", {})
    of = f"{many(said.get('lists', 0), 'list')} of candidates in {many(said.get('documents', 0), 'document')}"
    without = said.get("without_right")  # not known of models of before
    facts = [f"{of}." if without is None else f"{of}, in {without:,} of which no candidate is right."]
    features = model.provenance.get("groups", {})
    facts += [
        f"`{name}`: {many(report['examples'], 'list')} learned from." for name, report in features.items()
    ]
    return ["\n".join(f"* {fact}" for fact in facts)]


def figures(test: Mapping[str, Any]) -> list[str]:
    """Return the table of what the model, the source's first candidate and the best one come to."""
    if not test:
        return ["No figures are kept with this model: `disambig evaluate --lists` gives them."]
    about, better = test["measure"], test["better"]
    shares = about["unit"] == "share"

    def figure(value: float | None) -> str:
        return shown(value, ".1%" if shares else ".4f")

    rows = []
    for name, title in TITLES.items():
        at = test["systems"][name]
        low, high = at["interval"]
        rows.append(f"| {title} | {figure(at['value'])} | {figure(low)} to {figure(high)} |")
    low, high = better["interval"]
    unit = "" if shares else f", {about['unit']}"
    direction = "more is better" if about["more_is_better"] else "less is better"
    changed = test["changed"]
    on = f"On {many(test['n'], 'list')} in {many(test['documents'], 'document')} ({test['how']})"
    return [
        f"{on}: {about['name']}{unit}; {direction}.",
        "\n".join(["| | value | 95 % interval |", "| --- | --- | --- |", *rows]),
        f"Model less first candidate: {shown(better['difference'], '+.4f')} ({shown(low, '+.4f')} to "
        f"{shown(high, '+.4f')}), p = {shown(better['p'], '.4f')} by paired bootstrap over documents. "
        f"It puts another candidate in front in {many(changed['n'], 'list')}: better in "
        f"{changed['better']:,}, worse in {changed['worse']:,}.",
    ]
