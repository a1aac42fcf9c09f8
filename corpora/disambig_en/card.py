"""Write the pack's card, README.md, from the figures that its build measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from manual_review import counts_by_label, counts_by_task

from disambig.experiments import card_sections
from disambig.formatting import markdown_table

SECTIONS = card_sections(Path(__file__).with_name("card.md"))

COLUMNS_OF_EVIDENCE = ("0.5", "1", "2", "agreement", "other-real-word", "preposition")
LEARNING_COLUMNS = ("0.5", "1", "2", "agreement", "other-real-word", "article")
NAMES = {0.5: "1 in 2", 2 / 3: "2 in 3", 0.8: "4 in 5", 0.9: "9 in 10"}


def trust_section(figures: dict[str, Any]) -> str:
    """Return the section on how often flags are right, by task and minimum probability, on both parts."""
    lines = [
        "## How often flags are right\n",
        "Measured on the same mistakes and paragraphs (`--trust`), weighted as in text with "
        f"{figures['per_1000']:g}",
        "such mistakes in 1,000 words. The curves in `models/*/trust.json` are those of `dev`; `test` is",
        "shown for comparison. The odds that a flag is right are proportional to the rate of mistakes: if",
        "it is 4 in 5 here, it is 4 in 9 in text with a fifth as many mistakes, and 8 in 9 with twice as",
        "many. Flags on unchanged paragraphs count as wrong; those that show a mistake according to the",
        "review or the readings above are left out. 95 % intervals in brackets, under the assumption that",
        "flags are independent; then the number of flags.\n",
    ]
    table = []
    for task, rows in figures["tasks"].items():
        for number, row in enumerate(rows):
            requested = min(NAMES, key=lambda share: abs(share - row["asked"]))
            cells = [task if not number else "", NAMES[requested], f"{row['dev']['least']:.2f}"]
            table.append([*cells, _cell(row["dev"]), _cell(row["test"]) if row["test"] else "no flag"])
    lines += markdown_table(["task", "wanted", "minimum probability", "dev", "test"], table)
    return "\n".join([*lines, ""])


def _cell(point: dict[str, Any]) -> str:
    share, low, high = (f"{100 * point[name]:.0f}" for name in ("share", "low", "high"))
    n = point["right"] + point["wrong"] + point["false"]
    return f"{share} % ({low}-{high}), {n:,}"


def people_section(figures: dict[str, Any]) -> str:
    """Return the section on real mistakes: how many are found, and the rate of false flags."""
    lines = [
        "## Mistakes that people made\n",
        "All models that correct words, used together, each position flagged at most once, on mistakes that",
        "contributors to open documentation corrected, and on paragraphs of the same projects that nobody",
        "changed (`--people`). Neither was used for training; settings and flag rates were chosen on `dev`.",
        "Right: the suggestion is the writer's correction. Every flag on the unchanged paragraphs counts as",
        "false, although most of the most certain ones show a mistake (see below).\n",
    ]
    for part, people in figures.items():
        clean = people["clean"]
        per_1000, (low, high) = clean["per_1000"], clean["interval"]
        lines += [
            f"### {part}: {people['projects']} projects, {clean['words']:,} clean words\n",
            f"False flags per 1,000 words: {per_1000:.2f} ({low:.2f} to {high:.2f}).\n",
        ]
        rows = []
        for name, at in people["classes"].items():
            rows.append(_mistake_cells(name, at))
            if len(at["kinds"]) > 1:
                rows += [_mistake_cells(f"... {kind}", of_kind) for kind, of_kind in at["kinds"].items()]
        rows.append(_mistake_cells("all", people["all"]))
        lines += [*markdown_table(["mistakes", "n", "found", "right", "wrong"], rows), ""]
        lines += _curve_of_people(people["curve"], people.get("harper"))
    lines += [
        "Flags on the unchanged paragraphs of `dev`, by these models and by earlier ones, that one person",
        "reviewed. Text that looked wrong for another reason than the proposed one, or like a matter of",
        "style, was taken as correct.\n",
        *markdown_table(
            ["flags", "reviewed", "show a mistake"],
            ([title, str(n), str(real)] for title, n, real in counts_by_task()),
        ),
        "",
        SECTIONS["READINGS"],
        *markdown_table(
            ["the text at the flag is", "flags"], ([what, str(n)] for what, n in counts_by_label())
        ),
        "",
        *_read_flags(figures),
    ]
    return "\n".join(lines)


def _mistake_cells(name: str, at: dict[str, Any]) -> list[str]:
    """Return the cells of a class of mistakes: its name, their number, and what was found of them."""
    right = with_interval(at["right"], at["right_interval"])
    return [name, f"{at['n']:,}", percent(at["found"]), right, percent(at["wrong"])]


def evidence_section(figures: dict[str, Any]) -> str:
    """Return the section on the second look: what each kind of evidence adds on the development part."""
    rows = [
        [name, *_rate_cells(points, points[len(points) // 2], COLUMNS_OF_EVIDENCE)]
        for name, points in figures.items()
    ]
    return "\n".join([SECTIONS["SECOND_LOOK"], *markdown_table(["evidence", *COLUMNS_OF_EVIDENCE], rows), ""])


def learning_curve_section(figures: dict[str, Any]) -> str:
    """Return the table of what more mistakes to learn from add on the development part."""
    heads = ["learned from", "mistakes", "projects", *LEARNING_COLUMNS]
    rows = []
    for name, run in figures.items():
        cells = _rate_cells(run["rates"], run["rates"][-1], LEARNING_COLUMNS)
        rows.append([name, f"{run['mistakes']:,}", str(run["projects"]), *cells])
    return "\n".join([SECTIONS["LEARNING_CURVE"], *markdown_table(heads, rows), ""])


def _rate_cells(points: Sequence[dict[str, Any]], chosen: dict[str, Any], heads: Sequence[str]) -> list[str]:
    """Return the corrections at each rate, and at the chosen one those of the classes in the last heads."""
    cells = [f"{percent(point['all']['right'])} ({point['clean']['per_1000']:.2f})" for point in points]
    return cells + [percent(chosen["classes"][kind]["right"]) for kind in heads[len(points) :]]


def _read_flags(figures: dict[str, Any]) -> list[str]:
    """Return the lines of a table of the flags at the default rates by label; empty without readings."""
    rows = []
    for part, people in figures.items():
        for name, at in [("all", people["clean"]), *people["clean"]["tasks"].items()]:
            if "readings" in at:
                labels = ("mistake", "taste", "wrong", "unread")
                rates = [at["per_1000"], *(at["readings"][label]["per_1000"] for label in labels)]
                rows.append([part, name, *(f"{rate:.2f}" for rate in rates)])
    heads = ["part", "task", "flags per 1,000 words", "mistake", "taste", "wrong", "not read"]
    return [*markdown_table(heads, rows), ""] if rows else []


def _curve_of_people(points: Sequence[dict[str, Any]], harper: dict[str, Any] | None) -> list[str]:
    """Return the table of corrected mistakes by the rate that all tasks share."""
    shared = all("rates" in point for point in points)
    classes = list(points[0]["classes"]) if points and "classes" in points[0] else []
    which = "all tasks together" if shared else "each task"
    heads = [f"rate set for {which}", "false flags per 1,000", "right, all mistakes", *classes]
    rows = []
    systems = [(f"{point['rate']:g}", point) for point in points]
    for title, point in [*systems, *([("Harper 2.13", harper)] if harper else [])]:
        cells = [title, f"{point['clean']['per_1000']:.2f}", percent(point["all"]["right"])]
        rows.append([*cells, *(percent(point["classes"][name]["right"]) for name in classes)])
    return [*markdown_table(heads, rows), ""]


def percent(share: float) -> str:
    """Format a share in per cent."""
    return f"{share * 100:.1f} %"


def with_interval(share: float, interval: tuple[float, float]) -> str:
    """Format a share in per cent with its interval."""
    return f"{percent(share)} ({interval[0] * 100:.1f}-{interval[1] * 100:.1f})"


def kenlm_section(task: str, figures: dict[str, Any]) -> list[str]:
    """Return the table of a task's sets by domain, or nothing if one of the systems was not scored."""
    ours = figures.get("left_out", {}).get(task, {})
    theirs = figures.get("left_out_kenlm", {}).get(task, {})
    domains = [name for name in ours if name in theirs]
    if not domains:
        return []
    text = (
        "\nAccuracy with each domain left out, over all occurrences of all sets, compared with a KenLM\n"
        "5-gram model of the same remaining text (without 4- and 5-grams that occur once):\n"
    )
    counts = {}  # by domain: occurrences, and how many of them each system has right
    for name in domains:
        groups = theirs[name]["groups"]
        shared = {group: at for group, at in ours[name]["groups"].items() if group in groups}
        n = sum(at["n"] for at in shared.values())
        counts[name] = n, _right(shared, shared), _right(groups, shared)
    counts["all"] = tuple(map(sum, zip(*counts.values(), strict=True)))
    rows = [_row(name, *at) for name, at in counts.items()]
    return [text, *markdown_table(["text", "n", "pack", "KenLM"], rows), ""]


def _right(groups: dict[str, Any], shared: dict[str, Any]) -> int:
    """Return the number of correct decisions in the groups that both systems have."""
    return round(sum(groups[name]["accuracy"] * groups[name]["n"] for name in shared))


def _row(name: str, n: int, ours: int, theirs: int) -> list[str]:
    return [name, f"{n:,}", percent(ours / n), percent(theirs / n)]


PAPER_FIVE = ("among/between", "amount/number", "cite/sight/site", "peace/piece", "raise/rise")
TWENTY = (
    *PAPER_FIVE,
    *(
        "their/there/they're than/them/then affect/effect quiet/quite accept/except/expect loose/lose "
        "principal/principle weather/whether its/it's your/you're advice/advise desert/dessert passed/past "
        "lead/led fewer/less"
    ).split(),
)


def write_card(home: Path, figures: dict[str, Any]) -> None:
    """Write ``README.md`` into `home`; a section without figures is left out."""

    def section(name: str, write: Callable[[Any], str]) -> str:
        return write(figures[name]) if figures.get(name) else ""

    parts = [
        SECTIONS["INTRODUCTION"],
        section("people", people_section),
        section("evidence", evidence_section),
        section("learning_curve", learning_curve_section),
        section("trust", trust_section),
        _contents(home),
        SECTIONS["SOURCES"],
    ]
    for task, scores in figures.get("scores", {}).items():
        parts.append(_task(task, scores, figures))
    parts += [section("it", _it), section("curve", _curve), SECTIONS["WEAKNESSES"]]
    (home / "README.md").write_text("\n".join(part for part in parts if part), encoding="utf8")


def _contents(home: Path) -> str:
    """Return the table of the pack's files."""
    from disambig.counts import CountTable

    table = CountTable.open(home / "english.counts")
    info = table.header["info"]
    rows = [("english.counts", home / "english.counts", f"{table.n_ngrams:,} n-grams of 1 to 5 words")]
    more = CountTable.open(home / "words" / "ngrams.counts")
    least_of_words = "/".join(str(count) for count in more.header["info"]["least"].values())
    contents = f"{more.n_ngrams:,} n-grams of all words, with minimum counts {least_of_words} by length"
    rows += [
        ("words/ngrams.counts", home / "words" / "ngrams.counts", contents),
        ("words/weights.npz", home / "words" / "weights.npz", "the model of words in context"),
        ("encoder/encoder.onnx", home / "encoder" / "encoder.onnx", "the encoder, in 8 bits"),
    ]
    for path in sorted((home / "models").glob("*/weights.npz")):
        rows.append((f"models/{path.parent.name}", path, "weights, calibration, operating point"))
    table_of_files = markdown_table(
        ["file", "size", "contents"], ([f"`{name}`", _mb(path), what] for name, path, what in rows)
    )
    minimum = {
        name: "/".join(str(count) for count in counts.values()) for name, counts in info["least"].items()
    }
    return (
        "## Contents\n\n"
        + "\n".join(table_of_files)
        + "\n\nMinimum counts of n-grams, by their length from 1 to 5 words: "
        f"{minimum['preposition']} with a preposition,\n{minimum['spelling']} with a word of the confusion "
        f"sets; {minimum['elsewhere']} for others of 1 to 3 words;\n"
        f"{'/'.join(map(str, info['least_headwords'].values()))} for prepositions with their head words. For "
        f'*it*: the fillers of contexts in which\n"it" and "they" occur at least {info["least_it"]} times. '
        "Records are small: counts up to 7 are exact, larger ones are\nrounded on a logarithmic scale "
        "(within 14 %), and one absent n-gram in 1,024 is mistaken for another, unless a\n"
        "shorter part of it is absent, too.\n"
    )


def _it(figures: dict[str, Any]) -> str:
    """Return the section on "it"."""
    lines = [
        "## Task it\n",
        'Is this "it" referential? F1 is that of the non-referential class. QA-It: 10-fold cross-validation',
        "over question-answer pairs; extractors, calibration and threshold are fitted on the other folds",
        "(and on EWT). EWT: its test part, where expletives (`expl`) count as non-referential. The sizes of",
        "the attributes were chosen on a similar cross-validation, so its figures are slightly too good.\n",
    ]
    validated = figures["qa_it"]["systems"]
    systems = [
        ("QA-It", "majority (referential)", validated["majority"]),
        ("", "unsupervised: it - they, with a threshold", validated["baseline"]),
        ("", "the model", validated["model"]),
        ("", "the model, without EWT", figures["qa_it_alone"]["systems"]["model"]),
        ("EWT test", "unsupervised", figures["ewt_baseline"]["groups"]),
        ("", "the model", figures["ewt"]["groups"]),
    ]
    referential = figures["ewt"]["groups"]["it"]["candidates"]["referential"]["n"]
    rows = []
    for where, system, groups in systems:
        at = groups["it"]
        f1 = at["candidates"]["non-referential"]["f1"]
        cells = [where, system, f"{at['n']:,}", with_interval(at["accuracy"], at["interval"])]
        auc = f"{at['auc']:.3f}" if "auc" in at else ""
        rows.append([*cells, percent(at["balanced_accuracy"]), f"{f1 or 0:.3f}", auc])
    lines += markdown_table(["examples", "system", "n", "accuracy", "balanced", "F1", "AUC"], rows)
    share = referential / figures["ewt"]["groups"]["it"]["n"]
    lines += [
        "",
        f"Majority on EWT: {percent(share)}. "
        'An "its" is counted if the next word shows that "it\'s" is meant.',
        "The model reads the sentence with the encoder. It is also trained on examples that patterns",
        "found in held-out text: the treebanks label few phrases about weather and times, fixed phrases and",
        "clefts, and EWT labels half of these differently.\n",
    ]
    return "\n".join(lines) + "\n" + _it_left_out(figures["left_out"])


def _it_left_out(figures: dict[str, Any]) -> str:
    """Return the table of the calibration of *it* on other kinds of text."""
    lines = [
        "Each of these left out of training: mean probability of the answers, and how often they are right.",
        "The decision favours the rarer label, as F1 does.\n",
    ]
    rows = []
    for name, at in figures.items():
        bins, n = at["reliability"]["bins"], at["n"]
        mean_predicted = sum(bin_["predicted"] * bin_["n"] for bin_ in bins) / n
        cells = [name, f"{n:,}", f"{at['candidates']['non-referential']['f1'] or 0:.3f}", f"{at['auc']:.3f}"]
        cells += [percent(mean_predicted), percent(at["accuracy"])]
        rows.append([*cells, percent(at["reliability"]["expected_calibration_error"])])
    heads = ["left out", "n", "F1", "AUC", "mean probability", "right", "calibration error"]
    return "\n".join([*lines, *markdown_table(heads, rows)]) + "\n"


def _task(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> str:
    """Return the section on one task."""
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
        lines += kenlm_section(task, figures)
    lines += _rates(task, scores, figures)
    lines += _reliability(scores["all"].get("reliability"))
    return "\n".join(lines) + "\n"


def _reliability(calibration: dict[str, Any] | None) -> list[str]:
    """Return the table of the calibration of the chosen candidates' probabilities."""
    if not calibration:
        return []
    error, brier = percent(calibration["expected_calibration_error"]), calibration["brier"]
    summary = (
        "\nProbabilities of the chosen candidate (`Model.candidate_probabilities`): expected calibration "
        f"error {error}, Brier score {brier:.3f}.\n"
    )
    rows = []
    for at in calibration["bins"]:
        shares = [percent(at["predicted"]), percent(at["observed"])]
        rows.append([f"{at['low']:.0%} to {at['high']:.0%}", f"{at['n']:,}", *shares])
    return [summary, *markdown_table(["probability", "n", "mean", "right"], rows)]


def _accuracy_by_domain(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """Return the table of the accuracy of the choice between words, by domain."""
    # accuracies by domain of the pack, and of models of all counts and without the domain, and of KenLM
    kinds = ("all_counts", "left_out", "left_out_kenlm")
    packs = (scores, *(figures.get(kind, {}).get(task, {}) for kind in kinds))
    pack_figures, full, left_out, kenlm = (
        {name: at["among_words"] for name, at in pack.items() if "among_words" in at} for pack in packs
    )
    if not pack_figures:
        return []
    others = [full, left_out] + [kenlm] * bool(kenlm)
    lines = [
        "Choice between the 34 words at every occurrence of one of them, as a preposition, a particle or\n"
        "in an infinitive.\n"
    ]
    if kenlm:
        lines.append(
            "KenLM: a 5-gram model of the same remaining text, without 4- and 5-grams that occur once.\n"
        )
    heads = ["text", "n", "majority", "pack", "all counts", "domain left out"]
    heads += ["KenLM, domain left out"] * bool(kenlm)
    rows = []
    for name, at in pack_figures.items():
        cells = [name, f"{at['n']:,}", percent(at["majority"])]
        cells.append(with_interval(at["accuracy"], at["interval"]))
        cells += [percent(other[name]["accuracy"]) if name in other else "" for other in others]
        rows.append(cells)

    # means over domains, without those of systems that lack one
    domains = [name for name in scores if name != "all"]
    cells = ["mean of domains", "", ""]
    for figures_of_pack in (pack_figures, *others):
        shares = [figures_of_pack[name]["accuracy"] for name in domains if name in figures_of_pack]
        complete = shares and len(shares) == len(domains)
        cells.append(percent(sum(shares) / len(shares)) if complete else "")
    return [*lines, *markdown_table(heads, [*rows, cells]), ""]


def _pooled(domains: dict[str, Any]) -> dict[str, Any]:
    """Return the accuracy of each group over all domains, each with models that left it out."""
    n: Counter[str] = Counter()
    right: Counter[str] = Counter()
    majority: Counter[str] = Counter()
    for at in domains.values():
        for name, group in at["groups"].items():
            n[name] += group["n"]
            right[name] += round(group["accuracy"] * group["n"])
            majority[name] += round(group["majority"] * group["n"])
    return {
        name: {"n": n[name], "accuracy": right[name] / n[name], "majority": majority[name] / n[name]}
        for name in n
        if n[name]
    }


MIN_OCCURRENCES = 20
"""Minimum number of occurrences of a set for its accuracy to be judged."""


def _weak_sets(left_out: dict[str, Any]) -> list[str]:
    """List the sets for which each domain's more frequent word would be better, with the domain left out."""
    weak = {
        name: at
        for name, at in left_out.items()
        if at["n"] >= MIN_OCCURRENCES and at["accuracy"] < at["majority"] - 0.05
    }
    if not weak:
        return []
    listed = ", ".join(f"{name} ({percent(at['accuracy'])})" for name, at in sorted(weak.items()))
    text = (
        "With the domain left out, always choosing the domain's more frequent word would be better by five "
        f"points or more for these sets (of those with at least {MIN_OCCURRENCES} occurrences): {listed}."
    )
    return [fill(text, 108, break_on_hyphens=False, break_long_words=False), ""]


def _accuracy_by_set(groups: dict[str, Any], full: dict[str, Any], left_out: dict[str, Any]) -> list[str]:
    """Return the lines on the accuracy by confusion set."""
    from disambig.metrics import mean_interval

    rows = []
    for title, names in (
        ("mean of the paper's five", PAPER_FIVE),
        ("mean of twenty common ones", TWENTY),
        ("mean of all", tuple(groups)),
    ):
        present = [groups[name] for name in names if name in groups]
        mean = sum(group["accuracy"] for group in present) / len(present)
        interval = mean_interval([(round(g["accuracy"] * g["n"]), g["n"]) for g in present])
        cells = [f"{title} ({len(present)})", f"{sum(group['n'] for group in present):,}"]
        cells.append(with_interval(mean, interval))
        for other in (full, left_out):
            shares = [other[name]["accuracy"] for name in names if name in other]
            cells.append(percent(sum(shares) / len(shares)) if shares else "")
        rows.append(cells)
    for name in TWENTY:
        if name in groups:
            cells = [name, f"{groups[name]['n']:,}"]
            cells.append(with_interval(groups[name]["accuracy"], groups[name]["interval"]))
            cells += [percent(other[name]["accuracy"]) if name in other else "" for other in (full, left_out)]
            rows.append(cells)
    return [*markdown_table(["sets", "n", "accuracy", "all counts", "domain left out"], rows), ""]


def _twenty(figures: dict[str, Any]) -> list[str]:
    """Return the recall on the twenty common sets if 0.5 % of the correct words are flagged."""
    if "twenty" not in figures:
        return []
    at = figures["twenty"]["false_alarm_shares"]["0.005"]
    low, high = at["errors_found_interval"]
    return [
        f"On the twenty common sets, if 0.5 % of the right words are flagged, {percent(at['errors_found'])}",
        f"({low * 100:.1f}-{high * 100:.1f}) of {at['errors_made']:,} swapped words are found;",
        f"the mean over the sets is {percent(at['mean_found_over_groups'])}.\n",
    ]


def _curve(points: Sequence[dict[str, Any]]) -> str:
    """Return the section that shows accuracy by the size of the count table."""
    lines = [
        "## Size against accuracy\n",
        "The pack's weights and thresholds with tables that are pruned differently (`--curve`); n-grams",
        "without a candidate, and of head words, are the same in all. Spelling: mean of the twenty sets;",
        "found: synthetic errors found at 0.3 flags per 1,000 words.\n",
    ]
    heads = ["table", "minimum counts of 1- to 5-grams", "preposition", "found", "spelling", "found"]
    rows = []
    for point in points:
        minimum = "/".join(str(count) for count in point["min_counts"].values())
        cells = [f"{point['bytes'] / 1e6:.1f} MB", minimum]
        for at in (point["preposition"], point["spelling"]):
            cells += [with_interval(at["accuracy"], at["interval"]), percent(at["found"])]
        rows.append(cells)
    return "\n".join([*lines, *markdown_table(heads, rows)]) + "\n"


def _rates(task: str, scores: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """Return the lines on synthetic errors found, by rate of false flags."""
    left_out = figures.get("left_out", {}).get(task, {})
    text = (
        "Synthetic errors found (1 word in 20 is replaced by a random other candidate), by the rate of "
        "false\nflags per 1,000 words that was set; the measured rate in brackets."
    )
    if left_out:
        text += (
            " After the slash: with the domain left out of\ncounts, training and tuning. Those models "
            "have half the training instances, networks trained on a quarter\nof the text once (a seventh to "
            "a tenth of the examples), and decision rules without the features of\nneighbouring words and "
            "of repeated words."
        )
    rates = list(scores["all"]["rates"])
    rows = []
    for name, at in scores.items():
        cells = [name, f"{at['words']:,}"]
        for rate in rates:
            cell = _found(at["rates"][rate])
            if name in left_out:
                cell += " / " + _found(left_out[name]["rates"][rate])
            cells.append(cell)
        rows.append(cells)
    return [text, "", *markdown_table(["text", "words", *(f"at {rate}" for rate in rates)], rows)]


def _found(at: dict[str, Any]) -> str:
    if at["errors_found"] is None:
        return "-"
    return f"{percent(at['errors_found'])} ({at['false_flags_per_1000']:.2f})"


def _mb(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
