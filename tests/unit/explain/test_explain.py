"""Explanations: verdicts, names of features, rows of batches, n-grams."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from toy_learners import Constant, MeanDifference
from toy_plugin import Marks
from toy_ways import CLEAN, FIXES, OR_NONE, TEXTS, WHO, fix, trained

from disambig.counts import build_table
from disambig.data import CrossedRows, DenseBlocks, DenseLists, JoinedRows, Ragged, SparseRows, numbered
from disambig.decision import Mistakes
from disambig.explain import (
    Contribution,
    NgramPair,
    accounts,
    candidate_row,
    compare_ngrams,
    counted_ngrams,
    explain_decision,
    flag_evidence,
    intended_word,
    ngram_pairs,
    ngram_sentence,
    strongest,
    title,
    with_names,
)
from disambig.features import ContextWindow, NgramCounts, Subsequences, Tfidf
from disambig.formats import Labelled
from disambig.models import LinearScorer, Model, ModelSource
from disambig.text import Words
from disambig.training import train_labelled
from disambig.types import FeatureEvidence, RaisesFlags

TRIED = "Ann went by school soon. Ann went school soon. Ann went to home soon. Ann came by train."
TOO_MANY = [fix(f"{who} went to home soon.", len(who) + 6, "to", "") for who in WHO]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    counts = build_table(tmp_path_factory.mktemp("verdicts") / "t.counts", TEXTS, Words())
    return trained(OR_NONE, NgramCounts(counts=counts), Mistakes(), mistakes=[*FIXES, *TOO_MANY], clean=CLEAN)


def accounts_by_place(model, rate=None, text=TRIED):
    """Return the explanations by the text around their places."""
    return {
        account.place.split(": ", 1)[1]: account for account in accounts(text, model, flags_per_1000=rate)
    }


def get_account(by_place, part):
    (account,) = (account for place, account in by_place.items() if part in place)
    return account


def test_describes_each_edit_in_words(model):
    result = accounts_by_place(model, 12.0)
    other, missing = get_account(result, "went [by] school"), get_account(result, "went [] school soon")
    extra = get_account(result, "went [to] home")
    assert other.place.endswith(" -> to") and missing.place.endswith(" -> to")
    assert extra.place.endswith(" -> (no word)")
    assert other.flagged and missing.flagged and extra.flagged
    assert extra.lines[1] == 'most probably meant: no word, not "to"'
    assert missing.lines[1].startswith('most probably meant: "to" inserted')
    assert not any("None" in line or '""' in line for item in result.values() for line in item.lines)


def test_says_if_the_intended_word_does_not_have_the_highest_score(model):
    view = Words()([TRIED])
    decided = model.decide(view, flags_per_1000=12.0)
    index = decided.starts.tolist().index(TRIED.index("by school"))
    names = decided.candidate_texts(index)
    scores = decided.scores[slice(*decided.offsets[index : index + 2].tolist())]
    best, chosen = names[scores.argmax()], names[decided.chosen[index]]
    assert (best, chosen) == ("", "to")  # otherwise nothing is tested
    account = get_account(accounts_by_place(model, 12.0), "went [by] school")
    assert account.lines[1] == 'most probably meant: "to", not "by", though (no word) has the highest score'
    assert account.tables[1].rows[0][0] == "to"  # the contributions are those of the intended word
    assert {row[0] for row in account.tables[1].rows} == {"to", "by"}


def test_says_if_the_task_knows_a_mistake_by_a_rule(model):
    class ByRule(type(model.task)):
        def certain_mistakes(self, view, instances):
            rows = np.flatnonzero(
                instances.positions == np.searchsorted(view.starts, TRIED.index("by train"))
            )
            return rows, np.zeros(len(rows), np.int32), np.full(len(rows), 0.99)

    task = ByRule(**{field.name: getattr(model.task, field.name) for field in fields(model.task)})
    result = accounts_by_place(replace(model, task=task))
    mistake, other = get_account(result, "came [by] train"), get_account(result, "went [by] school")
    assert mistake.flagged and mistake.lines[1:] == (
        "the task knows this mistake by a rule of its own, whatever the scores",
    )
    assert not any("rule" in line for line in other.lines)


def test_proposes_nothing_without_a_flag(model):
    result = accounts_by_place(model, 0.0)
    for place, account in result.items():
        assert not account.flagged and " -> " not in place
        assert not any(line.startswith("most probably meant") for line in account.lines)
    extra = get_account(result, "went [to] home")
    assert extra.lines[1] == 'if it is a mistake, most probably meant: no word, not "to"'
    other = get_account(result, "went [by] school")
    assert other.lines[1].endswith('meant: "to", not "by", though (no word) has the highest score')


@pytest.mark.parametrize(
    ("flagged", "scores", "expected"),
    [
        (False, (-0.4, -11.4), ""),  # the written word is the most probable one, so nothing is explained
        (False, (-11.4, -0.4), ""),
        (True, (-11.4, -0.4), ""),
        (True, (-0.4, -11.4), 'most probably meant: "an", not "a", though "a" has the highest score'),
    ],
)
def test_intended_word(flagged, scores, expected):
    decisions = SimpleNamespace(
        offsets=np.array([0, 2]),
        scores=np.array(scores),
        observed=np.array([0]),
        flagged=np.array([flagged]),
        candidate_texts=lambda index: ("a", "an"),
    )
    assert intended_word(decisions, 0, 1) == expected


@pytest.mark.parametrize("rate", [0.05, 0.5, 2.0, 12.0])
def test_reports_probability_and_threshold_of_the_decision(model, rate):
    assert isinstance(model.judge, RaisesFlags)
    limit = model.judge.limit(rate)
    decided = model.decide(Words()([TRIED]), flags_per_1000=rate)
    for index in decided.shown.nonzero()[0].tolist():
        start = int(decided.starts[index])
        (account,) = (item for item in accounts(TRIED, model, flags_per_1000=rate) if _at(item) == start)
        sure, verdict = float(decided.probabilities[index]), account.lines[0]
        assert account.flagged == bool(decided.flagged[index]) == (sure > limit)
        number = f"{sure:.3f}" if sure >= 0.01 else f"{sure:.2g}"
        if account.flagged:
            assert verdict.startswith(f"flagged: probability {number} of an error, ")
        else:
            assert verdict.startswith(f"not flagged: probability {number} of an error is below the threshold")


def _at(account):
    return int(account.place.split("-")[0])


def test_reports_missing_evidence(model):
    (account,) = accounts_by_place(model, 12.0, "Zonk vonk to fonk gonk.").values()
    assert not account.flagged and account.lines == (
        "not flagged: no evidence, none of 18 n-grams are in the table",
    )


def test_rate_of_zero(model):
    for account in accounts_by_place(model, 0.0).values():
        assert not account.flagged and "below the threshold 1.000" in account.lines[0]
    assert "0 flags per 1,000 words" in title(model, flags_per_1000=0.0)


LABELLED_TEXTS = [(f"It was quite {word} .", "quite") for word in ("late", "old", "cold")]
LABELLED_TEXTS += [(f"The quite {word} slept .", "quiet") for word in ("girl", "dog", "man")]

EXAMPLES = [
    Labelled(text, text.index("quite"), text.index("quite") + 5, label, text)
    for text, label in LABELLED_TEXTS
]

LABELLED_TEXT = "It was quite old ."
CONTEXT_WORDS = {"it", "was", "old", "."}


def label_model(*extractors) -> Model:
    parts = {
        "task": Marks(("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): item for i, item in enumerate(extractors)},
        "learner": MeanDifference(),
        "baseline": Constant(),
    }
    return train_labelled(parts, EXAMPLES, name="marks")


def reasons(label_model):
    view = Words()([LABELLED_TEXT])
    return explain_decision(with_names(label_model, view), view, 0)


def test_recovers_names_of_a_context_window():
    bare, named = ContextWindow(window=1, named=False), ContextWindow(window=1, named=True)
    result, expected = reasons(label_model(bare)), reasons(label_model(named))
    assert result == expected and {"word-1=was", "word+1=old"} <= {item.evidence for item in result}
    reference = bare.fit(*_material()).with_names(*_material(1)).seen
    assert sum(map(bool, reference.names)) < len(reference) == len(reference.names)


def _material(n=6):
    view = Words()([text for text, _ in LABELLED_TEXTS[:n]])
    task = Marks(("quite/quiet",))
    return (view, task.instances(view), task.groups)[: 3 if n > 1 else 2]


@pytest.mark.parametrize("settings", [{"named": False}, {"bits": 12}, {"bits": 12, "sublinear_tf": True}])
def test_recovers_words_of_tfidf(settings):
    shown = {item.evidence for item in reasons(label_model(Tfidf(around=3, min_documents=1, **settings)))}
    assert shown >= {"was", "old"} and shown <= {*CONTEXT_WORDS, "It", "quite", "bias"}


def test_keeps_names_of_features():
    for extractor in (ContextWindow(named=True), Tfidf(min_documents=1)):
        fitted = extractor.fit(*_material())
        assert fitted.with_names(*_material(1)) is fitted


def test_names_features_of_two_extractors():
    joined = label_model(ContextWindow(window=1), Tfidf(around=3, min_documents=1, named=False, name="words"))
    (account,) = accounts(LABELLED_TEXT, joined)
    shown = " ".join(" ".join(map(str, row)) for table in account.tables for row in table.rows)
    assert "word-1=was (local)" in shown and "old (words)" in shown


def test_finds_evidence_of_columns_that_are_shown_with_their_group():
    class Counted(ContextWindow):
        def evidence(self, view, instances, group):
            return {(word, "word-1=was"): FeatureEvidence("was before", 7) for word in group.candidates}

    words = Tfidf(around=3, min_documents=1, name="words")
    shown = {item.evidence: item.count for item in reasons(label_model(Counted(window=1), words))}
    assert shown["was before"] == 7 and shown["was (words)"] is None


def test_small_weights_are_shown_with_more_decimals():
    """A strongly regularised learner gives tiny weights, which decide nevertheless."""
    usual = label_model(ContextWindow(window=1))
    small = [LinearScorer(scorer.weights / 10_000) for scorer in usual.scorers]
    models = usual, replace(usual, scorers=tuple(small))
    (expected,), (account,) = (list(accounts(LABELLED_TEXT, model)) for model in models)
    for table, large in zip(account.tables, expected.tables, strict=True):
        top = slice(2)  # the largest, and nothing that the decision rule adds
        values, wanted = (np.array([float(row[-1]) for row in t.rows[top]]) for t in (table, large))
        assert values.all()
        np.testing.assert_allclose(values, wanted / 10_000, rtol=0.1)


def test_says_if_a_feature_has_no_name():
    nameless = label_model(Subsequences(window=2))
    assert {item.evidence.split()[0] for item in reasons(nameless)} == {"feature"}
    assert all("it has no name" in item.evidence for item in reasons(nameless))
    view = Words()([LABELLED_TEXT])
    np.testing.assert_equal(explain_decision(nameless, view, 0), reasons(nameless))


RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(3, 4)).astype(np.float32)
OFFSETS, COST = np.array([0, 3]), np.zeros(3, np.float32)
DENSE = DenseLists(VALUES, OFFSETS, COST, numbered(4))
SPARSE = SparseRows(csr_array(VALUES), OFFSETS, COST, numbered(4))

BATCHES = [
    DENSE,
    SPARSE,
    DenseBlocks(VALUES[None], np.arange(12).reshape(3, 4), numbered(12), COST[None]),
    CrossedRows(VALUES[:1], COST[None], numbered(12)),
    CrossedRows(csr_array(VALUES[:1]), COST[None], numbered(12)),
    CrossedRows(csr_array(VALUES[:1]), COST, numbered(20), Ragged(np.array([2, 0, 4]), OFFSETS)),
    JoinedRows.from_parts([DENSE, SPARSE]),
]


def test_row_contributions_sum_to_the_score():
    for batch in BATCHES:
        weights = RNG.normal(size=len(batch.columns))
        for r, score in enumerate(batch.scores(weights)):
            columns, values = candidate_row(batch, r)
            np.testing.assert_allclose(weights[columns] @ np.asarray(values), score, rtol=1e-5)


@pytest.fixture(scope="module")
def models():
    return {model.task.name: model for model in ModelSource().correcting_models()}


def test_compares_ngrams_of_both_words(models):
    text = "The weather was better then we had hoped."
    start = text.index("then")
    result = compare_ngrams(models["slip"], text, start, start + 4, "than")
    actual = {(item.written, item.proposed) for item in result}
    assert ("better then", "better than") in actual
    assert all(item.written.replace("then", "than") == item.proposed for item in result)
    assert all(item.written_count or item.proposed_count for item in result)
    assert ngram_sentence(result).startswith('"better than" was seen ')


def test_compares_ngrams_of_a_missing_word_and_of_an_undecided_place(models):
    text = "A large number people ate."
    start = text.index("people")
    result = compare_ngrams(models["preposition"], text, start, start, "of")
    pairs = [
        ([word for word in item.written.split() if word != "_"], item.proposed.split()) for item in result
    ]
    assert (["number", "people"], ["number", "of", "people"]) in pairs
    assert all(written == [word for word in proposed if word != "of"] for written, proposed in pairs)
    assert "<0>" not in str(result)
    assert compare_ngrams(models["slip"], text, 0, 1, "than") == []


def test_first_table_gives_the_count_of_an_ngram():
    """N-grams of the text and n-grams of head words can consist of the same words."""
    parts = [("listen to", 5, ". _"), ("listen to", 3, "governor _"), ("listen <0>", 2, "verb _")]
    reasons = [Contribution("to", text, 1.0, n, 1.0, 1.0, 1, attribute) for text, n, attribute in parts]
    reasons += [
        Contribution("to", "bias", 1.0, None, 1.0, 1.0),
        Contribution("at", "listen at", 1.0, 9, 1.0, 1.0),
    ]
    ngrams = [(item.evidence, item.count) for item in counted_ngrams(reasons, "to")]
    assert ngrams == [("listen to", 5), ("listen _", 2)]


def test_evidence_of_a_flag_has_the_counts_of_its_ngrams(models):
    text = "We were waiting at the bus for an hour."
    start = text.index("at")
    pairs = compare_ngrams(models["preposition"], text, start, start + 2, "for")
    shown = {
        (item.ngram, item.count)
        for item in flag_evidence(models["preposition"], text, start, start + 2, "for").counts
    }
    both = [(item.written, item.written_count) for item in pairs]
    both += [(item.proposed, item.proposed_count) for item in pairs]
    assert shown
    assert {item for item in shown if item[1]} <= set(both)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (NgramPair("b", 0, "a", 5000, None), '"b" is not stored.'),
        (NgramPair("b", 0, "a", 5000, 1), '"b" never.'),
        (NgramPair("b", 0, "a", 5000, 3), '"b" fewer than 3 times.'),
        (NgramPair("b", 1, "a", 5000), '"b" only once.'),
        (NgramPair("b", 1200, "a", 5000), '"b" only 1,200 times.'),
    ],
    ids=str,
)
def test_sentence_names_the_strongest_pair(pair, expected):
    sentence = f'"a" was seen 5,000 times in the counted text, {expected}'
    assert ngram_sentence([NgramPair("x", 10, "y", 11), pair]) == sentence
    assert ngram_sentence([NgramPair("x", 11, "y", 10)]) == ngram_sentence([]) == ""


def test_strongest_pairs_favour_the_proposal_within_the_sentence():
    pairs = [
        NgramPair("a b", 9, "a c", 10),
        NgramPair("<S> b", 0, "<S> c", 10**6),
        NgramPair("b d", 5, "c d", 500),
        NgramPair("b e", 500, "c e", 5),
        NgramPair("b </S>", 1, "c </S>", 10**6),
        NgramPair("f b", 0, "f c", 40, 3),
    ]
    assert [item.proposed for item in strongest(pairs, 5)] == ["c d", "f c", "a c"]
    assert strongest(pairs, 1) == [pairs[2]]
    assert ngram_sentence(pairs).startswith('"c d" was seen 500 times')
    assert ngram_sentence(pairs[1:2]) == ""


@pytest.mark.parametrize(
    ("count", "least", "most"), [(7, 3, 7), (7, None, 7), (0, 3, 2), (0, 1, 0), (0, None, None)]
)
def test_upper_bound_of_counts(count, least, most):
    assert NgramPair("b", count, "a", 9, least).at_most == most


def test_pairs_contributions_by_attribute():
    def part(word, text, count, attribute):
        return Contribution(word, text, 1.0, count, 1.0, 1.0, 2, attribute)

    reasons = [part("of", "full of", 8, ". _"), part("off", "full off", 0, ". _")]
    reasons += [part("of", "of it", 0, "_ ."), part("off", "off it", 0, "_ ."), part("of", "x of", 3, "x")]
    assert ngram_pairs(reasons, "off", "of") == [NgramPair("full off", 0, "full of", 8, 2)]
