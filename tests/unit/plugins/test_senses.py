"""The task *sense*: which tokens belong to which word, and what labelled examples say of words."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from disambig_kernel_rls.senses import SenseTask
from hypothesis import given
from hypothesis import strategies as st

from disambig.config import resolve
from disambig.errors import UserError
from disambig.evaluation import cross_validate, curve_of_labelled, evaluate_labelled
from disambig.formats import Labelled
from disambig.testing import check_task
from disambig.text import SpacyTokens, Words, hash_word
from disambig.training import read_plan, run, train_labelled

BANK_N = ["bank.n", {"bank": 8, "banks": 2}, ["money", "shore"], ["bank%1:14:00::", "bank%1:17:01::"]]
BANK_V = ["bank.v", {"bank": 3, "banked": 1}, ["rely", "tilt"], []]
SEE = ["see.v", {"saw": 9, "see": 5}, ["look", "meet"], []]
SAW = ["saw.n", {"saw": 4, "saws": 1}, ["tool", "saying"], []]
WORDS = [BANK_N, BANK_V, SEE, SAW]
TEXT = "They bank on it . The Banks saw a saw , seeing banking ; saws ."


def tagged(text=TEXT, tags=None):
    """Return a view whose tokens have the tags of a mapping; others are IN."""
    view = SpacyTokens()([text])
    words = [text[s:e] for s, e in zip(view.starts, view.ends, strict=True)]
    if tags is None:
        return view, words
    layer = np.array([hash_word(tags.get(word, "IN")) if word else 0 for word in words], np.uint64)
    return replace(view, layers={"tag": layer}), words


def found(task, view, words):
    instances = task.instances(view)
    assert (instances.lengths == 1).all() and (instances.observed == -1).all()
    return [
        (words[p], task.groups[g].name) for p, g in zip(instances.positions, instances.groups, strict=True)
    ]


@pytest.mark.parametrize(
    "check", check_task(SenseTask(words=WORDS), ["A bank .", TEXT], SpacyTokens()), ids=str
)
def test_the_contract(check):
    check()


def test_without_tags_a_form_is_of_the_word_that_had_it_most():
    assert found(SenseTask(words=WORDS), *tagged()) == [
        ("bank", "bank.n"),
        ("Banks", "bank.n"),
        ("saw", "see.v"),
        ("saw", "see.v"),
        ("seeing", "see.v"),
        ("banking", "bank.v"),
        ("saws", "saw.n"),
    ]


def test_with_tags_a_form_is_of_the_word_of_its_part_of_speech():
    tags = {"bank": "VBP", "Banks": "NNS", "saw": "NN", "seeing": "VBG", "banking": "NN", "saws": "VBZ"}
    assert found(SenseTask(words=WORDS), *tagged(tags=tags)) == [
        ("bank", "bank.v"),
        ("Banks", "bank.n"),
        ("saw", "saw.n"),
        ("saw", "saw.n"),
        ("seeing", "see.v"),
    ]


def test_tokens_without_a_tag_are_those_of_a_text_without_tags():
    view, words = tagged(tags={"bank": "VBP"})
    view.layers["tag"][words.index("saw") :] = 0
    without = found(SenseTask(words=WORDS), *tagged())
    assert found(SenseTask(words=WORDS), view, words) == [("bank", "bank.v"), *without[2:]]
    view.layers["tag"][:] = 0
    assert found(SenseTask(words=WORDS), view, words) == without


@pytest.mark.parametrize(("tags", "warned"), [(["ART", "NN$"], 1), (["DT", "NN$"], 0), (["ART", "NN"], 0)])
def test_tags_of_another_tagset_are_told_of(tags, warned):
    view, _ = tagged("The bank")
    layer = np.array([0, *map(hash_word, tags), 0], np.uint64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SenseTask(words=WORDS).instances(replace(view, layers={"tag": layer}))
    assert ["not from a known tagset" in str(each.message) for each in caught] == [True] * warned


def test_proper_names_are_no_nouns_but_where_training_showed_them_so():
    view = tagged(tags={"Banks": "NNPS"})
    assert found(SenseTask(words=WORDS), *view) == []
    for capitals, expected in ((1, []), (2, [("Banks", "bank.n")])):
        word = ["bank.n", {"bank": 8, "banks": 4, "Banks": capitals}, ["a", "b"], []]
        assert found(SenseTask(words=[word]), *view) == expected
    assert found(SenseTask(words=[["bank.n", ["Banks"], ["a", "b"], []]]), *view) == [("Banks", "bank.n")]


def test_a_word_without_part_of_speech_is_found_whatever_the_tag_but_after_those_that_have_one():
    plain = ["bank", ["bank", "banks"], ["a", "b"], []]
    view = tagged(tags={"bank": "VBP"})
    assert found(SenseTask(words=[plain]), *view) == [("bank", "bank"), ("Banks", "bank")]
    assert found(SenseTask(words=[plain, BANK_V]), *view) == [("bank", "bank.v"), ("Banks", "bank")]


def test_inflections_are_english():
    german = SenseTask(words=[["Bank.n", ["bank"], ["a", "b"], []]], language="de")
    assert found(german, *tagged()) == [("bank", "Bank.n")]


def test_boundaries_are_no_words_and_no_words_find_nothing():
    task = SenseTask(words=[["s", ["<s>", "bank"], ["a", "b"], []]])
    assert [word for word, _ in found(task, *tagged())] == ["bank"]
    assert found(SenseTask(), *tagged()) == []


def labelled(text, label, word="", gloss=""):
    before, _, rest = text.partition("[")
    inside, _, after = rest.partition("]")
    whole = before + inside + after
    return Labelled(whole, len(before), len(before) + len(inside), label, whole, text, word, gloss)


EXAMPLES = [
    labelled("The [banks] of it", "shore", "bank.n", "bank%1:17:01::"),
    labelled("my [bank] is", "money", "bank.n"),
    labelled("[Bank] on it", "money", "bank.n"),
    labelled("the [Bank] of it", "money", "bank.n"),
    labelled("a [bank]", "shore", "bank.n"),
    labelled("He [called]", "phone"),
    labelled("she [calls]", "phone"),
    labelled("I [called] on", "visit"),
    labelled("one [ferret]", "animal", "ferret.n"),
    labelled("no[ ]sense", "x"),
    labelled("no [...]", "x"),
    labelled("no [label]", ""),
]


def test_words_are_learned_most_frequent_first():
    assert SenseTask().learn_settings(EXAMPLES) == {
        "words": [
            [
                "bank.n",
                {"bank": 4, "Bank": 1, "banks": 1},
                ["money", "shore"],
                ["", "bank%1:17:01::"],
            ],
            ["called", {"called": 2, "calls": 1}, ["phone", "visit"], []],
            ["ferret.n", {"ferret": 1}, ["animal"], []],
        ],
        "certain": [],
    }
    task = SenseTask(**SenseTask().learn_settings(EXAMPLES))
    assert [group.name for group in task.groups] == ["bank.n", "called", "ferret.n"]
    assert task.groups[0].glosses == ("", "bank%1:17:01::") and task.groups[1].glosses == ()


def test_settings_that_stand_in_the_config_stay_and_few_examples_are_left_out():
    assert SenseTask(words=WORDS).learn_settings(EXAMPLES) == {}
    assert [word[0] for word in SenseTask(least=3).learn_settings(EXAMPLES)["words"]] == ["bank.n", "called"]
    with pytest.raises(UserError, match="D496"):
        SenseTask(least=6).learn_settings(EXAMPLES)


@given(
    st.lists(
        st.tuples(
            st.text("abBE.' \n", max_size=5), st.sampled_from(["x", "y", ""]), st.sampled_from(["", "w.n"])
        )
    )
)
def test_what_is_learned_makes_a_task_that_finds_its_examples(rows):
    examples = [Labelled(f"a {text}", 2, 2 + len(text), label, "", "", word) for text, label, word in rows]
    try:
        words = SenseTask().learn_settings(examples)["words"]
    except UserError as error:
        assert error.code == "D496"
        return
    task = SenseTask(words=words)
    n = sum(any(map(str.isalnum, each.text[2:])) and bool(each.label) for each in examples)
    assert sum(len(group.candidates) for group in task.groups) <= n
    for name, forms, senses, _ in words:
        lower = [count for form, count in forms.items() if form == form.lower()]
        assert lower == sorted(lower, reverse=True) or len(lower) < len(forms)
        assert name and senses


@pytest.mark.parametrize(
    "word",
    [
        "bank",
        ["bank.n", ["bank"], ["a"]],
        ["", ["bank"], ["a"], []],
        ["bank.n", "bank", ["a"], []],
        ["bank.n", ["bank"], [], []],
        ["bank.n", ["bank"], ["a", "a"], []],
        ["bank.n", ["bank"], ["a", "b"], ["only one"]],
        ["bank.n", {"bank": -1}, ["a"], []],
        ["bank.n", [3], ["a"], []],
        ["bank.n", ["bank"], ["a ${x}"], []],
    ],
)
def test_what_is_no_word_is_refused(word):
    with pytest.raises(UserError, match="D495"):
        SenseTask(words=[word])


def test_names():
    with pytest.raises(UserError, match=r"D495.*twice"):
        SenseTask(words=[BANK_N, BANK_N])
    with pytest.raises(UserError, match="D487"):
        SenseTask(name="no name")


def test_another_tokenisation_will_do():
    view = Words()([TEXT])
    assert len(SenseTask(words=WORDS).instances(view)) == 7


def test_forms_that_are_nearly_always_labelled_need_no_tag():
    half = [labelled(f"Clause {n} says at [least] that least", "amount", "least.r") for n in range(10)]
    assert SenseTask().learn_settings(half)["certain"] == []
    every = [labelled(f"Clause {n} says at [least] that", "amount", "least.r") for n in range(10)]
    settings = SenseTask().learn_settings(every)
    assert settings["certain"] == ["least"]
    assert SenseTask().learn_settings(every[:9])["certain"] == []
    view = tagged("at least Least", {"least": "JJS", "Least": "NNP"})
    assert [word for word, _ in found(SenseTask(**settings), *view)] == ["least", "Least"]
    assert found(SenseTask(words=settings["words"]), *view) == []


def test_a_tag_still_tells_the_words_of_a_certain_form_apart():
    words = [["work.n", {"work": 3}, ["job"], []], ["work.v", {"work": 5}, ["toil"], []]]
    by_tag = {
        tag: found(SenseTask(words=words, certain=["work"]), *tagged("work", {"work": tag}))[0][1]
        for tag in ("NN", "VB", "JJ")
    }
    assert by_tag == {"NN": "work.n", "VB": "work.v", "JJ": "work.v"}
    assert found(SenseTask(words=words), *tagged("work", {"work": "JJ"})) == []


def test_of_several_right_senses_all_are_learned_and_any_is_right():
    config = {
        "extractors": {
            "near": {
                "@disambig_extractors": "disambig.Tfidf.v1",
                "around": 5,
                "weighting": "count",
                "name": "n",
            }
        },
        "learner": {"@disambig_learners": "kernel_rls.RLSCComb.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    rows = [("muddy [bank] river", "shore"), ("cash [bank] loan", "money"), ("cash [bank] safe", "building")]
    examples = [
        replace(labelled(f"{text} {n}", sense, "bank.n"), also=("building",) if sense == "money" else ())
        for n in range(6)
        for text, sense in rows
    ]
    task = SenseTask(**SenseTask().learn_settings(examples))
    assert task.groups[0].candidates == ("building", "money", "shore")  # of which 12, 6 and 6 were seen
    parts = {**resolve(config), "task": task, "tokenisation": SpacyTokens()}
    model = train_labelled(parts, examples, name="test")
    alone = [replace(example, also=()) for example in examples]
    assert not np.allclose(
        model.scorers[0].weights, train_labelled(parts, alone, name="test").scorers[0].weights
    )
    several = [labelled("cash [bank] loan 7", "shore", "bank.n")]
    right = [replace(each, also=("money", "building", "unheard of")) for each in several]
    assert evaluate_labelled(model, right)["groups"]["bank.n"]["accuracy"] == 1.0
    assert evaluate_labelled(model, several)["groups"]["bank.n"]["accuracy"] == 0.0


def test_a_word_that_never_is_one_token_is_not_learned_and_its_examples_are_told_of(tmp_path):
    path = tmp_path / "examples.tsv"
    rows = ["text\tlabel\tword"]
    for n in range(6):
        rows += [f"a muddy [[bank]] of river {n}\tshore\tbank.n", f"a rich [[bank]] {n}\tmoney\tbank.n"]
        rows += [f"in [[New York]] {n}\t{('city', 'state')[n % 2]}\tnew_york.n"]
        rows += [f"a [[well-known]] man {n}\t{('famous', 'usual')[n % 2]}\twell-known.a"]
    path.write_text("\n".join(rows))
    model = run("sense", labelled=[str(path)])
    assert [group.name for group in model.task.groups] == ["bank.n"]
    assert model.provenance["examples"]["labelled"] == 12
    (note,) = (note for note in model.provenance["notes"] if note.startswith("not used"))
    assert "line 4: 'New York' has 2 tokens: the task sense decides single tokens only" in note
    assert "'well-known' has 3 tokens" in note
    with pytest.raises(UserError, match=r"D496.*without blanks"):
        SenseTask().learn_settings([labelled("in [New York] 1", "city", "new_york.n")])


def test_what_only_the_tested_examples_show_counts_as_wrong():
    names = "fox owl cat dog hen elk ape bat".split()
    once = [labelled(f"see the [{name}] now", f"{name}%1", f"{name}.n") for name in names]
    bank = [labelled(f"a rich [bank] {n}", "money", "bank.n") for n in range(8)]
    plan = read_plan("sense").with_learned_settings(once + bank)
    systems = cross_validate(plan.parts, once + bank, folds=4)["systems"]
    for system in systems.values():
        assert {name: at["accuracy"] for name, at in system.items()} == {
            "bank.n": 1.0,
            **{f"{name}.n": 0.0 for name in names},
        }
    # a label of an example that is only learned from is known
    also = [replace(once[0], document="elsewhere", text="see the fox then")]
    systems = cross_validate(plan.parts, once + bank, folds=4, also=also)["systems"]
    assert systems["model"]["fox.n"]["accuracy"] == 1.0 and systems["model"]["owl.n"]["accuracy"] == 0.0
    model = train_labelled(plan.parts, once + bank, name="test")
    assert "16 labelled examples: accuracy 50.0%" in model.provenance["notes"][-1]
    single = [replace(each, document="one") for each in once + bank]
    assert "cannot be estimated" in train_labelled(plan.parts, single, name="test").provenance["notes"][-1]
    found = curve_of_labelled(plan.parts, once + bank, sizes=[8], draws=5)
    assert found["points"][-1]["accuracy"] <= 0.5 and found["majority"] <= 0.5


def test_of_several_right_senses_any_is_right_in_the_figures_of_training_too():
    texts = [f"a [bank] number {n}" for n in range(10)]
    examples = [replace(labelled(text, "shore", "bank.n"), also=("money",)) for text in texts[:5]]
    examples += [labelled(text, "money", "bank.n") for text in texts[5:]]
    plan = read_plan("sense").with_learned_settings(examples)
    model = train_labelled(plan.parts, examples, name="test")
    systems = cross_validate(plan.parts, examples, folds=5)["systems"]
    assert systems["majority"]["bank.n"]["accuracy"] == 1.0
    notes = model.provenance["notes"]
    assert "bank.n: in cross-validation no better than always choosing 'money'" in notes
    (said,) = (note for note in notes if "accuracy" in note)
    assert "10 labelled examples: accuracy 100.0%" in said


def test_examples_that_are_only_learned_from_are_not_those_that_are_tested():
    tested = [labelled(f"a [bank] number {n}", ("shore", "money")[n % 2], "bank.n") for n in range(8)]
    plan = read_plan("sense").with_learned_settings(tested)
    alone, twins = (
        cross_validate(plan.parts, tested, folds=4, also=also)
        for also in ([], [replace(each, document="twin") for each in tested])
    )
    assert twins == alone


def test_of_a_word_without_part_of_speech_the_form_in_s_is_found_too():
    plain = ["box", ["box"], ["case", "fight"], []]
    assert [word for word, _ in found(SenseTask(words=[plain]), *tagged("Boxes in a box , boxing ."))] == [
        "Boxes",
        "box",
    ]


def test_a_sense_that_one_document_alone_has_is_learned():
    # without the fold of that document there is one sense only
    common = [labelled(f"a rich [bank] lent cash {n}", "money", "bank.n") for n in range(24)]
    rare = [labelled(f"a muddy [bank] of the river {n}", "shore", "bank.n") for n in range(8)]
    examples = [*common[:16], *(replace(each, document="one") for each in [*common[16:], *rare])]
    plan = read_plan("sense").with_learned_settings(examples)
    model = train_labelled(plan.parts, examples, name="test")
    assert model.scorers[0] is not None and not any("too few" in note for note in model.provenance["notes"])
    new = [labelled("the muddy [bank] of a river", "shore"), labelled("that rich [bank] lent me", "money")]
    assert evaluate_labelled(model, new)["groups"]["bank.n"]["accuracy"] == 1.0
