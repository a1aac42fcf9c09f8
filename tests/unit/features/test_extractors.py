"""Every extractor of the core fulfils the contract; violations are reported."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from feature_places import EveryToken
from toy_cloze import random_cloze
from toy_learners import Constant, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs
from toy_texts import SENTENCES
from toy_ways import OwnLists

from disambig.api import Features
from disambig.counts import write_table
from disambig.data import (
    CandidateLists,
    CandidateWords,
    Columns,
    DenseBlocks,
    DenseLists,
    Group,
    GroupedInstances,
)
from disambig.errors import UserError
from disambig.features import (
    HEADWORD_TOKENISATION,
    ContextProbabilities,
    ContextWindow,
    ContextWords,
    ExtractorChoice,
    HeadwordBigrams,
    HeadwordCounter,
    Headwords,
    MissingWordOdds,
    NgramCounts,
    PartsOfSpeech,
    SentenceWords,
    SourceFeatures,
    StatelessExtractor,
    Subsequences,
    TextNgrams,
    Tfidf,
    TokenContext,
    WordClasses,
    WordNetwork,
    WordsInContext,
    WordVectors,
    by_group,
    fit_checked,
    learn_gaps,
    transform_checked,
)
from disambig.formats import list_instances
from disambig.registry import load_all
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import SpacyTokens, Words, hash_words
from disambig.training import train
from disambig.types import Decides

TASK = Pairs(("quite/quiet",))
VIEW = Words()(["It is quite quiet here.", "A quiet place."])
INSTANCES = TASK.instances(VIEW)
N = len(INSTANCES)


def plain_columns(batch):
    """Return the columns of a batch with one feature group and names."""
    names = [f"column {number}" for number in range(len(batch.columns))]
    return Columns(batch.columns.labels, np.zeros(len(names), np.int32), ("all",), names)


@dataclass(frozen=True, eq=False)
class Faulty(NearbyWords):
    """Nearby words with one fault."""

    fault: str = ""

    def fit(self, view, instances, groups):
        if self.fault == "fit":
            return None
        if self.fault == "no state":
            return Stateless()
        return replace(self, vocabulary=super().fit(view, instances, groups).vocabulary)

    def transform_group(self, view, instances, group):
        result = super().transform_group(view, instances, group)
        n, columns = len(result.n_hits), plain_columns(result.batch)
        changes = {
            "rows": {"batch": result.batch.take(np.arange(len(instances) - 1))},
            "length": {"n_hits": result.n_hits[:-1]},
            "queries": {"n_queries": np.append(result.n_queries, np.int32(1)).astype(np.int32)},
            "dtype": {"n_hits": result.n_hits.astype(float)},
            "list": {"n_hits": [0] * n},
            "table": {"n_hits": result.n_hits.reshape(-1, 2)},
            "flat": {"batch": replace(result.batch, costs=result.batch.costs.ravel())},
            "names": {"batch": replace(result.batch, columns=replace(columns, names=["one"]))},
            "no names": {"batch": replace(result.batch, columns=replace(columns, names=None))},
            "one name": {"batch": replace(result.batch, columns=replace(columns, group_names="all"))},
            "no groups": {"batch": replace(result.batch, columns=replace(columns, groups=None))},
            "groups": {"batch": replace(result.batch, columns=replace(columns, groups=columns.groups[1:]))},
            "group names": {"batch": replace(result.batch, columns=replace(columns, group_names=()))},
            "costs": {"batch": replace(result.batch, costs=1 - result.batch.costs)},
        }
        if self.fault == "tuple":
            return result.batch, result.n_hits
        return replace(result, **changes[self.fault])


class ForTables(NearbyWords):
    """Nearby words whose `transform` does not return features for each group."""

    answer: object = None

    def transform(self, view, table):
        return self.answer


@pytest.mark.parametrize(("answer", "seen"), [(None, "None"), ([], "a list of 0")])
def test_a_table_gives_features_for_each_group(answer, seen):
    extractor = ForTables()
    object.__setattr__(extractor, "answer", answer)
    with pytest.raises(UserError, match=f"D414.*transform returned {seen}; expected a list of 1 Features"):
        transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])


def test_transform_may_have_the_parameters_of_earlier_releases():
    class Earlier:
        def transform(self, view, instances, group):
            return fitted.transform_group(view, instances, group)

    fitted = NearbyWords().fit(VIEW, INSTANCES, TASK.groups)
    features = transform_checked(Earlier(), VIEW, INSTANCES, TASK.groups[0])
    assert len(features.batch.offsets) == len(INSTANCES) + 1


def test_an_extractor_for_one_group_is_fitted_with_its_decorator_alone():
    class ForOneGroup(NearbyWords):
        def transform(self, view, instances, group):
            return self.transform_group(view, instances, group)

    class Undecorated(NearbyWords):
        def fit(self, view, instances, groups):
            return ForOneGroup(self.reach, super().fit(view, instances, groups).vocabulary)

    for extractor in (ForOneGroup(), Undecorated()):
        message = (
            "D414.*the extractor ForOneGroup: transform takes .* a single group; expected @by_group above"
        )
        with pytest.raises(UserError, match=message):
            fit_checked(extractor, VIEW, INSTANCES, TASK.groups)
    with pytest.raises(AssertionError, match="expected @by_group above it"):
        dict(check_extractor(ForOneGroup(), TASK, SENTENCES))["keeps_its_contract"]()


class Dense(StatelessExtractor):
    """Class blocks with values of the test's choice."""

    def __init__(self, change):
        self.change = change

    @by_group
    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        columns = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("all",))
        values = self.change(np.ones((n, k, 1), np.float32))
        costs = instances.costs(group).reshape(n, k)
        none = np.zeros(n * k, np.int32)
        return Features(DenseBlocks(values, np.zeros((k, 1), np.int64), columns, costs), none, none)


@pytest.mark.parametrize(
    ("change", "seen", "wanted"),
    [
        (lambda values: values.astype(object), "an array of object .* as values", "an array of numbers"),
        (lambda values: values.astype(str), "an array of <U32 .* as values", "an array of numbers"),
        (
            lambda values: np.concatenate([values, values[:1]]),
            rf"values of shape \({N + 1}, 2, 1\) and costs of shape \({N}, 2\)",
            rf"values of shape \({N}, 2, number of attributes\)",
        ),
    ],
)
def test_values_of_class_blocks_are_numbers_for_each_candidate(change, seen, wanted):
    with pytest.raises(UserError, match=f"D414.*the extractor Dense: transform gave .*{seen}; .*{wanted}"):
        transform_checked(Dense(change), VIEW, INSTANCES, TASK.groups[0])


def test_random_features_are_not_blamed_on_the_state():
    rng = np.random.default_rng(0)
    extractor = Dense(lambda values: rng.random(values.shape))
    with pytest.raises(
        UserError, match=r"D414.*gave other features for the same instances; .* random numbers"
    ):
        fit_checked(extractor, VIEW, INSTANCES, TASK.groups)


class Cheating(StatelessExtractor):
    """An extractor whose only feature is the right label."""

    @by_group
    def transform(self, view, instances, group):
        k = len(group.candidates)
        right = (np.arange(k) == instances.observed[:, None]).astype(np.float32)[:, :, None]
        return Dense(lambda _: right).transform(view, GroupedInstances.from_parts([(instances, group)]))[0]


def test_features_that_contain_the_label_fail_the_contract():
    checks = dict(check_extractor(Cheating(), Marks(), SENTENCES))
    with pytest.raises(AssertionError, match="without observed candidates"):
        checks["does_not_use_labels"]()
    dict(check_extractor(NearbyWords(), Marks(), SENTENCES))["does_not_use_labels"]()
    message = "D414.*the extractor Cheating: transform gave other features without the right labels"
    with pytest.raises(UserError, match=message):
        fit_checked(Cheating(), VIEW, INSTANCES, TASK.groups, labels=True)
    fit_checked(Cheating(), VIEW, INSTANCES, TASK.groups)  # the words of a text are known
    fit_checked(NearbyWords(), VIEW, INSTANCES, TASK.groups, labels=True)


class Stateless:
    """A fitted extractor that cannot be saved."""

    def transform(self, view, instances, group):
        raise NotImplementedError

    def from_state(self, arrays):
        return self


INTEGERS = f"an integer array of shape ({2 * N},)"
FLAT = f"an array of float32 of shape ({2 * N},)"


@pytest.mark.parametrize(
    ("fault", "seen", "contract"),
    [
        ("tuple", "transform returned a tuple", "Features"),
        ("rows", f"transform gave {N - 1} instances with {2 * N - 2} rows", f"{N} with {2 * N}, one row per"),
        (
            "length",
            f"n_hits of Features is an array of int32 of shape ({2 * N - 1},)",
            f"{INTEGERS}, one per",
        ),
        ("queries", f"n_queries of Features is an array of int32 of shape ({2 * N + 1},)", INTEGERS),
        ("dtype", f"n_hits of Features is an array of float64 of shape ({2 * N},)", INTEGERS),
        ("flat", f"transform gave CrossedRows with {FLAT} as costs", f"costs of shape ({N}, 2), one row per"),
        ("list", "n_hits of Features is a list", INTEGERS),
        ("table", f"n_hits of Features is an array of int32 of shape ({N}, 2)", INTEGERS),
    ],
)
def test_the_result_of_transform_is_checked(fault, seen, contract):
    extractor = Faulty(fault=fault).fit(VIEW, INSTANCES, TASK.groups)
    with pytest.raises(UserError) as caught:
        transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])
    message = str(caught.value)
    assert caught.value.code == "D414" and "\n" not in message
    assert message.startswith(f"[D414] the extractor Faulty: {seen}; expected {contract}")


def test_the_result_of_fit_is_checked():
    for fault, seen in (("fit", "None"), ("no state", "a Stateless, which has no method state")):
        with pytest.raises(UserError, match="D414") as caught:
            fit_checked(Faulty(fault=fault), VIEW, INSTANCES, TASK.groups)
        message = f"the extractor Faulty: fit returned {seen}; expected a fitted extractor"
        assert message in str(caught.value)
    extractor = fit_checked(NearbyWords(), VIEW, INSTANCES, TASK.groups)
    result = transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])
    assert result.n_hits.shape == (2 * N,)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("names", r"its columns have (\d+) labels and 1 names; expected Columns with \1 names"),
        ("no names", r"names of its columns is None; expected a sequence of names, one per column, or \(\)"),
        ("one name", "group_names of its columns is 'all'; expected a tuple of names"),
        ("no groups", "groups of its columns is None; expected an array"),
        ("groups", r"its columns have (\d+) labels and \d+ groups; expected Columns with \1 groups"),
        ("group names", "a column is of feature group 0, with 0 in group_names"),
        ("costs", r"the cost of candidate 0 is \d; expected \d, as in instances.costs"),
    ],
)
def test_columns_and_costs_are_checked_after_fit(fault, message):
    with pytest.raises(UserError, match=f"D414.*{message}"):
        fit_checked(Faulty(fault=fault), VIEW, INSTANCES, TASK.groups)


def test_per_instance_candidates_have_one_row_each():
    """Rows by group are not accepted as rows by list, even if their total number is the same."""
    lists = CandidateLists.from_texts([["a"], ["a", "b", "c"], ["a", "b"]])
    assert lists.offsets[-1] == 2 * N
    extractor = NearbyWords().fit(VIEW, INSTANCES, TASK.groups)
    message = f"D414.*{N} instances with {2 * N} rows; expected {N} with {2 * N}"
    with pytest.raises(UserError, match=message):
        transform_checked(extractor, VIEW, replace(INSTANCES, lists=lists), TASK.groups[0])


@pytest.mark.parametrize("fault", ["rows", "length", "dtype", "fit", "no state"])
def test_training_names_the_faulty_extractor(fault):
    parts = {"task": TASK, "tokenisation": Words(), "extractors": {"near": Faulty(fault=fault)}}
    parts |= {"learner": Perceptron(), "baseline": Constant()}
    with pytest.raises(UserError, match=r"D414.*the extractor Faulty"):
        train(parts, {"train": SENTENCES * 3, "dev": SENTENCES}, name="t", min_examples=2)


def test_a_choice_has_at_least_two_extractors():
    assert ExtractorChoice({"a": Tfidf(kept=2), "b": Tfidf(kept=1)}).first.kept == 2
    with pytest.raises(UserError, match="D518"):
        ExtractorChoice({"a": Tfidf()})


@pytest.fixture(scope="module")
def files(tmp_path_factory, small_table) -> dict[str, Path]:
    """Return the files that some extractors need."""
    folder = tmp_path_factory.mktemp("extractors")
    random_cloze(["the", "quite", "quiet", "was", "it", "a", ".", ","]).save(folder / "cloze")
    gaps = learn_gaps([Words()(SENTENCES)] * 8, ["quite", "quiet"], bits=10, header={"licence": "none"})
    gaps.save(folder / "gaps")
    parts = PartsOfSpeech.from_words({"was": 0, "house": 1}, {"tokenisation": Words.name, "licence": "none"})
    parts.save(folder / "parts")
    with HeadwordCounter(QUITE, parts) as counter:
        counter.add(Words()(SENTENCES))
        chunks = list(counter.partitions(min_counts={}))
    write_table(folder / "heads", chunks, tokenisations=[HEADWORD_TOKENISATION], info={})
    return {name: folder / name for name in ("cloze", "gaps", "parts", "heads")} | {"counts": small_table}


class Items:
    """A task on lists of texts: the sentences are the candidates of their document."""

    decides = Decides("items", "lists")
    name, language, groups = "items", "", (Group("items", ()),)

    def instances(self, view):
        lists = [text.split(". ") for text in view.texts]
        candidate_lists = CandidateLists.from_texts(lists)
        words = [sentence.split() for sentences in lists for sentence in sentences]
        tags = [["NOUN" if len(word) > 4 else "X" for word in sentence] for sentence in words]
        return list_instances(replace(candidate_lists, words=CandidateWords.from_words(words, tags)))


QUITE = OwnCandidates(candidates=["quite", "quiet"])
OR_NONE = OwnCandidates(candidates=["quite", "quiet", ""])
SETS = OwnCandidates(sets=["quite/quiet", "maybe/may"])
LISTS, LISTS_OR_NONE = OwnLists(("quite", "quiet")), OwnLists(("quite", "quiet", ""))
CLASSES = WordClasses(np.sort(hash_words(["the", "quiet"])), np.ones((2, 2), np.uint16))
NETWORK = {"near": 2, "far": 8, "vocabulary": 40, "dimensions": 8, "hidden": 24, "epochs": 2}
CASES = {  # for each registered extractor, its constructor (given files) and tasks
    "ContextProbabilities": [
        (lambda f: ContextProbabilities(counts=f["counts"]), QUITE, OR_NONE, SETS, LISTS, LISTS_OR_NONE)
    ],
    "ContextWindow": [
        (lambda f: ContextWindow(), QUITE, SETS),
        (lambda f: ContextWindow(named=True), QUITE),
        (lambda f: ContextWindow(tags=False, window=1), QUITE),
    ],
    "ContextWords": [(lambda f: ContextWords(examples=50, C=1.0), QUITE, SETS)],
    "GapOdds": [(lambda f: MissingWordOdds(gaps=f["gaps"]), OR_NONE, LISTS, LISTS_OR_NONE)],
    "HeadwordBigrams": [(lambda f: HeadwordBigrams(least=1), Items())],
    "Headwords": [(lambda f: Headwords(counts=f["heads"], parts_of_speech=f["parts"]), QUITE, OR_NONE)],
    "NgramCounts": [(lambda f: NgramCounts(counts=f["counts"]), QUITE, OR_NONE, SETS, LISTS, LISTS_OR_NONE)],
    "OneOf": [(lambda f: ExtractorChoice({"words": Tfidf(around="document"), "kept": Tfidf(kept=3)}), QUITE)],
    "SentenceWords": [(lambda f: SentenceWords(), QUITE, SETS)],
    "SourceFeatures": [(lambda f: SourceFeatures(), Items())],
    "Subsequences": [
        (lambda f: Subsequences(), QUITE, SETS),
        (lambda f: Subsequences(layer="tag"), QUITE),
        (lambda f: Subsequences(length=3, shortest=1, target=False), QUITE),
    ],
    "TextNgrams": [(lambda f: TextNgrams(least=1), Items())],
    "Tfidf": [
        (lambda f: Tfidf(around=2), QUITE, SETS),
        (lambda f: Tfidf(around="document", bits=5), QUITE),
        (lambda f: Tfidf(weighting="count", min_documents=2, sublinear_tf=True, around=4), QUITE),
    ],
    "TokenContext": [
        (lambda f: TokenContext(), EveryToken()),
        (lambda f: TokenContext(classes=CLASSES), EveryToken()),
    ],
    "WordNetwork": [(lambda f: WordNetwork(**NETWORK), QUITE, SETS)],
    "WordVectors": [(lambda f: WordVectors(dimensions=4, around=12), QUITE, SETS)],
    "WordsInContext": [(lambda f: WordsInContext(words=f["cloze"]), QUITE, OR_NONE, LISTS_OR_NONE)],
}
EVERY_CASE = pytest.mark.parametrize(
    ("make", "task"),
    [
        pytest.param(make, task, id=f"{name}-{i}-{j}")
        for name, cases in CASES.items()
        for i, (make, *tasks) in enumerate(cases)
        for j, task in enumerate(tasks)
    ],
)


def test_every_extractor_of_the_core_is_checked():
    registered = {name.split(".")[1] for name in load_all("extractors") if name.startswith("disambig.")}
    assert registered == set(CASES)


@EVERY_CASE
def test_extractors_keep_their_contract(files, make, task):
    tokenisation = SpacyTokens() if isinstance(task, EveryToken) else Words()
    for check in check_extractor(make(files), task, SENTENCES, tokenisation):
        check()


@EVERY_CASE
def test_extractors_can_be_pickled_and_take_texts_without_places(files, make, task):
    cut = SpacyTokens() if isinstance(task, EveryToken) else Words()
    view = cut(SENTENCES)
    instances = task.instances(view)
    fitted = make(files).fit(view, instances, task.groups)
    again = pickle.loads(pickle.dumps(fitted))
    for g, group in enumerate(task.groups):
        part = instances.take(instances.groups == g)
        expected, batch = (transform_checked(e, view, part, group).batch for e in (fitted, again))
        probe = np.random.default_rng(0).normal(size=len(batch.columns))
        np.testing.assert_array_equal(batch.scores(probe), expected.scores(probe))
        assert len(transform_checked(fitted, view, part.take([]), group).batch.cost) == 0


@pytest.mark.parametrize("name", ["ContextProbabilities", "GapOdds", "NgramCounts", "WordsInContext"])
@pytest.mark.parametrize(
    "candidates",
    [("quite", "quiet", ""), ("quite", "quiet"), ("", "quite"), ("quite", "quite a", "unheard", "")],
)
def test_a_list_equal_to_the_group_has_the_features_of_the_group(files, name, candidates, engine):
    view, ((make, *_),) = Words()(SENTENCES), CASES[name]
    task = OwnCandidates(candidates=candidates)
    instances = task.instances(view)
    group = transform_checked(make(files), view, instances, task.groups[0])
    with_lists = replace(
        instances, lists=CandidateLists.from_texts([task.groups[0].candidates] * len(instances))
    )
    lists = transform_checked(make(files), view, with_lists, Group("any", ()))
    assert isinstance(lists.batch, DenseLists) and (lists.batch.values.any() or "" not in candidates)
    np.testing.assert_allclose(lists.batch.values.ravel(), group.batch.values.ravel(), rtol=1e-6)
    assert np.array_equal(lists.batch.cost, group.batch.cost)
    assert np.array_equal(lists.n_hits, group.n_hits) and np.array_equal(lists.n_queries, group.n_queries)


INVALID = [
    (ContextWindow, "D513", {"window": [-1, 51, 10_000_000, 2.5]}),
    (ContextWindow, "D514", {"nearness": [-1.0, 10.5, float("nan")]}),
    (HeadwordBigrams, "D680", {"tags": [(), [""]]}),
    (Subsequences, "D510", {"layer": ["tags"]}),
    (Subsequences, "D513", {"window": [0, 16], "length": [0, 6, "two"], "shortest": [3, 0]}),
    (Subsequences, "D512", {"decay": [0.0, 1.1]}),
    (TextNgrams, "D510", {"unit": ["letters"]}),
    (TextNgrams, "D513", {"order": [0, 6]}),
    (Tfidf, "D452", {"min_documents": [0], "kept": [0, 1.5]}),
    (Tfidf, "D511", {"around": [0, -2, "sentence", 10**30]}),
    (Tfidf, "D510", {"layer": ["stems"], "weighting": ["log"], "pairs": ["all"]}),
    (ContextWords, "D457", {"window": [-1], "places": [-1], "seed": [-1]}),
    (ContextWords, "D452", {"kept": [0], "examples": [0]}),
    (ContextWords, "D760", {"C": [-1.0]}),
    (SentenceWords, "D457", {"window": [2.5]}),
    (SentenceWords, "D452", {"kept": [-2]}),
    (SentenceWords, "D760", {"C": [0]}),
    (WordNetwork, "D452", {"hidden": [0], "epochs": [-1], "near": ["x", 2.5], "examples": [True]}),
    (WordNetwork, "D457", {"seed": [-1, 0.5]}),
    (WordVectors, "D452", {"beside": [0], "around": [2.5], "dimensions": [0]}),
]
WITH_LEAST = ContextWindow, HeadwordBigrams, Subsequences, TextNgrams, SourceFeatures, TokenContext
INVALID += [(kind, "D452", {"least": [0]}) for kind in WITH_LEAST]


@pytest.mark.parametrize(("kind", "code", "settings"), INVALID)
def test_invalid_settings_are_refused(kind, code, settings):
    for name, value in ((name, value) for name, values in settings.items() for value in values):
        with pytest.raises(UserError, match=code) as caught:
            kind(**{name: value})
        assert f"{name} is {value!r}" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "settings", "code"),
    [
        (HeadwordBigrams, {"tags": "NOUN"}, "D663"),
        (Tfidf, {"bits": 0}, "D473"),
        (Tfidf, {"bits": 23}, "D473"),
        (Tfidf, {"bits": 4, "kept": 3}, "D474"),
        (Tfidf, {"bits": 4, "min_documents": 2}, "D474"),
        (Tfidf, {"pairs": True, "around": 3}, "D517"),
        (Tfidf, {"pairs": True, "layer": "stem"}, "D517"),
        (Tfidf, {"around": 2, "nearness": -1.0}, "D514"),
        (Tfidf, {"around": 2, "nearness": 11.0}, "D514"),
        (Tfidf, {"nearness": 1.0}, "D515"),
        (Tfidf, {"around": 2, "nearness": 1.0, "sublinear_tf": True}, "D515"),
        (Tfidf, {"around": 2, "nearness": 1.0, "weighting": "binary"}, "D515"),
        (WordNetwork, {"near": 5, "far": 4}, "D453.*far = 4"),
        (WordNetwork, {"dimensions": 500}, "D456.*dimensions = 500"),
        (WordVectors, {"near": 1}, "D45"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(kind, settings, code):
    with pytest.raises(UserError, match=code):
        kind(**settings)
