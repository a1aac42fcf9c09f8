"""What is said of decisions whose judge learned from mistakes: why, what was meant, also where no word is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from toy_ways import CLEAN, FIXES, OR_NONE, TEXTS, WHO, fix, trained

from disambig.decision import Mistakes
from disambig.explain import accounts, intended_word, title
from disambig.features import NgramCounts
from disambig.text import Words
from disambig.types import RaisesFlags

TRIED = "Ann went by school soon. Ann went school soon. Ann went to home soon. Ann came by train."
TOO_MANY = [fix(f"{who} went to home soon.", len(who) + 6, "to", "") for who in WHO]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from disambig.counts import build_table

    counts = build_table(tmp_path_factory.mktemp("verdicts") / "t.counts", TEXTS, Words())
    return trained(OR_NONE, NgramCounts(counts=counts), Mistakes(), mistakes=[*FIXES, *TOO_MANY], clean=CLEAN)


def said(model, rate=None, text=TRIED):
    """Return the account of each place, by what stands around it there."""
    return {
        account.place.split(": ", 1)[1]: account for account in accounts(text, model, flags_per_1000=rate)
    }


def one(found, part):
    (account,) = (account for place, account in found.items() if part in place)
    return account


def test_each_edit_is_told_in_words(model):
    found = said(model, 12.0)
    other, missing = one(found, "went [by] school"), one(found, "went [] school soon")
    extra = one(found, "went [to] home")
    assert other.place.endswith(" -> to") and missing.place.endswith(" -> to")
    assert extra.place.endswith(" -> (no word)")
    assert other.flagged and missing.flagged and extra.flagged
    assert extra.lines[1] == "most probably meant: no word, not to"
    assert missing.lines[1].startswith("most probably meant: to inserted")
    assert not any("None" in line or '""' in line for each in found.values() for line in each.lines)


def test_a_judge_that_knows_more_than_the_scores_says_so(model):
    view = Words()([TRIED])
    decided = model.decide(view, flags_per_1000=12.0)
    index = decided.starts.tolist().index(TRIED.index("by school"))
    names = decided.candidate_texts(index)
    scores = decided.scores[slice(*decided.offsets[index : index + 2].tolist())]
    best, chosen = names[scores.argmax()], names[decided.chosen[index]]
    assert (best, chosen) == ("", "to")  # else the test is of nothing
    account = one(said(model, 12.0), "went [by] school")
    assert account.lines[1] == "most probably meant: to, not by, though (no word) has the highest score"
    assert account.tables[1].rows[0][0] == "to"  # the parts are those of what was meant
    assert {row[0] for row in account.tables[1].rows} == {"to", "by"}


def test_nothing_is_proposed_where_nothing_is_flagged(model):
    found = said(model, 0.0)
    for place, account in found.items():
        assert not account.flagged and " -> " not in place
        assert not any(line.startswith("most probably meant") for line in account.lines)
    extra = one(found, "went [to] home")
    assert extra.lines[1] == "if it is a mistake, most probably meant: no word, not to"
    other = one(found, "went [by] school")
    assert other.lines[1].endswith("meant: to, not by, though (no word) has the highest score")


@pytest.mark.parametrize(
    ("flagged", "scores", "told"),
    [
        (False, (-0.4, -11.4), ""),  # what is written is the most probable: there is nothing to tell
        (False, (-11.4, -0.4), ""),
        (True, (-11.4, -0.4), ""),
        (True, (-0.4, -11.4), "most probably meant: an, not a, though a has the highest score"),
    ],
)
def test_what_is_written_and_not_flagged_is_no_surprise(flagged, scores, told):
    decisions = SimpleNamespace(
        offsets=np.array([0, 2]),
        scores=np.array(scores),
        observed=np.array([0]),
        flagged=np.array([flagged]),
        candidate_texts=lambda index: ("a", "an"),
    )
    assert intended_word(decisions, 0, 1) == told


@pytest.mark.parametrize("rate", [0.05, 0.5, 2.0, 12.0])
def test_probability_and_threshold_are_those_of_the_decision(model, rate):
    assert isinstance(model.judge, RaisesFlags)
    limit = model.judge.limit(rate)
    decided = model.decide(Words()([TRIED]), flags_per_1000=rate)
    for index in decided.shown.nonzero()[0].tolist():
        start = int(decided.starts[index])
        (account,) = (each for each in accounts(TRIED, model, flags_per_1000=rate) if _at(each) == start)
        sure, verdict = float(decided.probabilities[index]), account.lines[0]
        assert account.flagged == bool(decided.flagged[index]) == (sure > limit)
        number = f"{sure:.3f}" if sure >= 0.01 else f"{sure:.2g}"
        if account.flagged:
            assert verdict.startswith(f"flagged: probability {number} of an error, ")
        else:
            assert verdict.startswith(f"not flagged: probability {number} of an error is below the threshold")


def _at(account):
    return int(account.place.split("-")[0])


def test_where_no_n_gram_is_known_that_is_the_reason(model):
    (account,) = said(model, 12.0, "Zonk vonk to fonk gonk.").values()
    assert not account.flagged and account.lines == (
        "not flagged: no evidence, none of 18 n-grams is in the table",
    )


def test_no_flags_at_all(model):
    for account in said(model, 0.0).values():
        assert not account.flagged and "below the threshold 1.000" in account.lines[0]
    assert "0 flags per 1,000 words" in title(model, flags_per_1000=0.0)
