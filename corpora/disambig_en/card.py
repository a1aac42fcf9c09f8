"""Writes the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import Any

from card_kenlm import beside_kenlm
from card_people import people, percent, with_interval
from card_texts import INTRODUCTION, SOURCES, WEAKNESSES
from card_trust import trust

PAPER_FIVE = ("among/between", "amount/number", "cite/sight/site", "peace/piece", "raise/rise")
TWENTY = (
    *PAPER_FIVE,
    "their/there/they're",
    "than/them/then",
    "affect/effect",
    "quiet/quite",
    "accept/except/expect",
    "loose/lose",
    "principal/principle",
    "weather/whether",
    "its/it's",
    "your/you're",
    "advice/advise",
    "desert/dessert",
    "passed/past",
    "lead/led",
    "fewer/less",
)


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`."""
    parts = [
        INTRODUCTION,
        people(figures.get("people", {})),
        trust(figures.get("trust", {})),
        _contents(home),
        SOURCES,
    ]
    for task, scores in figures.get("scores", {}).items():
        parts.append(_task(task, scores, figures))
    parts += [_it(figures.get("it", {})), _curve(figures), WEAKNESSES]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _contents(home: Path) -> str:
    from disambig.counts.table import CountTable

    table = CountTable.open(home / "english.counts")
    info = table.header["info"]
    rows = [
        f"| `english.counts` | {_mb(home / 'english.counts')} | {table.n_ngrams:,} n-grams of 1 to 5 words |"
    ]
    more = CountTable.open(home / "words" / "ngrams.counts")
    least_of_words = "/".join(str(count) for count in more.header["info"]["least"].values())
    said = f"{more.n_ngrams:,} n-grams of all words, counted {least_of_words} times or more by length"
    rows.append(f"| `words/ngrams.counts` | {_mb(home / 'words' / 'ngrams.counts')} | {said} |")
    weights = _mb(home / "words" / "weights.npz")
    rows.append(f"| `words/weights.npz` | {weights} | the model of words in context |")
    for path in sorted((home / "models").glob("*/weights.npz")):
        rows.append(f"| `models/{path.parent.name}` | {_mb(path)} | weights, calibration, operating point |")
    least = {
        name: "/".join(str(count) for count in counts.values()) for name, counts in info["least"].items()
    }
    return (
        "## What is in it\n\n| file | size | what |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nN-grams of 1 to 5 words are kept from a count of "
        f"{least['preposition']} where they contain a preposition, {least['spelling']} where they contain a\n"
        f"word of the confusion sets; others of 1 to 3 words from {least['elsewhere']}. Prepositions with\n"
        f"their head words: from {'/'.join(map(str, info['least_headwords'].values()))}. For *it*: the "
        f'fillers of contexts in which\n"it" and "they" were seen {info["least_it"]} times or more. '
        "Records are small: counts are exact to 7\nand rounded on a logarithmic scale above (within 14 %), "
        "and one absent n-gram in 1,024 is taken for\nanother, unless a shorter part of it is absent too.\n"
    )


def _it(figures: dict[str, Any]) -> str:
    if not figures:
        return ""
    lines = [
        "## Task it\n",
        'Is this "it" referential? F1 is that of the non-referential class. QA-It: 10-fold cross-validation',
        "over question-answer pairs; extractors, calibration and threshold are fitted on the other folds",
        "(and on EWT). EWT: its test part, where expletives (`expl`) count as non-referential. Window and C",
        "were chosen on this very cross-validation, so its figures are a little too good.\n",
        "| examples | system | n | accuracy | balanced | F1 | AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    validated = figures["qa_it"]["systems"]
    rows = [
        ("QA-It", "majority (referential)", validated["majority"]),
        ("", "unsupervised: it - they, with a threshold", validated["baseline"]),
        ("", "the model", validated["model"]),
        ("", "the model, without EWT", figures["qa_it_alone"]["systems"]["model"]),
        ("EWT test", "unsupervised", figures["ewt_baseline"]["groups"]),
        ("", "the model", figures["ewt"]["groups"]),
    ]
    referential = figures["ewt"]["groups"]["it"]["candidates"]["referential"]["n"]
    for where, system, groups in rows:
        at = groups["it"]
        f1 = at["candidates"]["non-referential"]["f1"]
        cells = [where, system, f"{at['n']:,}", with_interval(at["accuracy"], at["interval"])]
        cells += [
            percent(at["balanced_accuracy"]),
            f"{f1 or 0:.3f}",
            f"{at['auc']:.3f}" if "auc" in at else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    share = referential / figures["ewt"]["groups"]["it"]["n"]
    lines += [
        "",
        f"Majority on EWT: {percent(share)}. "
        'An "its" counts where the next word tells that "it\'s" is meant.',
        "Beside both, the model learns from places of the weather, times, fixed phrases and clefts that",
        "patterns picked out of held-out text: the treebanks label few, and EWT half of those otherwise.\n",
    ]
    return "\n".join(lines) + "\n" + _it_left_out(figures["left_out"])


def _it_left_out(found: dict[str, Any]) -> str:
    """Return how the probabilities of *it* hold for text of another kind."""
    lines = [
        "Each of these left out of training: how sure the model says to be, and how often it is right.",
        "Probabilities lean to the rarer label, as F1 does.\n",
        "| left out | n | F1 | AUC | said | right | calibration error |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, at in found.items():
        bins, n = at["reliability"]["bins"], at["n"]
        said = sum(each["predicted"] * each["n"] for each in bins) / n
        cells = [name, f"{n:,}", f"{at['candidates']['non-referential']['f1'] or 0:.3f}", f"{at['auc']:.3f}"]
        cells += [percent(said), percent(at["accuracy"])]
        cells.append(percent(at["reliability"]["expected_calibration_error"]))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _task(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> str:
    groups = scores["all"]["groups"]
    lines = [f"## Task {task}\n"]
    lines.append("Accuracy: how often the author's own word is chosen. Test part, 95 % intervals.\n")
    if len(groups) == 1:
        lines += _accuracy_by_domain(task, scores, figures)
    else:
        full = figures.get("all_counts", {}).get(task, {}).get("all", {}).get("groups", {})
        left_out = _pooled(figures.get("left_out", {}).get(task, {}))
        lines += _accuracy_by_set(groups, full, left_out)
        lines += _weak_sets(left_out)
        lines += _twenty(figures)
        lines += beside_kenlm(task, figures)
    lines += _rates(task, scores, figures)
    lines += _reliability(scores["all"].get("reliability"))
    return "\n".join(lines) + "\n"


def _reliability(found: dict[str, Any] | None) -> list[str]:
    """Return how far the probabilities of the chosen candidates can be believed."""
    if not found:
        return []
    said = (
        "\nProbabilities of the chosen candidate (`Model.candidate_probabilities`): expected calibration "
        f"error {percent(found['expected_calibration_error'])}, Brier score {found['brier']:.3f}.\n"
    )
    lines = [said, "| said to be right | n | mean | is right |", "|---|---|---|---|"]
    for at in found["bins"]:
        cells = [f"{at['low']:.0%} to {at['high']:.0%}", f"{at['n']:,}"]
        cells += [percent(at["predicted"]), percent(at["observed"])]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _accuracy_by_domain(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """Return how often the right word is chosen among words, of each domain of which that is known."""
    kinds = ("all_counts", "left_out", "left_out_kenlm")
    packs = (scores, *(figures.get(kind, {}).get(task, {}) for kind in kinds))
    own, full, left_out, kenlm = (
        {name: at["among_words"] for name, at in pack.items() if "among_words" in at} for pack in packs
    )
    if not own:
        return []
    others = [full, left_out] + [kenlm] * bool(kenlm)
    beside = " KenLM, domain left out |" * bool(kenlm)
    lines = [
        "Between the 34 words, wherever one of them is written, as infinitive, particle or preposition.\n"
    ]
    if kenlm:
        lines.append("KenLM: a 5-gram model of the same other text, 4- and 5-grams seen once left out.\n")
    lines += [
        "| text | n | majority | pack | all counts | domain left out |" + beside,
        "|---|---|---|---|---|---|" + "---|" * bool(kenlm),
    ]
    for name, at in own.items():
        cells = [
            name,
            f"{at['n']:,}",
            percent(at["majority"]),
            with_interval(at["accuracy"], at["interval"]),
        ]
        cells += [percent(known[name]["accuracy"]) if name in known else "" for known in others]
        lines.append("| " + " | ".join(cells) + " |")
    domains = [name for name in scores if name != "all"]
    cells = ["mean of domains", "", ""]
    for known in (own, *others):
        shares = [known[name]["accuracy"] for name in domains if name in known]
        complete = shares and len(shares) == len(domains)
        cells.append(percent(sum(shares) / len(shares)) if complete else "")
    return [*lines, "| " + " | ".join(cells) + " |", ""]


def _pooled(domains: dict[str, Any]) -> dict[str, Any]:
    """Return the accuracy of each group over all domains, each left out of what decided it."""
    n: Counter[str] = Counter()
    right: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for at in domains.values():
        for name, group in at["groups"].items():
            n[name] += group["n"]
            right[name] += round(group["accuracy"] * group["n"])
            most[name] += round(group["majority"] * group["n"])
    return {
        name: {"n": n[name], "accuracy": right[name] / n[name], "majority": most[name] / n[name]}
        for name in n
        if n[name]
    }


def _weak_sets(left_out: dict[str, Any], *, least: int = 20) -> list[str]:
    """Name the sets in which each domain's more frequent word would do better, with the domain left out."""
    weak = {
        name: at
        for name, at in left_out.items()
        if at["n"] >= least and at["accuracy"] < at["majority"] - 0.05
    }
    if not weak:
        return []
    said = ", ".join(f"{name} ({percent(at['accuracy'])})" for name, at in sorted(weak.items()))
    text = (
        "With the domain left out the more frequent word of each domain would be right more often by five "
        f"points or more, of sets seen {least} times or more, in: {said}."
    )
    return [fill(text, 108, break_on_hyphens=False, break_long_words=False), ""]


def _accuracy_by_set(groups: dict[str, Any], full: dict[str, Any], left_out: dict[str, Any]) -> list[str]:
    from disambig.measures.intervals import mean_interval

    lines = ["| sets | n | accuracy | all counts | domain left out |", "|---|---|---|---|---|"]
    for title, names in (
        ("mean of the paper's five", PAPER_FIVE),
        ("mean of twenty common ones", TWENTY),
        ("mean of all", tuple(groups)),
    ):
        known = [groups[name] for name in names if name in groups]
        mean = sum(group["accuracy"] for group in known) / len(known)
        interval = mean_interval([(round(g["accuracy"] * g["n"]), g["n"]) for g in known])
        cells = [f"{title} ({len(known)})", f"{sum(group['n'] for group in known):,}"]
        cells.append(with_interval(mean, interval))
        for other in (full, left_out):
            shares = [other[name]["accuracy"] for name in names if name in other]
            cells.append(percent(sum(shares) / len(shares)) if shares else "")
        lines.append("| " + " | ".join(cells) + " |")
    for name in TWENTY:
        if name in groups:
            cells = [name, f"{groups[name]['n']:,}"]
            cells.append(with_interval(groups[name]["accuracy"], groups[name]["interval"]))
            cells += [percent(other[name]["accuracy"]) if name in other else "" for other in (full, left_out)]
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def _twenty(figures: dict[str, Any]) -> list[str]:
    """Return what is found in the twenty common sets where 0.5 % of the right words are flagged."""
    if "twenty" not in figures:
        return []
    at = figures["twenty"]["false_alarm_shares"]["0.005"]
    low, high = at["errors_found_interval"]
    return [
        f"Of the twenty common sets, with 0.5 % of the right words flagged, {percent(at['errors_found'])}",
        f"({low * 100:.1f}-{high * 100:.1f}) of {at['errors_made']:,} swapped words are found,",
        f"{percent(at['mean_found_over_groups'])} as the mean of the sets.\n",
    ]


def _curve(figures: dict[str, Any]) -> str:
    if not figures.get("curve"):
        return ""
    lines = [
        "## Size against accuracy\n",
        "The pack's own weights and thresholds over tables pruned otherwise (`--curve`); n-grams without a",
        "candidate, and of head words, are the same in each. Spelling: mean of the twenty",
        "sets; found: made errors found at 0.3 flags per 1,000 words.\n",
        "| table | least counts of 1- to 5-grams | preposition | found | spelling | found |",
        "|---|---|---|---|---|---|",
    ]
    for point in figures["curve"]:
        least = "/".join(str(count) for count in point["min_counts"].values())
        cells = [f"{point['bytes'] / 1e6:.1f} MB", least]
        for at in (point["preposition"], point["spelling"]):
            cells += [with_interval(at["accuracy"], at["interval"]), percent(at["found"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _rates(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    left_out = figures.get("left_out", {}).get(task, {})
    lines = [
        "Made errors found (words replaced by another candidate at random, 1 in 20) at rates set in false",
        "flags per 1,000 words; in brackets the false flags per 1,000 words that were measured."
        + (
            " Behind the slash: with\nthe domain left out of counts, "
            "training and tuning (with half the\ninstances to learn from, and networks that saw a quarter "
            "of the text once, a seventh to a tenth of the\nexamples; judges that did not yet see the words "
            "beside a place, nor words that stand there twice).\n"
            if left_out
            else "\n"
        ),
    ]
    rates = list(scores["all"]["rates"])
    lines.append("| text | words | " + " | ".join(f"at {rate}" for rate in rates) + " |")
    lines.append("|---|---|" + "---|" * len(rates))
    for name, at in scores.items():
        cells = [name, f"{at['words']:,}"]
        for rate in rates:
            cell = _found(at["rates"][rate])
            if name in left_out:
                cell += " / " + _found(left_out[name]["rates"][rate])
            cells.append(cell)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _found(at: dict[str, Any]) -> str:
    if at["errors_found"] is None:
        return "-"
    return f"{percent(at['errors_found'])} ({at['false_flags_per_1000']:.2f})"


def _mb(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
