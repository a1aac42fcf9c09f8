"""The task *sense*: which tokens belong to which word, training from labelled files, inflections."""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from disambig_kernel_rls.senses import SenseTask, inflections
from hypothesis import given, strategies as st
from model_configs import model_config

from disambig.config import resolve
from disambig.errors import UserError
from disambig.evaluation import add_assessment, cross_validate, curve_of_labelled, evaluate_labelled
from disambig.formats import Labelled, read_labelled
from disambig.text import SpacyTokens, Words, hash_word
from disambig.training import label_instances, read_plan, run, train_labelled

BANK_N = ["bank.n", {"bank": 8, "banks": 2}, ["money", "shore"], ["bank%1:14:00::", "bank%1:17:01::"]]
BANK_V = ["bank.v", {"bank": 3, "banked": 1}, ["rely", "tilt"], []]
SEE = ["see.v", {"saw": 9, "see": 5}, ["look", "meet"], []]
SAW = ["saw.n", {"saw": 4, "saws": 1}, ["tool", "saying"], []]
WORDS = [BANK_N, BANK_V, SEE, SAW]
TEXT = "They bank on it . The Banks saw a saw , seeing banking ; saws ."


def make_view(text=TEXT, tags=None):
    """Return a view whose tokens have the tags of a mapping; others are IN."""
    view = SpacyTokens()([text])
    words = [text[s:e] for s, e in zip(view.starts, view.ends, strict=True)]
    if tags is None:
        return view, words
    layer = np.array([hash_word(tags.get(word, "IN")) if word else 0 for word in words], np.uint64)
    return replace(view, layers={"tag": layer}), words


def find_words(task, view, words):
    instances = task.instances(view)
    assert (instances.lengths == 1).all() and (instances.observed == -1).all()
    places = zip(instances.positions, instances.groups, strict=True)
    return [(words[p], task.groups[g].name) for p, g in places]


def test_words_by_their_tags():
    """Tags may be missing for some tokens or for all."""
    task = SenseTask(words=WORDS)
    without = find_words(task, *make_view())
    assert without == [
        *(("bank", "bank.n"), ("Banks", "bank.n"), ("saw", "see.v"), ("saw", "see.v")),
        *(("seeing", "see.v"), ("banking", "bank.v"), ("saws", "saw.n")),
    ]
    tags = {"bank": "VBP", "Banks": "NNS", "saw": "NN", "seeing": "VBG", "banking": "NN", "saws": "VBZ"}
    assert find_words(task, *make_view(tags=tags)) == [
        *(("bank", "bank.v"), ("Banks", "bank.n"), ("saw", "saw.n"), ("saw", "saw.n"), ("seeing", "see.v"))
    ]
    view, words = make_view(tags={"bank": "VBP"})
    view.layers["tag"][words.index("saw") :] = 0
    assert find_words(task, view, words) == [("bank", "bank.v"), *without[2:]]
    view.layers["tag"][:] = 0
    assert find_words(task, view, words) == without
    assert len(task.instances(Words()([TEXT]))) == 7  # of another tokenisation


@pytest.mark.parametrize(("tags", "warned"), [(["ART", "NN$"], 1), (["DT", "NN$"], 0), (["ART", "NN"], 0)])
def test_warning_for_unknown_tagsets(tags, warned):
    view, _ = make_view("The bank")
    layer = np.array([0, *map(hash_word, tags), 0], np.uint64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SenseTask(words=WORDS).instances(replace(view, layers={"tag": layer}))
    assert ["from an unknown tagset" in str(item.message) for item in caught] == [True] * warned


def test_proper_names():
    view = make_view(tags={"Banks": "NNPS"})
    banks = [("Banks", "bank.n")]
    for word, expected in (
        (BANK_N, []),
        (["bank.n", {"bank": 8, "banks": 4, "Banks": 1}, ["a", "b"], []], []),
        (["bank.n", {"bank": 8, "banks": 4, "Banks": 2}, ["a", "b"], []], banks),
        (["bank.n", ["Banks"], ["a", "b"], []], banks),
    ):
        words = WORDS if word is BANK_N else [word]
        assert find_words(SenseTask(words=words), *view) == expected


def test_words_without_part_of_speech():
    plain = ["bank", ["bank", "banks"], ["a", "b"], []]
    view = make_view(tags={"bank": "VBP"})
    assert find_words(SenseTask(words=[plain]), *view) == [("bank", "bank"), ("Banks", "bank")]
    assert find_words(SenseTask(words=[plain, BANK_V]), *view) == [("bank", "bank.v"), ("Banks", "bank")]
    box = SenseTask(words=[["box", ["box"], ["case", "fight"], []]])
    places = find_words(box, *make_view("Boxes in a box , boxing ."))
    assert [word for word, _ in places] == ["Boxes", "box"]
    german = SenseTask(words=[["Bank.n", ["bank"], ["a", "b"], []]], language="de")
    assert find_words(german, *make_view()) == [("bank", "Bank.n")]  # inflections are English
    boundary = SenseTask(words=[["s", ["<s>", "bank"], ["a", "b"], []]])
    assert [word for word, _ in find_words(boundary, *make_view())] == ["bank"]
    assert find_words(SenseTask(), *make_view()) == []


def make_example(text, label, word="", gloss=""):
    before, _, rest = text.partition("[")
    inside, _, after = rest.partition("]")
    whole = before + inside + after
    return Labelled(whole, len(before), len(before) + len(inside), label, whole, text, word, gloss)


EXAMPLES = [
    make_example("The [banks] of it", "shore", "bank.n", "bank%1:17:01::"),
    make_example("my [bank] is", "money", "bank.n"),
    make_example("[Bank] on it", "money", "bank.n"),
    make_example("the [Bank] of it", "money", "bank.n"),
    make_example("a [bank]", "shore", "bank.n"),
    make_example("He [called]", "phone"),
    make_example("she [calls]", "phone"),
    make_example("I [called] on", "visit"),
    make_example("one [ferret]", "animal", "ferret.n"),
    make_example("no[ ]sense", "x"),
    make_example("no [...]", "x"),
    make_example("no [label]", ""),
]


def test_words_are_learned_most_frequent_first():
    bank = ["bank.n", {"bank": 4, "Bank": 1, "banks": 1}, ["money", "shore"], ["", "bank%1:17:01::"]]
    called = ["called", {"called": 2, "calls": 1}, ["phone", "visit"], []]
    learned = SenseTask().learn_settings(EXAMPLES)
    assert learned == {"words": [bank, called, ["ferret.n", {"ferret": 1}, ["animal"], []]], "certain": []}
    task = SenseTask(**learned)
    assert [group.name for group in task.groups] == ["bank.n", "called", "ferret.n"]
    assert task.groups[0].glosses == ("", "bank%1:17:01::") and task.groups[1].glosses == ()
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
def test_learned_settings_of_any_examples(rows):
    examples = [Labelled(f"a {text}", 2, 2 + len(text), label, "", "", word) for text, label, word in rows]
    try:
        words = SenseTask().learn_settings(examples)["words"]
    except UserError as error:
        assert error.code == "D496"
        return
    n = sum(any(map(str.isalnum, item.text[2:])) and bool(item.label) for item in examples)
    assert sum(len(group.candidates) for group in SenseTask(words=words).groups) <= n
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
def test_invalid_words(word):
    with pytest.raises(UserError, match="D495"):
        SenseTask(words=[word])


def test_invalid_names():
    with pytest.raises(UserError, match=r"D495.*twice"):
        SenseTask(words=[BANK_N, BANK_N])
    with pytest.raises(UserError, match="D487"):
        SenseTask(name="no name")


def test_certain_forms():
    half = [make_example(f"Clause {n} says at [least] that least", "amount", "least.r") for n in range(10)]
    assert SenseTask().learn_settings(half)["certain"] == []
    every = [make_example(f"Clause {n} says at [least] that", "amount", "least.r") for n in range(10)]
    settings = SenseTask().learn_settings(every)
    assert settings["certain"] == ["least"]
    assert SenseTask().learn_settings(every[:9])["certain"] == []
    view = make_view("at least Least", {"least": "JJS", "Least": "NNP"})
    assert [word for word, _ in find_words(SenseTask(**settings), *view)] == ["least", "Least"]
    assert find_words(SenseTask(words=settings["words"]), *view) == []
    words = [["work.n", {"work": 3}, ["job"], []], ["work.v", {"work": 5}, ["toil"], []]]
    for tag, name in (("NN", "work.n"), ("VB", "work.v"), ("JJ", "work.v")):
        task = SenseTask(words=words, certain=["work"])
        assert find_words(task, *make_view("work", {"work": tag})) == [("work", name)]
    assert find_words(SenseTask(words=words), *make_view("work", {"work": "JJ"})) == []


def test_several_right_senses():
    config = {
        "extractors": {
            "n": {"@disambig_extractors": "disambig.Tfidf.v1", "around": 5, "weighting": "count", "name": "n"}
        },
        "learner": {"@disambig_learners": "kernel_rls.RLSCComb.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    rows = [("muddy [bank] river", "shore"), ("cash [bank] loan", "money"), ("cash [bank] safe", "building")]
    examples = [
        replace(make_example(f"{text} {n}", sense, "bank.n"), also=("building",) if sense == "money" else ())
        for n in range(6)
        for text, sense in rows
    ]
    task = SenseTask(**SenseTask().learn_settings(examples))
    assert task.groups[0].candidates == ("building", "money", "shore")  # of which 12, 6 and 6 were seen
    parts = {**resolve(config), "task": task, "tokenisation": SpacyTokens()}
    model = train_labelled(parts, examples, name="test")
    several = [make_example("cash [bank] loan 7", "shore", "bank.n")]
    right = [replace(item, also=("money", "building", "unheard of")) for item in several]
    assert evaluate_labelled(model, right)["groups"]["bank.n"]["accuracy"] == 1.0
    assert evaluate_labelled(model, several)["groups"]["bank.n"]["accuracy"] == 0.0


def test_words_of_several_tokens_are_not_learned(tmp_path):
    path = tmp_path / "examples.tsv"
    rows = ["text\tlabel\tword"]
    for n in range(6):
        rows += [f"a muddy [[bank]] of river {n}\tshore\tbank.n", f"a rich [[bank]] {n}\tmoney\tbank.n"]
        rows += [f"in [[New York]] {n}\t{('city', 'state')[n % 2]}\tnew_york.n"]
        rows += [f"a [[well-known]] man {n}\t{('famous', 'usual')[n % 2]}\twell-known.a"]
    path.write_text("\n".join(rows))
    model, _, _ = run("sense", labelled=[str(path)])
    assert [group.name for group in model.task.groups] == ["bank.n"]
    assert model.provenance["examples"]["labelled"] == 12
    (note,) = (note for note in model.provenance["notes"] if note.startswith("not used"))
    assert "line 4: 'New York' has 2 tokens: the task sense decides single tokens only" in note
    assert "'well-known' has 3 tokens" in note
    with pytest.raises(UserError, match=r"D496.*without blanks"):
        SenseTask().learn_settings([make_example("in [New York] 1", "city", "new_york.n")])


def test_labels_of_tested_examples_only_are_wrong():
    names = "fox owl cat dog hen elk ape bat".split()
    once = [make_example(f"see the [{name}] now", f"{name}%1", f"{name}.n") for name in names]
    bank = [make_example(f"a rich [bank] {n}", "money", "bank.n") for n in range(8)]
    plan = read_plan("sense").with_learned_settings(once + bank)
    systems = cross_validate(plan.parts, once + bank, folds=4)["systems"]
    for system in systems.values():
        expected = {"bank.n": 1.0, **{f"{name}.n": 0.0 for name in names}}
        assert {name: at["accuracy"] for name, at in system.items()} == expected
    # a label of an example that is only learned from is known
    also = [replace(once[0], document="elsewhere", text="see the fox then")]
    systems = cross_validate(plan.parts, once + bank, folds=4, also=also)["systems"]
    assert systems["model"]["fox.n"]["accuracy"] == 1.0 and systems["model"]["owl.n"]["accuracy"] == 0.0
    model = train_labelled(plan.parts, once + bank, name="test")
    assert "16 labelled examples: accuracy 50.0%" in model.provenance["notes"][-1]
    single = [replace(item, document="one") for item in once + bank]
    (*_, note) = train_labelled(plan.parts, single, name="test").provenance["notes"]
    assert note == "16 labelled examples of one document: accuracy cannot be estimated"
    find_words = curve_of_labelled(plan.parts, once + bank, sizes=[8], draws=5)
    assert find_words["points"][-1]["accuracy"] <= 0.5 and find_words["majority"] <= 0.5


def test_several_right_senses_in_the_figures_of_training():
    texts = [f"a [bank] number {n}" for n in range(10)]
    examples = [replace(make_example(text, "shore", "bank.n"), also=("money",)) for text in texts[:5]]
    examples += [make_example(text, "money", "bank.n") for text in texts[5:]]
    plan = read_plan("sense").with_learned_settings(examples)
    model = train_labelled(plan.parts, examples, name="test")
    systems = cross_validate(plan.parts, examples, folds=5)["systems"]
    assert systems["majority"]["bank.n"]["accuracy"] == 1.0
    notes = model.provenance["notes"]
    assert "bank.n: in cross-validation no better than always choosing 'money'" in notes
    (output,) = (note for note in notes if "accuracy" in note)
    assert "10 labelled examples: accuracy 100.0%" in output


def test_additional_examples_are_not_tested():
    tested = [make_example(f"a [bank] number {n}", ("shore", "money")[n % 2], "bank.n") for n in range(8)]
    plan = read_plan("sense").with_learned_settings(tested)
    more = [replace(item, document="twin") for item in tested]
    twins, alone = (cross_validate(plan.parts, tested, folds=4, also=also) for also in (more, []))
    assert twins == alone


def test_a_sense_of_a_single_document():
    # without the fold of that document there is one sense only
    common = [make_example(f"a rich [bank] lent cash {n}", "money", "bank.n") for n in range(24)]
    rare = [make_example(f"a muddy [bank] of the river {n}", "shore", "bank.n") for n in range(8)]
    examples = [*common[:16], *(replace(item, document="one") for item in [*common[16:], *rare])]
    plan = read_plan("sense").with_learned_settings(examples)
    model = train_labelled(plan.parts, examples, name="test")
    assert model.scorers[0] is not None and not any("too few" in note for note in model.provenance["notes"])
    texts = {"shore": "the muddy [bank] of a river", "money": "that rich [bank] lent me"}
    new = [make_example(text, sense) for sense, text in texts.items()]
    assert evaluate_labelled(model, new)["groups"]["bank.n"]["accuracy"] == 1.0


TEMPLATES = [
    ("We sat on the muddy [[{}]] of river {}.", "shore"),
    ("The rich [[{}]] lent cash {} times.", "money"),
]


def make_table(n=6, form="bank", word="bank"):
    return [(text.format(form, i), label, word) for i in range(n) for text, label in TEMPLATES]


def write_examples(path, columns, examples):
    """Write a table or JSON Lines, by the ending, with the first columns of the examples."""
    cut = [row[: len(columns)] for row in examples]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in cut))
    else:
        with open(path, "w", encoding="utf-8-sig", newline="") as file:
            sign = "," if path.suffix == ".csv" else "\t"
            csv.writer(file, delimiter=sign).writerows([columns, *cut])
    return str(path)


def test_marks_of_texts(tmp_path):
    bare = [(text.replace("[[", "").replace("]]", ""), *more) for text, *more in make_table()]
    with pytest.raises(UserError, match=r"D496.*mark one word"):
        run("sense", labelled=[write_examples(tmp_path / "a.csv", ("text", "label"), bare)])
    path = write_examples(tmp_path / "b.csv", ("text", "label"), [*make_table(), *bare[:1]])
    (note,) = (n for n in run("sense", labelled=[path])[0].provenance["notes"] if "not used" in n)
    assert "b.csv, line 14: no place is marked in 'We sat" in note


@dataclass(frozen=True)
class FixedTags:
    """Tokens of spaCy with tags that are given by the test."""

    name: str
    tags: dict[str, str] = field(default_factory=dict)

    def __call__(self, texts):
        view = SpacyTokens()(texts)
        layer = np.zeros(len(view), np.uint64)
        for text, first, end in zip(texts, view.documents[:-1], view.documents[1:], strict=True):
            for i in range(first, end):
                tag = self.tags.get(text[view.starts[i] : view.ends[i]])
                layer[i] = hash_word(tag) if tag else 0
        return replace(view, tokenisation=self.name, layers={"tag": layer})


def make_marked_examples(n, form, word):
    return [make_example(f"Clause {i} says at [{form}] that", "x", word) for i in range(n)]


@pytest.mark.parametrize(
    ("word", "tag", "certain"),
    [("least.r", "JJS", ["least"]), ("least.r", "RBS", []), ("least.r", "", []), ("least.n", "NN", [])],
)
def test_certain_forms_with_tags(word, tag, certain):
    tags = FixedTags(f"test.{word}{tag}", {"least": tag} if tag else {})
    examples = make_marked_examples(12, "least", word)
    learned = SenseTask().learn_settings(examples, tags)
    assert learned == SenseTask().learn_settings(examples) | {"certain": certain}
    view = FixedTags("test.verbs", {"least": "VB"})(["at least"])
    assert len(SenseTask(**learned).instances(view)) == len(certain)


def test_warning_for_labels_with_other_tags():
    tags = FixedTags("test.nouns", {"bank": "NN"})
    kept, left = "it is decided regardless of its tag", "in other text such places get no decision"
    for n, then in ((12, kept), (9, left)):
        examples = make_marked_examples(n, "bank", "bank.v")
        task = SenseTask(**SenseTask().learn_settings(examples, tags))
        result = label_instances(task, tags, examples).examples
        (note,) = task.warnings(result.view, result.instances)
        assert note == f"bank.v: {n} of {n} labelled places are not verbs by their tags: {then}"
    for name in ("bank.n", "bank", "bank.x"):
        examples = make_marked_examples(12, "bank", name)
        task = SenseTask(**SenseTask().learn_settings(examples, tags))
        result = label_instances(task, tags, examples).examples
        assert len(result.instances) == 12 and task.warnings(result.view, result.instances) == []


def test_one_accuracy_in_the_notes(tmp_path):
    path = write_examples(tmp_path / "a.csv", ("text", "label"), make_table())
    trained = run("sense", labelled=[path])
    fitted = [note for note in trained[0].provenance["notes"] if "accuracy" in note]
    assert len(fitted) == 1 and "12 labelled examples: accuracy" in fitted[0]
    tested = add_assessment(*trained).provenance
    assert tested["test"]["n"] == 12 and not any("accuracy" in note for note in tested["notes"])
    assert any("12 labelled examples are few" in note for note in tested["notes"])


def test_words_of_equal_senses_or_one(tmp_path):
    examples = read_labelled(write_examples(tmp_path / "a.csv", ("text", "label"), make_table(8)))
    plan = read_plan("sense").with_learned_settings(examples)
    for folds in (2, 5, 16):
        majority = cross_validate(plan.parts, examples, folds=folds)["systems"]["majority"]["bank"]
        assert majority["accuracy"] == 0.5
    examples = [*make_table(), *((f"A [[plant]] grows {n}.", "flora", "") for n in range(6))]
    model, _, _ = run("sense", labelled=[write_examples(tmp_path / "a.csv", ("text", "label"), examples)])
    notes = model.provenance["notes"]
    assert "plant: only one label (flora), which is always chosen" in notes


def test_singular_in_messages(tmp_path):
    path = write_examples(tmp_path / "a.csv", ("text", "label"), make_table())
    parts = read_plan("sense").with_learned_settings(read_labelled(path)).parts
    notes = train_labelled(parts, read_labelled(path)[:1], name="test").provenance["notes"]
    assert notes[0] == "1 labelled example is little: do not rely on this model yet"


def examples_with_a_rare_word():
    """Return examples of a word to learn, and a few of one whose most frequent sense alone is known."""
    result = [
        Labelled(text, text.index("bank"), text.index("bank") + 4, sense, text, "", "bank.n")
        for sense, beginning in (
            ("money", "The bank lends money"),
            ("shore", "We fished from the bank of river"),
        )
        for text in (f"{beginning} {i} ." for i in range(15))
    ]
    oars = [f"Oar number {i} broke ." for i in range(6)]
    result += [Labelled(t, 0, 3, "part" if i == 5 else "tool", t, "", "oar.n") for i, t in enumerate(oars)]
    return result


def test_words_without_a_model():
    examples = examples_with_a_rare_word()
    extractors = {"words": ("disambig.Tfidf.v1", {"around": 10})}
    learner = ("kernel_rls.RLSCComb.v1", {"regularisation": "auto"})
    config = resolve(model_config(None, extractors, learner))
    task = SenseTask(least=3, learned=20)
    task = replace(task, **task.learn_settings(examples))
    assert list(task.rest) == ["oar.n"] and [group.learned for group in task.groups] == [True, False]
    model = train_labelled({"task": task, "judge": None, **config}, examples, name="senses")
    assert model.scorers[0] is not None and model.scorers[1] is None
    text = "An oar lay on the bank of the river ."
    plain = model.decide(model.tokenisation([text]))
    assert [plain.table[g].name for g in plain.groups] == ["bank.n"] and plain.n_queries.all()
    more = model.with_fallback().decide(model.tokenisation([text]))
    oar, bank = (more.record(i, text) for i in range(2))
    assert oar["chosen"] == "tool" and oar["asked"] == oar["found"] == 0 and 0.5 < oar["probability"] < 0.95
    assert bank["asked"] > 0 and bank["chosen"] == plain.record(0, text)["chosen"]
    with pytest.raises(UserError, match="D478"):
        replace(model, task=SenseTask(words=[BANK_N])).with_fallback()


INFLECTIONS = {
    "n": "bank banks, church churches, bus buses, city cities, day days, potato potatos potatoes, "
    "radio radios, Bank bank banks, x-ray, a",
    "v": "call calls called calling, use uses used using, see sees seed seeing, die dies died dying, "
    "carry carries carried carrying, play plays played playing, stop stops stopped stopping, "
    "fix fixes fixed fixing, quit quits quitted quitting, treat treats treated treating, "
    "develop develops developped developed developping developing",
    "a": "green greener greenest, big bigger biggest, happy happier happiest, natural",
    "j": "fine finer finest",
    "r": "soon sooner soonest",
    "x": "bank",
    "": "bank",
}
"""Words with their inflections, by part of speech."""


@pytest.mark.parametrize("part", INFLECTIONS)
def test_inflections(part):
    for forms in INFLECTIONS[part].split(", "):
        word = forms.split()[0]
        assert {*inflections(word, part)} == {*forms.split()} - ({"Bank"} & {word})
    assert {"panicked", "panicking"} <= set(inflections("panic", "v"))


@given(st.text(max_size=8), st.sampled_from(["n", "v", "a", "r", "x", ""]))
def test_inflections_of_any_text(word, part):
    result = inflections(word, part)
    assert result[0] == word.lower() and len(set(result)) == len(result) <= 9
