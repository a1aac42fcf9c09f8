"""A correction is proposed only if the models would not flag what it writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from disambig.data import Decisions, Group
from disambig.decision import resolve_overlaps
from disambig.models import verify_flags

Rules = dict[str, tuple[str, float]]
"""Words, their replacements, and the probabilities of these."""


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
    certain = np.array([rules[names[word]][1] for word in observed], np.float32)
    zeros = np.zeros(n, np.int32)
    return Decisions(
        task=task, model="toy 1", table=(Group(task, tuple(names)),), documents=documents, starts=starts,
        ends=ends, groups=zeros, observed=observed, chosen=chosen, offsets=np.arange(n + 1) * k,
        scores=np.zeros(n * k, np.float32), margins=np.ones(n, np.float32), probabilities=certain,
        flagged=np.ones(n, bool), found=zeros, asked=zeros,
    )  # fmt: skip


def verified(texts, *tasks: Rules) -> list[str]:

    def decide_near(corrected, spans):
        return resolve_overlaps(
            [decisions(f"t{i}", corrected, rules, spans) for i, rules in enumerate(tasks)], corrected
        )

    separate = [decisions(f"t{i}", texts, rules) for i, rules in enumerate(tasks)]
    return [
        f"{record['task']}: {record['observed']} -> {record['replacement']} ({record['probability']:.1f})"
        for task in verify_flags(texts, separate, decide_near)
        for row in np.flatnonzero(task.flagged)
        for record in [task.record(int(row), texts[task.documents[row]])]
    ]


URL = ["take an url", "take a url"]


@pytest.mark.parametrize(
    ("texts", "tasks", "expected"),
    [
        pytest.param(
            ["a quite place"], [{"quite": ("quiet", 0.7)}], ["t0: quite -> quiet (0.7)"], id="stable"
        ),
        pytest.param(
            URL, [{"an": ("a", 0.8), "a": ("an", 0.6)}], ["t0: an -> a (0.8)"], id="more-certain-wins"
        ),
        pytest.param(URL, [{"an": ("a", 0.7), "a": ("an", 0.7)}], [], id="tie"),
        pytest.param(URL, [{"an": ("a", 0.6)}, {"a": ("an", 0.7)}], ["t1: a -> an (0.7)"], id="two-models"),
        pytest.param(
            ["it is theirs book"],
            [{"theirs": ("there", 0.9), "there": ("their", 0.6)}],
            ["t0: theirs -> their (0.6)"],
            id="final-word",
        ),
        pytest.param(
            ["one of us"], [{"of": ("off", 0.9)}, {"off": ("on", 0.8)}], [], id="no-final-candidate"
        ),
        # "off" would become "on", but "on" would become "off" again, which is more certain
        pytest.param(
            ["one of us"],
            [{"of": ("off", 0.9)}, {"off": ("on", 0.5), "on": ("off", 0.8)}],
            ["t0: of -> off (0.9)"],
            id="unstable-objection",
        ),
        pytest.param(
            ["could of come"],
            [{"of": ("off", 0.9), "off": ("of", 0.95)}, {"of": ("have", 0.5)}],
            ["t1: of -> have (0.5)"],
            id="runner-up",
        ),
    ],
)
def test_verified_flags(texts, tasks, expected):
    assert verified(texts, *tasks) == expected


def test_tries_distant_corrections_one_at_a_time():
    # of neighbours only one is flagged; further apart, both are, and each lasts by itself
    rules = {"quite": ("quiet", 0.7), "loose": ("lose", 0.6)}
    assert len(verified(["a quite place to loose it"], rules)) == 2


@pytest.mark.parametrize(
    ("text", "verbs", "expected"),
    [
        ("They asks", {"asks": ("ask", 0.8)}, ["ask"]),
        ("They" + 20 * " so" + " asks", {"asks": ("ask", 0.8)}, ["It", "ask"]),
        (
            "They asks",
            {"asks": ("ask", 0.8), "ask": ("asks", 0.9)},
            ["It"],
        ),  # the more certain flag is dropped
    ],
    ids=["explained", "too-far", "dropped"],
)
def test_drops_a_flag_that_a_more_certain_neighbour_explains(text: str, verbs: Rules, expected: list[str]):
    def decide(texts, spans=None):
        wrong = [text if "asks" in text else "" for text in texts]  # nothing is wrong with "They ask"
        subjects = decisions("subject", wrong, {"They": ("It", 0.3)}, spans)
        return [subjects, decisions("verb", texts, verbs, spans)]

    kept = verify_flags(
        [text], decide([text]), lambda texts, spans: resolve_overlaps(decide(texts, spans), texts)
    )
    flags = [(task, row) for task in kept for row in np.flatnonzero(task.flagged)]
    assert [task.record(int(row), text)["replacement"] for task, row in flags] == expected


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
