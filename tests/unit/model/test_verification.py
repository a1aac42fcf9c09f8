"""A correction is proposed only if the models would not flag what it writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from disambig.data import Decisions, Group
from disambig.decision import resolve_overlaps
from disambig.models import verify_flags

Rules = dict[str, tuple[str, float]]
"""Words and what they are replaced by, with the probability of that."""


def decisions(task: str, texts, rules: Rules, spans=None) -> Decisions:
    """Return the flags of a task that replaces words by its rules, near some spans or everywhere."""
    names = sorted({*rules, *(new for new, _ in rules.values())})
    rows = [
        (number, *match.span(), names.index(match[0]))
        for number, text in enumerate(texts)
        for match in re.finditer(r"[\w'&]+", text)
        if match[0] in rules
        and (
            spans is None
            or any(start <= match.end() and match.start() <= end for start, end in spans[number])
        )
    ]
    documents, starts, ends, observed = np.array(rows, np.int32).reshape(-1, 4).T
    n, k = len(rows), len(names)
    chosen = np.array([names.index(rules[names[word]][0]) for word in observed], np.int32)
    sure = np.array([rules[names[word]][1] for word in observed], np.float32)
    zeros = np.zeros(n, np.int32)
    return Decisions(
        task=task, model="toy 1", table=(Group(task, tuple(names)),), documents=documents, starts=starts,
        ends=ends, groups=zeros, observed=observed, chosen=chosen, offsets=np.arange(n + 1) * k,
        scores=np.zeros(n * k, np.float32), margins=np.ones(n, np.float32), probabilities=sure,
        flagged=np.ones(n, bool), found=zeros, asked=zeros,
    )  # fmt: skip


def verified(texts, *tasks: Rules) -> list[str]:
    asked = []

    def decide_near(corrected, spans):
        asked.append((list(corrected), spans))
        return resolve_overlaps(
            [decisions(f"t{i}", corrected, rules, spans) for i, rules in enumerate(tasks)], corrected
        )

    separate = [decisions(f"t{i}", texts, rules) for i, rules in enumerate(tasks)]
    return [
        f"{record['task']}: {record['observed']} -> {record['replacement']} ({record['probability']:.1f})"
        for of_task in verify_flags(texts, separate, decide_near)
        for row in np.flatnonzero(of_task.flagged)
        for record in [of_task.record(int(row), texts[of_task.documents[row]])]
    ]


def test_a_correction_that_lasts_is_proposed():
    assert verified(["a quite place"], {"quite": ("quiet", 0.7)}) == ["t0: quite -> quiet (0.7)"]


def test_of_two_words_that_are_corrected_to_each_other_the_surer_correction_stands():
    rules = {"an": ("a", 0.8), "a": ("an", 0.6)}
    assert verified(["take an url", "take a url"], rules) == ["t0: an -> a (0.8)"]


def test_if_both_are_equally_sure_neither_is_proposed():
    assert verified(["take an url", "take a url"], {"an": ("a", 0.7), "a": ("an", 0.7)}) == []


def test_two_models_that_disagree():
    an, a = {"an": ("a", 0.6)}, {"a": ("an", 0.7)}
    assert verified(["take an url", "take a url"], an, a) == ["t1: a -> an (0.7)"]


def test_the_word_that_is_wanted_in_the_end_is_proposed():
    rules = {"theirs": ("there", 0.9), "there": ("their", 0.6)}
    assert verified(["it is theirs book"], rules) == ["t0: theirs -> their (0.6)"]


def test_without_such_a_candidate_nothing_is_proposed():
    assert verified(["one of us"], {"of": ("off", 0.9)}, {"off": ("on", 0.8)}) == []


def test_a_wish_that_does_not_last_itself_is_no_objection():
    # "off" would become "on", but "on" would become "off" again, and that is surer
    rules = {"of": ("off", 0.9)}, {"off": ("on", 0.5), "on": ("off", 0.8)}
    assert verified(["one of us"], *rules) == ["t0: of -> off (0.9)"]


def test_a_flag_that_lost_against_one_that_was_dropped_takes_its_place():
    surer = {"of": ("off", 0.9), "off": ("of", 0.95)}
    assert verified(["could of come"], surer, {"of": ("have", 0.5)}) == ["t1: of -> have (0.5)"]


def test_two_corrections_side_by_side_are_tried_one_at_a_time():
    # of neighbours only one is flagged; further apart, both are, and each lasts by itself
    rules = {"quite": ("quiet", 0.7), "loose": ("lose", 0.6)}
    assert len(verified(["a quite place to loose it"], rules)) == 2


@pytest.mark.parametrize(
    "text, expected", [("They asks", ["ask"]), ("They" + 20 * " so" + " asks", ["It", "ask"])]
)
def test_a_flag_that_a_surer_one_beside_it_explains_is_dropped(text: str, expected: list[str]):
    def decide(texts, spans=None):
        wrong = [each if "asks" in each else "" for each in texts]  # nothing is wrong with "They ask"
        subjects = decisions("subject", wrong, {"They": ("It", 0.3)}, spans)
        return [subjects, decisions("verb", texts, {"asks": ("ask", 0.8)}, spans)]

    kept = verify_flags(
        [text], decide([text]), lambda texts, spans: resolve_overlaps(decide(texts, spans), texts)
    )
    assert [
        new
        for of_task in kept
        for row in np.flatnonzero(of_task.flagged)
        for new in [of_task.record(int(row), text)["replacement"]]
    ] == expected


def test_a_flag_is_raised_if_the_surer_one_that_explains_it_is_dropped():
    text = "They asks"

    def decide(texts, spans=None):
        wrong = [each if "asks" in each else "" for each in texts]
        subjects = decisions("subject", wrong, {"They": ("It", 0.3)}, spans)
        return [subjects, decisions("verb", texts, {"asks": ("ask", 0.8), "ask": ("asks", 0.9)}, spans)]

    kept = verify_flags(
        [text], decide([text]), lambda texts, spans: resolve_overlaps(decide(texts, spans), texts)
    )
    assert [int(of_task.flagged.sum()) for of_task in kept] == [1, 0]


@pytest.mark.parametrize("between", ["\n\n", "\n \n", "\u2029"])
def test_only_the_text_around_a_flag_is_decided_again(between: str):
    seen = []

    def decide_near(corrected, spans):
        seen.extend(corrected)
        return []

    paragraphs = [f"Paragraph {number} holds nothing but a few words." for number in range(300)]
    paragraphs[150] = "It was a quite place."
    text = between.join(paragraphs)
    verify_flags([text], [decisions("t", [text], {"quite": ("quiet", 0.7)})], decide_near)
    (corrected,) = seen
    assert "It was a quiet place." in corrected
    assert len(corrected) < 600
