"""The model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from disambig.data import Group
from disambig.formatting import format_figure, pluralize
from disambig.models.model import Model
from disambig.types import RaisesFlags, decides

TITLES = {
    "model": "the model's choice",
    "first": "the first candidate",
    "oracle": "the best candidate there is",
}


def list_usage(directory: str) -> list[str]:
    """Say how lists are reranked."""
    return [
        "Lists as JSON Lines, written again with the best candidate first:",
        f"```console\n$ disambig annotate lists.jsonl --from nbest --model {directory} > out.jsonl\n```",
    ]


def list_examples(model: Model) -> list[str]:
    """Say how many lists there were."""
    said = model.provenance.get("examples", {})
    of = f"{pluralize(said.get('lists', 0), 'list')} of candidates in {pluralize(said.get('documents', 0), 'document')}"
    without = said.get("without_right")  # not known of models of before
    facts = [f"{of}." if without is None else f"{of}, in {without:,} of which no candidate is right."]
    features = model.provenance.get("groups", {})
    facts += [
        f"`{name}`: {pluralize(report['examples'], 'list')} learned from."
        for name, report in features.items()
    ]
    return ["\n".join(f"* {fact}" for fact in facts)]


def list_figures(test: Mapping[str, Any]) -> list[str]:
    """Return the table of what the model, the source's first candidate and the best one come to."""
    if not test:
        return ["No figures are kept with this model: `disambig evaluate --lists` gives them."]
    about, better = test["measure"], test["better"]
    shares = about["unit"] == "share"

    def figure(value: float | None) -> str:
        return format_figure(value, ".1%" if shares else ".4f")

    rows = []
    for name, title in TITLES.items():
        at = test["systems"][name]
        low, high = at["interval"]
        rows.append(f"| {title} | {figure(at['value'])} | {figure(low)} to {figure(high)} |")
    low, high = better["interval"]
    unit = "" if shares else f", {about['unit']}"
    direction = "more is better" if about["more_is_better"] else "less is better"
    changed = test["changed"]
    on = f"On {pluralize(test['n'], 'list')} in {pluralize(test['documents'], 'document')} ({test['how']})"
    return [
        f"{on}: {about['name']}{unit}; {direction}.",
        "\n".join(["| | value | 95 % interval |", "| --- | --- | --- |", *rows]),
        f"Model less first candidate: {format_figure(better['difference'], '+.4f')} ({format_figure(low, '+.4f')} to "
        f"{format_figure(high, '+.4f')}), p = {format_figure(better['p'], '.4f')} by paired bootstrap over documents. "
        f"It puts another candidate in front in {pluralize(changed['n'], 'list')}: better in "
        f"{changed['better']:,}, worse in {changed['worse']:,}.",
    ]


MOST_LISTED, FEW_LISTED = 20, 5
"""Groups whose candidates are listed; of more groups only the first few."""
MOST_GROUPS = 30
"""Groups whose figures are shown one by one; of more, those with the most test examples."""
OTHERS = {"baseline": "unsupervised", "majority": "most frequent"}
"""What a model is compared with."""
KINDS = {
    "words": "Decides between words",
    "labels": "Gives labels to",
    "own": "Decides between the own candidates of each place",
}
PLACES = {
    "words": "places",
    "tokens": "places",
    "sentences": "sentences",
    "documents": "whole documents",
    "items": "items",
}
FEW_TESTED = 100
"""Test examples below which the card says that the figures are uncertain."""


def card(model: Model, directory: str) -> str:
    """Return the card as Markdown; `directory` is the name of the model's directory."""
    test = model.provenance.get("test") or {}
    if decides(model.task).where == "items":
        used, learned = list_usage(directory), list_examples(model)
        good = list_figures(test)
    else:
        used, learned = _use(model, directory), _examples(model)
        good = [*_figures(test), *_reliability(test), *_operating(model, test)]
    sections = [
        [f"# {_plain(model.name)} {_plain(model.version)}", _what(model)],
        ["## Use", *used],
        ["## Learned from", *learned],
        ["## How good", *good],
        ["## Limits", *_limits(model, test)],
    ]
    return "\n\n".join("\n\n".join(parts) for parts in sections) + "\n"


def _what(model: Model) -> str:
    groups = model.task.groups[: len(model.scorers)]
    language = f"language: {model.language}" if model.language else "any language"
    what = decides(model.task)
    kind = f"{KINDS[what.between]} {PLACES[what.where]}" if what.between == "labels" else KINDS[what.between]
    of = " of a text" if what.where in ("words", "tokens", "sentences") else ""
    if what.where == "items":
        kind = "Finds the best of lists"
    intro = f"{kind}{of}: task `{model.task.name}`, {language}, words as in `{model.tokenisation.name}`."
    listed = groups
    if len(groups) > MOST_LISTED:
        intro += f" {pluralize(len(groups), 'group')} of candidates, the first of them:"
        listed = groups[:FEW_LISTED]
    if what.between == "own":
        return intro
    return intro + "\n\n" + _list([_group(group, alone=len(groups) == 1) for group in listed])


def _use(model: Model, directory: str) -> list[str]:
    shell = f"`disambig annotate FILE --model {directory}`"
    if decides(model.task).together:  # a span for every word is no use: they have components of their own
        return [f"In the shell: {shell}."]
    key = model.task.name
    name, tags = _component(model), "tag" in getattr(model.tokenisation, "layers", ())
    glosses = any(group.glosses for group in model.task.groups)
    shown = "span.label_, span.kb_id_" if glosses else "span.label_"
    lines = [
        "import spacy",
        "",
        f'nlp = spacy.blank("{model.language or "xx"}")',
        *(['nlp.add_pipe("disambig_tagger")  # or any other tagger: the model reads tags'] if tags else []),
        f'nlp.add_pipe("{name}", config={{"model": "{directory}"}})  # the path of this directory',
        'doc = nlp("Your text.")',
        f'for span in doc.spans["{key}"]:',
        f'    print(span.text, "->", {shown}, span._.disambig["probability"])',
    ]
    if decides(model.task).where == "documents":
        lines[-2:] = ["print(doc.cats)  # the probability of each label"]
    return ["```python\n" + "\n".join(lines) + "\n```", f"Or in the shell: {shell}."]


def _component(model: Model) -> str:
    """Return the component of a model: that of its task, for labels and where one is installed."""
    own = f"disambig_{model.task.name}"
    labels = decides(model.task).between == "labels"
    return own if labels and entry_points(group="spacy_factories", name=own) else "disambig"


def _examples(model: Model) -> list[str]:
    said = model.provenance.get("examples", {})
    groups = model.provenance.get("groups", {})
    learned = sum(scorer is not None for scorer in model.scorers)
    used = sum(report.get("examples", 0) for report in groups.values() if isinstance(report, dict))
    facts = []
    if "labelled" in said:
        unit = "sentence" if decides(model.task).together else "document"
        facts.append(
            f"{pluralize(said['labelled'], 'labelled example')} in {pluralize(said['documents'], unit)}."
        )
    else:
        facts.append(f"Raw text, whose own words are taken as right: {pluralize(used, 'example')}.")
        documents = said.get("documents")
        if isinstance(documents, dict):
            names = {"train": "to learn from", "dev": "to tune on", "test": "to test on"}
            parts = [f"{documents[name]:,} {what}" for name, what in names.items() if name in documents]
            facts.append(f"Documents: {', '.join(parts)}.")
        if "train_words" in said:
            facts.append(
                f"Words: {said['train_words']:,} to learn from, {said.get('dev_words', 0):,} to tune on."
            )
    if "mistakes" in said:
        facts.append(
            f"Mistakes that people made: {said['mistakes']['used']:,} of {said['mistakes']['read']:,} read, "
            f"and {pluralize(said['clean_words'], 'word')} of text without any."
        )
    rest = "" if learned == len(model.scorers) else "; the others are left to the unsupervised baseline"
    facts.append(f"Groups learned: {learned} of {len(model.scorers)}{rest}.")
    tables = [extractor.get("counts") for extractor in model.config.get("extractors", {}).values()]
    named = [f"`{_plain(str(table).replace(chr(92), '/').rpartition('/')[2])}`" for table in tables if table]
    if named:
        facts.append(f"Counts: {', '.join(named)}.")
    return [_list(facts)]


def _figures(test: dict[str, Any]) -> list[str]:
    if not test:
        return ["No figures are kept with this model: `disambig evaluate` gives them."]
    systems = test["systems"]
    shown = sorted(systems["model"], key=lambda name: -systems["model"][name]["n"])[:MOST_GROUPS]
    rows = []
    for name in shown:
        own = systems["model"][name]
        low, high = own["interval"]
        others = [f"{systems[other][name]['accuracy']:.1%}" for other in OTHERS if other in systems]
        auc = f"{own['auc']:.3f}" if "auc" in own else "-"
        right = f"{own['accuracy']:.1%} ({low:.1%} to {high:.1%})"
        rows.append([_cell(name), f"{own['n']:,}", right, *others, f"{own['balanced_accuracy']:.1%}", auc])
    compared = [title for other, title in OTHERS.items() if other in systems]
    head = ["group", "tested", "accuracy (95 % interval)", *compared, "balanced", "AUC"]
    found = [
        f"On {pluralize(test['n'], 'example')} in {pluralize(test['documents'], 'document')}: {test['how']}.",
        _table(head, rows),
    ]
    if len(systems["model"]) > len(shown):
        found.append(f"The {len(shown)} groups with the most test examples, of {len(systems['model'])}.")
    candidates = [
        [_cell(name), _cell(candidate or "(no word)"), f"{at['n']:,}", *map(_share, _rates(at))]
        for name in shown[:5]
        for candidate, at in systems["model"][name]["candidates"].items()
    ]
    found.append(_table(["group", "candidate", "tested", "precision", "recall", "F1"], candidates))
    errors = [
        f"{_candidate(error['chosen'])} for {_candidate(error['right'])}: {error['n']:,}"
        for name in shown[:5]
        for error in systems["model"][name]["confusions"]
    ]
    if errors:
        found.append("Most frequent errors:\n\n" + _list(errors))
    return found


def _reliability(test: dict[str, Any]) -> list[str]:
    found = test.get("reliability")
    if not found or not found["n"]:
        return []
    rows = [
        [
            f"{at['low']:.0%} to {at['high']:.0%}",
            f"{at['n']:,}",
            f"{at['predicted']:.1%}",
            f"{at['observed']:.1%}",
        ]
        for at in found["bins"]
    ]
    said = (
        f"Probabilities of the chosen candidate: expected calibration error "
        f"{found['expected_calibration_error']:.1%}, Brier score {found['brier']:.3f}."
    )
    return [said, _table(["said to be right", "n", "mean", "is right"], rows)]


def _operating(model: Model, test: dict[str, Any]) -> list[str]:
    if not isinstance(model.judge, RaisesFlags):
        labels = decides(model.task).between == "labels"
        why = "its candidates are labels" if labels else "it says which candidate is best"
        return [f"It flags nothing: {why}, and the text is left as it is."]
    said = f"A word is flagged where at most {model.flags_per_1000:g} right words in 1,000 would be."
    zero = any("" in group.candidates for group in model.task.groups)
    replaced = "words replaced by one another at random" if zero else "words replaced at random"
    for at in test.get("rates", {}).values():
        said += f" Measured: {at['false_flags_per_1000']:.2f} in 1,000."
        if at["errors_found"] is not None:
            low, high = at["errors_found_interval"]
            said += (
                f" Of {at['errors_made']:,} {replaced} {at['errors_found']:.1%} are flagged "
                f"({low:.1%} to {high:.1%}); people's own mistakes are harder."
            )
    return [said]


def _limits(model: Model, test: dict[str, Any]) -> list[str]:
    facts = [_plain(str(note)) + "." for note in model.provenance.get("notes", [])]
    n = test.get("n", FEW_TESTED)
    if n < FEW_TESTED:
        facts.append(f"Tested on {pluralize(n, 'example')} only: the figures above are uncertain.")
    groups = model.provenance.get("groups", {})
    few = [
        f"{_plain(name)} ({report['examples']:,})"
        for name, report in groups.items()
        if isinstance(report, dict) and report.get("examples", FEW_TESTED) < FEW_TESTED
    ]
    if few:
        more = f" and {len(few) - 10:,} more" if len(few) > 10 else ""
        facts.append(f"Few examples to learn from: {', '.join(few[:10])}{more}.")
    facts.append("Text unlike what it learned from is harder: try it on your own.")
    if isinstance(model.judge, RaisesFlags):
        facts.append("A rare word that is right may be flagged, and two words may both be right.")
    return [_list(facts)]


def _rates(at: dict[str, Any]) -> tuple[float | None, ...]:
    return at["precision"], at["recall"], at["f1"]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _group(group: Group, *, alone: bool) -> str:
    """Return a group's name, where it says more than its candidates do, and these."""
    candidates = " / ".join(map(_candidate, group.candidates))
    named = not alone and group.name != "/".join(group.candidates)
    return f"{_plain(group.name)}: {candidates}" if named else candidates


def _candidate(name: str) -> str:
    return f"*{_plain(name)}*" if name else "(no word)"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return a text of one line."""
    return " ".join(text.split())


def _list(facts: Sequence[str]) -> str:
    return "\n".join(f"* {fact}" for fact in facts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
