"""A correction is proposed only if the models would not flag what it writes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_decisions import make_decisions

from disambig.data import Decisions, Group
from disambig.decision import resolve_overlaps
from disambig.models import DroppedFlag, verify_flags

Rules = dict[str, tuple[str, float]]
"""Words, their replacements, and the probabilities of these."""


def decisions(task: str, texts, rules: Rules, spans=None) -> Decisions:
    """Return the flags of a task that replaces words by its rules, near some spans or everywhere."""
    names = sorted({*rules, *(new for new, _ in rules.values())})
    rows, certain = [], []
    for number, text in enumerate(texts):
        for match in re.finditer(r"[\w'&]+", text):
            start, end = match.span()
            near = spans is None or any(a <= end and start <= b for a, b in spans[number])
            if match[0] in rules and near:
                new, probability = rules[match[0]]
                rows.append((number, start, end, 0, names.index(match[0]), names.index(new)))
                certain.append(probability)
    return make_decisions([Group(task, tuple(names))], rows, task=task, probabilities=certain)


def verified(texts, *tasks: Rules, default_limits=None) -> list[str]:
    def decide_near(corrected, spans):
        parts = [decisions(f"t{i}", corrected, rules, spans) for i, rules in enumerate(tasks)]
        return resolve_overlaps(parts, corrected)

    separate = [decisions(f"t{i}", texts, rules) for i, rules in enumerate(tasks)]
    kept = verify_flags(texts, separate, decide_near, default_limits)
    rows = [(task, int(row)) for task in kept for row in np.flatnonzero(task.flagged)]
    records = [task.record(row, texts[task.documents[row]]) for task, row in rows]
    return [f"{r['task']}: {r['observed']} -> {r['replacement']} ({r['probability']:.1f})" for r in records]


def test_reasons_of_dropped_flags_are_returned():
    def reasons(text, *tasks):
        def decide(texts, spans=None):
            return [decisions(f"t{i}", texts, rules, spans) for i, rules in enumerate(tasks)]

        dropped = {}
        verify_flags([text], decide([text]), decide, dropped=dropped)
        return dropped

    again = DroppedFlag(corrected_again=(("off", "on"),))
    assert reasons("one of us", {"of": ("off", 0.9)}, {"off": ("on", 0.8)}) == {(0, 0): again}
    assert reasons("a quite place", {"quite": ("quiet", 0.7)}) == {}


@pytest.mark.parametrize(
    ("text", "tasks", "expected"),
    [
        ("a quite place", [{"quite": ("quiet", 0.7)}], ["t0: quite -> quiet (0.7)"]),
        ("an url|a url", [{"an": ("a", 0.8), "a": ("an", 0.6)}], ["t0: an -> a (0.8)"]),
        ("an url|a url", [{"an": ("a", 0.7), "a": ("an", 0.7)}], []),
        ("an url|a url", [{"an": ("a", 0.6)}, {"a": ("an", 0.7)}], ["t1: a -> an (0.7)"]),
        (
            "it is theirs",
            [{"theirs": ("there", 0.9), "there": ("their", 0.6)}],
            ["t0: theirs -> their (0.6)"],
        ),
        ("one of us", [{"of": ("off", 0.9)}, {"off": ("on", 0.8)}], []),
        # "off" would become "on", but "on" would become "off" again, which is more certain
        (
            "one of us",
            [{"of": ("off", 0.9)}, {"off": ("on", 0.5), "on": ("off", 0.8)}],
            ["t0: of -> off (0.9)"],
        ),
        (
            "could of",
            [{"of": ("off", 0.9), "off": ("of", 0.95)}, {"of": ("have", 0.5)}],
            ["t1: of -> have (0.5)"],
        ),
    ],
    ids=[
        *("stable", "more-certain-wins", "tie", "two-models", "final-word"),
        *("no-final-candidate", "unstable-objection", "runner-up"),
    ],
)
def test_verified_flags(text, tasks, expected):
    assert verified(text.split("|"), *tasks) == expected


@pytest.mark.parametrize(
    ("text", "tasks", "expected"),
    [
        # "off" is only flagged at a rate above the default
        ("one of us", [{"of": ("off", 0.9)}, {"off": ("on", 0.3)}], ["t0: of -> off (0.9)"]),
        ("one of us", [{"of": ("off", 0.9)}, {"off": ("on", 0.5)}], []),
        ("an url|a url", [{"an": ("a", 0.3), "a": ("an", 0.2)}], ["t0: an -> a (0.3)"]),
    ],
)
def test_wishes_below_the_default_do_not_count(text, tasks, expected):
    assert verified(text.split("|"), *tasks, default_limits={"t0": 0.4, "t1": 0.4}) == expected


def test_tries_distant_corrections_one_at_a_time():
    # of neighbours, only one is flagged; further apart, both are, and each correction is stable alone
    rules = {"quite": ("quiet", 0.7), "loose": ("lose", 0.6)}
    assert len(verified(["a quite place to loose it"], rules)) == 2


@pytest.mark.parametrize(
    ("text", "verbs", "expected"),
    [
        ("They asks", {"asks": ("ask", 0.8)}, ["ask"]),
        ("They" + 20 * " so" + " asks", {"asks": ("ask", 0.8)}, ["It", "ask"]),
        # the more certain flag is dropped
        ("They asks", {"asks": ("ask", 0.8), "ask": ("asks", 0.9)}, ["It"]),
    ],
    ids=["explained", "too-far", "dropped"],
)
def test_drops_a_flag_that_a_more_certain_neighbour_explains(text: str, verbs: Rules, expected: list[str]):
    def decide(texts, spans=None):
        wrong = [text if "asks" in text else "" for text in texts]  # "They ask" is right
        subjects = decisions("subject", wrong, {"They": ("It", 0.3)}, spans)
        return [subjects, decisions("verb", texts, verbs, spans)]

    def decide_near(texts, spans):
        return resolve_overlaps(decide(texts, spans), texts)

    kept = verify_flags([text], decide([text]), decide_near)
    flags = [(task, row) for task in kept for row in np.flatnonzero(task.flagged)]
    assert [task.record(int(row), text)["replacement"] for task, row in flags] == expected


def annotated(text: str, decide) -> list[Decisions]:
    """Return the verified decisions of a text, with the neighbours that are restored."""

    def decide_near(texts, spans):
        return resolve_overlaps(decide(texts, spans), texts)

    return verify_flags([text], decide([text], None), decide_near, neighbours=True)


def shown(kept, text: str) -> list[tuple[str, list[str]]]:
    """Return the replacements of flags, and of their alternatives, in text order."""
    flags = [(int(task.starts[row]), task, int(row)) for task in kept for row in np.flatnonzero(task.flagged)]
    records = [task.record(row, text) for _, task, row in sorted(flags, key=lambda flag: flag[0])]
    return [(r["replacement"], [other["replacement"] for other in r["alternatives"]]) for r in records]


LOOSE, YOURE = {"loose": ("lose", 0.9)}, {"you're": ("your", 0.8)}


@pytest.mark.parametrize(
    ("text", "tasks", "expected"),
    [
        ("You loose you're turn", [LOOSE | YOURE], [("lose", []), ("your", [])]),
        ("You loose you're turn", [LOOSE, YOURE], [("lose", []), ("your", [])]),
        ("a\n\nNow loose you're loose you're way", [LOOSE, YOURE], [("lose", []), ("your", [])] * 2),
        # both flags of a place are alternatives; the more certain one is restored
        (
            "loose you're",
            [LOOSE | {"you're": ("yours", 0.5)}, YOURE],
            [("lose", []), ("your", ["yours"])],
        ),
        # an alternative belongs to the flag with the same word
        (
            "loose you're",
            [LOOSE, YOURE, {"loose": ("loosen", 0.5)}],
            [("lose", ["loosen"]), ("your", [])],
        ),
        # both flag the same word: one of them remains an alternative
        ("You loose it", [LOOSE, {"loose": ("loosen", 0.5)}], [("lose", ["loosen"])]),
        # if both are corrected, one of the words would be flagged again
        ("loose you're", [LOOSE, YOURE | {"your": ("you", 0.9)}], [("lose", ["your"])]),
    ],
    ids=[
        "one-task",
        "two-tasks",
        "several",
        "two-alternatives",
        "alternative-of-it",
        "same-word",
        "unstable",
    ],
)
def test_restores_a_neighbour_that_is_wrong_beside_the_correction(text, tasks, expected):
    def decide(texts, spans):
        return [decisions(f"t{i}", texts, rules, spans) for i, rules in enumerate(tasks)]

    assert shown(annotated(text, decide), text) == expected


def test_a_neighbour_that_the_correction_makes_right_is_not_restored():
    def decide(texts, spans):
        wrong = [text if "asks" in text else "" for text in texts]  # "They ask" is right
        return [
            decisions("s", wrong, {"They": ("It", 0.5)}, spans),
            decisions("v", texts, {"asks": ("ask", 0.8)}, spans),
        ]

    kept = annotated("They asks", decide)
    assert [replacement for replacement, _ in shown(kept, "They asks")] == ["ask"]


def test_a_flag_that_a_restored_neighbour_explains_is_dropped():
    def decide(texts, spans):
        wrong = [text if "turning" not in text else "" for text in texts]  # "you're turning" is right
        behind = [text if "you're" in text else "" for text in texts]
        return [
            decisions("a", texts, LOOSE, spans),
            decisions("b", wrong, YOURE, spans),
            decisions("c", behind, {"turn": ("turning", 0.5)}, spans),
        ]

    text = "You loose you're turn"
    assert shown(annotated(text, decide), text) == [("lose", []), ("your", [])]


def test_restored_flags_are_no_longer_lost():
    text = "You loose you're turn"
    kept = annotated(text, lambda texts, spans: [decisions("t", texts, LOOSE | YOURE, spans)])
    assert kept[0].raised.tolist() == kept[0].flagged.tolist() == [True, True]
    assert not len(kept[0].settled.lost)


@pytest.mark.parametrize("between", ["\n\n", "\n \n", "\u2029"])
def test_decides_only_the_text_around_a_flag_again(between: str):
    calls = []

    def decide_near(corrected, spans):
        calls.extend(corrected)
        return []

    paragraphs = [f"Paragraph {number} holds nothing but a few words." for number in range(300)]
    paragraphs[150] = "It was a quite place."
    text = between.join(paragraphs)
    verify_flags([text], [decisions("t", [text], {"quite": ("quiet", 0.7)})], decide_near)
    (corrected,) = calls
    assert "It was a quiet place." in corrected
    assert len(corrected) < 600


@pytest.mark.parametrize(
    ("sentence", "least", "most"), [("quite or here {}. ", 50, 500), ("quite or here. ", 3, 40)]
)
def test_many_flags_in_one_paragraph_are_verified_in_small_batches(sentence: str, least: int, most: int):
    """What repeats in the text is decided once."""
    text = "".join(sentence.format(number) for number in range(2_000))
    rules = {"quite": ("quiet", 0.7), "here": ("hear", 0.9)}
    sizes = []

    def decide_near(corrected, spans):
        sizes.append(sum(map(len, corrected)))
        return resolve_overlaps([decisions("t", corrected, rules, spans)], corrected)

    (kept,) = verify_flags([text], [decisions("t", [text], rules)], decide_near)
    assert kept.flagged.sum() == 4_000
    assert least * len(text) < sum(sizes) < most * len(text) and max(sizes) < 5 * len(text)
