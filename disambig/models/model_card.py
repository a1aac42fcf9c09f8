"""The model card: a README of a saved model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from disambig.data import Group
from disambig.formatting import format_figure, pluralize
from disambig.models.model import Model
from disambig.registry import entry_points
from disambig.types import RaisesFlags, decides

_SYSTEM_TITLES = {
    "model": "the model's choice",
    "first": "the first candidate",
    "oracle": "the best candidate there is",
}


def _list_usage(directory: str) -> list[str]:
    """Return the section on reranking lists."""
    return [
        "Rerank lists in JSON Lines, so that the best candidate comes first:",
        f"```console\n$ disambig annotate lists.jsonl --from nbest --model {directory} > out.jsonl\n```",
    ]


def _list_training(model: Model) -> list[str]:
    """Return the section on the lists that the model learned from."""
    counts = model.provenance.get("examples", {})
    lists, documents = counts.get("lists", 0), counts.get("documents", 0)
    total = f"{pluralize(lists, 'list')} of candidates in {pluralize(documents, 'document')}"
    without = counts.get("without_right")  # missing in older models
    facts = [f"{total}." if without is None else f"{total}; in {without:,} of them no candidate is right."]
    features = model.provenance.get("groups", {})
    facts += [
        f"`{name}`: learned from {pluralize(report['examples'], 'list')}."
        for name, report in features.items()
    ]
    return ["\n".join(f"* {fact}" for fact in facts)]


def _list_figures(test: Mapping[str, Any]) -> list[str]:
    """Return the table of figures of the model, the first candidate and the best candidate."""
    if not test:
        return ["No figures are stored with this model; compute them with `disambig evaluate --lists`."]
    measure, better = test["measure"], test["better"]
    is_share = measure["unit"] == "share"

    def figure(value: float | None) -> str:
        return format_figure(value, ".1%" if is_share else ".4f")

    rows = []
    for name, title in _SYSTEM_TITLES.items():
        figures = test["systems"][name]
        low, high = figures["interval"]
        rows.append(f"| {title} | {figure(figures['value'])} | {figure(low)} to {figure(high)} |")
    low, high = better["interval"]
    unit = "" if is_share else f", {measure['unit']}"
    direction = "higher is better" if measure["more_is_better"] else "lower is better"
    changed = test["changed"]
    test_set = (
        f"On {pluralize(test['n'], 'list')} in {pluralize(test['documents'], 'document')} ({test['how']})"
    )
    return [
        f"{test_set}: {measure['name']}{unit}; {direction}.",
        "\n".join(["| | value | 95 % interval |", "| --- | --- | --- |", *rows]),
        f"Model minus first candidate: {format_figure(better['difference'], '+.4f')} "
        f"({format_figure(low, '+.4f')} to "
        f"{format_figure(high, '+.4f')}), p = {format_figure(better['p'], '.4f')} "
        "(paired bootstrap over documents). "
        f"It ranks another candidate first in {pluralize(changed['n'], 'list')}: better in "
        f"{changed['better']:,}, worse in {changed['worse']:,}.",
    ]


_MAX_LISTED, _N_LISTED_OF_MORE = 20, 5
"""All groups are listed if there are at most `_MAX_LISTED`; otherwise the first `_N_LISTED_OF_MORE`."""
_MAX_GROUPS = 30
"""Maximum number of groups with figures of their own: those with the most test examples."""
_BASELINES = {"baseline": "unsupervised", "majority": "most frequent"}
"""The systems that a model is compared with."""
_KINDS = {
    "words": "Decides between words",
    "labels": "Assigns labels to",
    "lists": "Decides between candidates that are specific to each place",
}
_PLACES = {
    "words": "places",
    "tokens": "places",
    "sentences": "sentences",
    "documents": "whole documents",
    "items": "items",
}
_FEW_EXAMPLES = 100
"""Number of test examples below which the card warns that the figures are uncertain."""


def card(model: Model, directory: str) -> str:
    """Return the card in Markdown; `directory` is the name of the model's directory."""
    test = model.provenance.get("test") or {}
    if decides(model.task).where == "items":
        usage, training = _list_usage(directory), _list_training(model)
        evaluation = _list_figures(test)
    else:
        usage, training = _usage(model, directory), _training(model)
        evaluation = [*_figures(test), *_reliability(test), *_flag_rates(model, test)]
    sections = [
        [f"# {_plain(model.name)} {_plain(model.version)}", _introduction(model)],
        ["## Use", *usage],
        ["## Training data", *training],
        ["## Evaluation", *evaluation],
        ["## Limits", *_limits(model, test)],
    ]
    return "\n\n".join("\n\n".join(parts) for parts in sections) + "\n"


def _introduction(model: Model) -> str:
    """Return what the model decides."""
    groups = model.task.groups[: len(model.scorers)]
    language = f"language: {model.language}" if model.language else "any language"
    what = decides(model.task)
    kind = (
        f"{_KINDS[what.between]} {_PLACES[what.where]}" if what.between == "labels" else _KINDS[what.between]
    )
    in_text = " in a text" if what.where in ("words", "tokens", "sentences") else ""
    if what.where == "items":
        kind = "Finds the best candidate of each list"
    intro = (
        f"{kind}{in_text}. Task `{model.task.name}`, {language}, tokenisation `{model.tokenisation.name}`."
    )
    listed = groups
    if len(groups) > _MAX_LISTED:
        intro += f" It has {pluralize(len(groups), 'group')} of candidates; the first are:"
        listed = groups[:_N_LISTED_OF_MORE]
    if what.between == "lists":
        return intro
    return intro + "\n\n" + _bullets([_group(group, alone=len(groups) == 1) for group in listed])


def _usage(model: Model, directory: str) -> list[str]:
    """Return how to use the model."""
    shell = f"`disambig annotate FILE --model {directory}`"
    if decides(model.task).together:  # such tasks have their own components: a span for every word is useless
        return [f"On the command line: {shell}."]
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
    return ["```python\n" + "\n".join(lines) + "\n```", f"Or on the command line: {shell}."]


def _component(model: Model) -> str:
    """Return the component for a model: that of its task if it has labels and one is installed."""
    name = f"disambig_{model.task.name}"
    labels = decides(model.task).between == "labels"
    return name if labels and entry_points(group="spacy_factories", name=name) else "disambig"


def _training(model: Model) -> list[str]:
    """Return what the model was trained on."""
    counts = model.provenance.get("examples", {})
    groups = model.provenance.get("groups", {})
    learned = sum(scorer is not None for scorer in model.scorers)
    used = sum(report.get("examples", 0) for report in groups.values() if isinstance(report, dict))
    facts = []
    if "labelled" in counts:
        unit = "sentence" if decides(model.task).together else "document"
        facts.append(
            f"{pluralize(counts['labelled'], 'labelled example')} in {pluralize(counts['documents'], unit)}."
        )
    else:
        facts.append(f"Raw text, whose words are taken as correct: {pluralize(used, 'example')}.")
        documents = counts.get("documents")
        if isinstance(documents, dict):
            names = {"train": "for learning", "dev": "for tuning", "test": "for testing"}
            parts = [f"{documents[name]:,} {what}" for name, what in names.items() if name in documents]
            facts.append(f"Documents: {', '.join(parts)}.")
        if "train_words" in counts:
            facts.append(
                f"Words: {counts['train_words']:,} for learning, {counts.get('dev_words', 0):,} for tuning."
            )
    if "mistakes" in counts:
        mistakes, words = counts["mistakes"], pluralize(counts["clean_words"], "word")
        facts.append(
            f"Mistakes that people made: {mistakes['used']:,} of {mistakes['read']:,} read, "
            f"and {words} of text without mistakes."
        )
    rest = "" if learned == len(model.scorers) else "; the others use the unsupervised baseline"
    facts.append(f"Groups learned: {learned} of {len(model.scorers)}{rest}.")
    tables = [extractor.get("counts") for extractor in model.config.get("extractors", {}).values()]
    files = [f"`{_plain(str(table).replace(chr(92), '/').rpartition('/')[2])}`" for table in tables if table]
    if files:
        facts.append(f"Counts: {', '.join(files)}.")
    return [_bullets(facts)]


def _figures(test: dict[str, Any]) -> list[str]:
    """Return the table of its figures on test data."""
    if not test:
        return ["No figures are stored with this model; compute them with `disambig evaluate`."]
    systems = test["systems"]
    shown = sorted(systems["model"], key=lambda name: -systems["model"][name]["n"])[:_MAX_GROUPS]
    rows = []
    for name in shown:
        group = systems["model"][name]
        low, high = group["interval"]
        accuracies = [f"{systems[other][name]['accuracy']:.1%}" for other in _BASELINES if other in systems]
        auc = f"{group['auc']:.3f}" if "auc" in group else "-"
        accuracy = f"{group['accuracy']:.1%} ({low:.1%} to {high:.1%})"
        rows.append(
            [_cell(name), f"{group['n']:,}", accuracy, *accuracies, f"{group['balanced_accuracy']:.1%}", auc]
        )
    compared = [title for other, title in _BASELINES.items() if other in systems]
    columns = ["group", "tested", "accuracy (95 % interval)", *compared, "balanced", "AUC"]
    paragraphs = [
        f"{pluralize(test['n'], 'example')} in {pluralize(test['documents'], 'document')} ({test['how']}):",
        _table(columns, rows),
    ]
    if len(systems["model"]) > len(shown):
        paragraphs.append(
            f"These are the {len(shown)} of {len(systems['model'])} groups with the most test examples."
        )
    candidates = [
        [
            _cell(name),
            _cell(candidate or "(no word)"),
            f"{figures['n']:,}",
            *(_share(figures[key]) for key in ("precision", "recall", "f1")),
        ]
        for name in shown[:5]
        for candidate, figures in systems["model"][name]["candidates"].items()
    ]
    paragraphs.append(_table(["group", "candidate", "tested", "precision", "recall", "F1"], candidates))
    errors = [
        f"{_italic(error['chosen'])} instead of {_italic(error['right'])}: {error['n']:,}"
        for name in shown[:5]
        for error in systems["model"][name]["confusions"]
    ]
    if errors:
        paragraphs.append("Most frequent errors:\n\n" + _bullets(errors))
    return paragraphs


def _reliability(test: dict[str, Any]) -> list[str]:
    """Return the table of how well its probabilities are calibrated."""
    reliability = test.get("reliability")
    if not reliability or not reliability["n"]:
        return []
    rows = [
        [
            f"{bin_['low']:.0%} to {bin_['high']:.0%}",
            f"{bin_['n']:,}",
            f"{bin_['predicted']:.1%}",
            f"{bin_['observed']:.1%}",
        ]
        for bin_ in reliability["bins"]
    ]
    summary = (
        "Probabilities of the chosen candidate: expected calibration error "
        f"{reliability['expected_calibration_error']:.1%}, Brier score {reliability['brier']:.3f}."
    )
    return [summary, _table(["predicted", "n", "mean prediction", "observed"], rows)]


def _flag_rates(model: Model, test: dict[str, Any]) -> list[str]:
    """Return how often it flags words, and how many errors it finds."""
    if not isinstance(model.judge, RaisesFlags):
        is_labelling = decides(model.task).between == "labels"
        reason = "its candidates are labels" if is_labelling else "it only selects the best candidate"
        return [f"It flags nothing, because {reason}, and does not change the text."]
    summary = f"At the default rate, at most {model.flags_per_1000:g} of 1,000 correct words are flagged."
    has_empty_candidate = any("" in group.candidates for group in model.task.groups)
    replaced = (
        "words replaced by one another at random" if has_empty_candidate else "words replaced at random"
    )
    for rate in test.get("rates", {}).values():
        summary += f" Measured: {rate['false_flags_per_1000']:.2f} of 1,000."
        if rate["errors_found"] is not None:
            low, high = rate["errors_found_interval"]
            summary += (
                f" Of {rate['errors_made']:,} {replaced}, {rate['errors_found']:.1%} are flagged "
                f"({low:.1%} to {high:.1%}); mistakes that people make are harder to find."
            )
    return [summary]


def _limits(model: Model, test: dict[str, Any]) -> list[str]:
    """Return what the figures do not show."""
    facts = [_plain(str(note)) + "." for note in model.provenance.get("notes", [])]
    n = test.get("n", _FEW_EXAMPLES)
    if n < _FEW_EXAMPLES:
        facts.append(f"Tested on {pluralize(n, 'example')} only: the figures above are uncertain.")
    groups = model.provenance.get("groups", {})
    few = [
        f"{_plain(name)} ({report['examples']:,})"
        for name, report in groups.items()
        if isinstance(report, dict) and report.get("examples", _FEW_EXAMPLES) < _FEW_EXAMPLES
    ]
    if few:
        more = f" and {len(few) - 10:,} more" if len(few) > 10 else ""
        facts.append(f"Few training examples: {', '.join(few[:10])}{more}.")
    facts.append("Accuracy is lower on text unlike the training data: try the model on your own text.")
    if isinstance(model.judge, RaisesFlags):
        facts.append("A rare but correct word may be flagged, and two words may both be correct.")
    return [_bullets(facts)]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _group(group: Group, *, alone: bool) -> str:
    """Return the candidates of a group, after its name if that differs from the candidates."""
    candidates = " / ".join(map(_italic, group.candidates))
    shows_name = not alone and group.name != "/".join(group.candidates)
    return f"{_plain(group.name)}: {candidates}" if shows_name else candidates


def _italic(name: str) -> str:
    return f"*{_plain(name)}*" if name else "(no word)"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return a text with all white space, line ends included, as single spaces."""
    return " ".join(text.split())


def _bullets(facts: Sequence[str]) -> str:
    return "\n".join(f"* {fact}" for fact in facts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
