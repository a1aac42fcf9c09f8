"""The dependency parser: training, its directory, its component, errors; transitions against a search."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import spacy
from damaged_folders import change_array, change_header, common_damages
from disambig_dependencies import (
    ParsedWords,
    _kernels as transitions,
    load_parser,
    make_projective,
    save_parser,
    train_parser,
)
from hypothesis import given, settings, strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from disambig.api.text import SpacyTokens, hash_words
from disambig.errors import UserError
from disambig.testing import check_standalone

LINES = """
The/DT/2/det cat/NN/3/nsubj saw/VBD/0/root a/DT/5/det dog/NN/3/obj ././3/punct
A/DT/2/det dog/NN/3/nsubj slept/VBD/0/root ././3/punct
She/PRP/2/nsubj saw/VBD/0/root the/DT/4/det cat/NN/2/obj with/IN/7/case a/DT/7/det bell/NN/4/nmod ././2/punct
The/DT/2/det keys/NNS/8/nsubj of/IN/5/case the/DT/5/det house/NN/2/nmod are/VBP/8/cop very/RB/8/advmod old/JJ/0/root ././8/punct
Anna/NNP/4/nsubj and/CC/3/cc Peter/NNP/1/conj sleep/VBP/0/root ././4/punct
Where/WRB/0/root are/VBP/1/cop the/DT/4/det keys/NNS/1/nsubj ?/./1/punct
She/PRP/3/nsubj ca/MD/3/aux sleep/VB/0/root in/IN/6/case the/DT/6/det house/NN/3/obl ././3/punct
The/DT/2/det cat/NN/6/nsubj that/WDT/4/nsubj slept/VBD/2/acl:relcl is/VBZ/6/cop old/JJ/0/root ././6/punct
Sleep/VB/0/root !/./1/punct
Keys/NNS/0/root
"""  # noqa: E501


def treebank():
    created = []
    for line in LINES.strip().splitlines():
        rows = [token.rsplit("/", 3) for token in line.split()]
        words, tags, heads, relations = map(list, zip(*rows, strict=True))
        created.append((words, tags, [int(head) - 1 for head in heads], relations))
    return created


@cache
def trained_parser(beam=1):
    return train_parser(treebank(), beam=beam, passes=20)


FILE, HEADER = "weights.npz", "header.json"


@pytest.mark.parametrize("beam", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_training(beam):
    parses = trained_parser(beam).parse_tagged([(words, tags) for words, tags, *_ in treebank()])
    assert parses == [ParsedWords(*sentence) for sentence in treebank()]


def test_training_is_repeatable_and_beams_agree():
    assert train_parser(treebank(), passes=20).digest() == trained_parser().digest()
    assert train_parser(treebank(), passes=20, seed=1).digest() != trained_parser().digest()
    small = train_parser(treebank(), passes=20, most=100)
    assert 0 < len(small.weights.weights) <= 110 < len(trained_parser().weights.weights)
    given_tags = [(words, tags) for words, tags, *_ in treebank()]
    greedy = trained_parser().parse_tagged(given_tags)
    assert trained_parser().with_beam(8).parse_tagged(given_tags) == greedy
    assert trained_parser(4).with_beam(1).beam == 1


def test_empty_short_and_long_sentences():
    assert trained_parser().parse_tagged([]) == []
    empty, one = trained_parser().parse_tagged([([], []), (["cat"], ["NN"])])
    assert (empty.heads, empty.relations) == ([], [])
    assert (one.heads, one.relations) == ([-1], ["root"])
    words, tags = ["the", "cat", "saw"] * 1500, ["DT", "NN", "VBD"] * 1500
    (parsed,) = trained_parser().with_beam(4).parse_tagged([(words, tags)])
    assert parsed.heads.count(-1) == 1


ANY_TOKEN = st.tuples(st.text(max_size=3), st.sampled_from(["NN", "VBD", "IN", ""]))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(ANY_TOKEN), max_size=4))
def test_any_words_give_one_tree_per_sentence(rows):
    tagged = [([word for word, _ in row], [tag for _, tag in row]) for row in rows]
    for beam in (1, 3):
        parses = trained_parser().with_beam(beam).parse_tagged(tagged)
        for (words, _), parsed in zip(tagged, parses, strict=True):
            assert len(parsed.heads) == len(words) == len(parsed.relations)
            assert parsed.heads.count(-1) == bool(words)
            for word in range(len(words)):
                steps = 0
                while word >= 0:
                    word, steps = parsed.heads[word], steps + 1
                assert steps <= len(words)


def test_backends_agree(monkeypatch):
    words = [*sorted({word for words, *_ in treebank() for word in words}), "unseen"]
    tags = sorted({tag for _, tags, *_ in treebank() for tag in tags})
    random = np.random.default_rng(3)
    texts = [list(random.choice(words, size)) for size in (1, 2, 3, 5, 8, 13, 40, 7, 1)]
    view = SpacyTokens("en").of_sentences(texts)
    hashes = hash_words(tags)[random.integers(0, len(tags), len(view))]
    results = []
    for backend in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", backend)
        results.append(trained_parser().parse_view_scored(view, hashes))
    for with_numpy, with_numba in zip(*results, strict=True):
        assert np.array_equal(with_numpy, with_numba)
    assert len(set(results[0][1].tolist())) > 2  # several relations


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ((["a"], [], [-1], ["root"]), "not one tag"),
        (([], [], [], []), "one or more words"),
        ((["a", "b"], ["X", "X"], [-1, -1], ["root", "root"]), "one root"),
        ((["a", "b"], ["X", "X"], [-1, 2], ["root", "x"]), "outside the sentence"),
        ((["a", "b", "c"], ["X"] * 3, [-1, 2, 1], ["root", "x", "x"]), "cycle"),
        ((["a", "b", "c"], ["X"] * 3, [2, 3, 0], ["x", "x", "root"]), "subtract 1 from heads"),
        ((["a", "b"], ["X"] * 2, ["-1", "0"], ["root", "x"]), "a head that is not a whole number"),
        ((["a", "b"], ["X"] * 2, [None, 0], ["root", "x"]), "a head that is not a whole number"),
        ((["a", "b"], ["X"] * 2, [-1, 0], ["root", None]), "relation that is not a text"),
        ((["a", "b"], ["X"] * 2, [-1, 0]), "not words, tags, heads and relations"),
    ],
)
def test_invalid_trees(sentence, problem):
    with pytest.raises(UserError, match=f"D916.*sentence 2.*{problem}"):
        train_parser([treebank()[0], sentence])


def test_a_treebank_without_tags_is_refused():
    words, tags, heads, relations = treebank()[0]
    with pytest.raises(UserError, match=r"D919.*no tags.*UPOS"):
        train_parser([(words, ["_"] * len(tags), heads, relations)])


def test_invalid_settings_and_words():
    for setting in ({"passes": 0}, {"passes": 1.5}, {"beam": 0}, {"beam": 65}, {"beam": True}):
        with pytest.raises(UserError, match="D903"):
            train_parser(treebank(), **setting)
    with pytest.raises(UserError, match="D903"):
        trained_parser().with_beam(0)
    with pytest.raises(UserError, match=r"D919.*no sentence"):
        train_parser([])
    with pytest.raises(UserError, match=r"D916.*sentence 2: words: 2, tags: 1;"):
        trained_parser().parse_tagged([(["a"], ["NN"]), (["a", "b"], ["NN"])])


@pytest.fixture
def folder(tmp_path):
    save_parser(trained_parser(), tmp_path / "my", details={"sentences": 10})
    return tmp_path / "my"


def test_saved_parsers(folder):
    again = load_parser(folder)
    assert again.digest() == trained_parser().digest()
    tagged = [(words, tags) for words, tags, *_ in treebank()]
    assert again.parse_tagged(tagged) == trained_parser().parse_tagged(tagged)
    assert json.loads((folder / HEADER).read_text())["about"] == {"sentences": 10}
    save_parser(replace(trained_parser(), beam=3), folder)
    assert load_parser(folder).beam == 3


DAMAGES = {
    **common_damages(FILE),
    "no relations": lambda folder: change_header(folder, relations=[]),
    "relations that are numbers": lambda folder: change_header(folder, relations=[1, 2]),
    "another relation": lambda folder: change_header(folder, relations=["x"]),
    "another weight": lambda folder: change_array(folder / FILE, "weights", lambda array: array + 1),
    "floats": lambda folder: change_array(folder / FILE, "weights", lambda array: array.astype(float)),
    "an action too many": lambda folder: change_array(folder / FILE, "actions", lambda array: array + 1000),
    "features twice": lambda folder: change_array(folder / FILE, "steps", lambda array: array * 0),
    "fewer sizes": lambda folder: change_array(folder / FILE, "sizes", lambda array: array[:-1]),
    "sizes of zero": lambda folder: change_array(folder / FILE, "sizes", lambda array: array * 0),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damaged_parsers(folder, what):
    DAMAGES[what](folder)
    with pytest.raises(UserError) as caught:
        load_parser(folder)
    assert caught.value.code == "D900" and "\n" not in str(caught.value)


def test_invalid_names_and_beams(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, code in (("no_such_pack", "D901"), (str(tmp_path / "empty"), "D902"), (__file__, "D943")):
        with pytest.raises(UserError, match=code):
            load_parser(name)
    for beam in (0, 10**12, "wide", None, 1.0):
        change_header(folder, beam=beam)
        with pytest.raises(UserError, match=r"D90[03]"):
            load_parser(folder)


TEXT = "The cat saw a dog. The dog slept."


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("dependencies")
    save_parser(trained_parser(), home)
    return str(home)


@pytest.fixture(scope="module")
def nlp(model_folder):
    created = spacy.blank("en")
    created.add_pipe("disambig_dependencies", config={"model": model_folder})
    return created


def arcs(doc):
    return [(token.text, token.dep_, token.head.i) for token in doc]


def test_heads_relations_and_sentences(nlp):
    doc = nlp(TEXT)
    first = ["The/det/1", "cat/nsubj/2", "saw/ROOT/2", "a/det/4", "dog/obj/2", "./punct/2"]
    assert ["/".join(map(str, arc)) for arc in arcs(doc)[:6]] == first
    assert [sent.text for sent in doc.sents] == ["The cat saw a dog.", "The dog slept."]
    assert [sent.root.text for sent in doc.sents] == ["saw", "slept"]
    assert doc.has_annotation("DEP") and not doc.has_annotation("TAG")
    assert [token.text for token in doc[2].lefts] == ["cat"]
    words, tags, heads, relations = treebank()[3]
    doc = nlp.get_pipe("disambig_dependencies")(Doc(nlp.vocab, words=words, tags=tags))
    assert [token.head.i for token in doc] == [i if head < 0 else head for i, head in enumerate(heads)]
    assert [token.dep_ for token in doc] == ["ROOT" if name == "root" else name for name in relations]


def test_sentences_of_other_components_and_white_space(nlp):
    words = ["A", "dog", "slept", "the", "cat", "saw", "a", "dog"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True, False, False, False, False])
    nlp.get_pipe("disambig_dependencies")(doc)
    assert [sent.text for sent in doc.sents] == ["A dog slept", "the cat saw a dog"]
    one = Doc(nlp.vocab, words=["A", ".", "B", "."], sent_starts=[1, -1, -1, -1])
    assert len(list(nlp.get_pipe("disambig_dependencies")(one).sents)) == 1
    assert arcs(nlp("")) == []
    assert arcs(nlp("Cats")) == [("Cats", "ROOT", 0)]
    assert arcs(nlp(" \n")) == [(" \n", "ROOT", 0)]
    doc = nlp("  The cat \n slept.  \n\n The dog slept. ")
    assert [sent.root.text for sent in doc.sents] == ["slept", "slept"]
    assert {token.dep_ for token in doc if token.is_space} == {"dep"}
    assert not any(token.is_space for token in (token.head for token in doc))


@settings(deadline=None, max_examples=30)
@given(st.text("ab .!?\n\t(\"'", max_size=25))
def test_any_text_becomes_one_tree_per_sentence(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents))
    for sent in doc.sents:
        assert all(token.head in sent for token in sent)


def test_streams_of_docs(nlp):
    texts = [TEXT, "", "Keys", "She can't see the bell in the house.", " "] * 3
    assert [arcs(doc) for doc in nlp.pipe(texts, batch_size=4)] == [arcs(nlp(text)) for text in texts]
    stored = DocBin(docs=nlp.pipe(texts)).to_bytes()
    again = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert [arcs(doc) for doc in again] == [arcs(nlp(text)) for text in texts]
    texts = [TEXT, "The dog slept."] * 2
    assert [arcs(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)] == [arcs(nlp(t)) for t in texts]


def test_pipelines_are_saved_and_loaded(nlp, tmp_path, model_folder):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert arcs(again(TEXT)) == arcs(nlp(TEXT))
    other = spacy.blank("en")
    other.add_pipe("disambig_dependencies", config={"model": model_folder})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.from_bytes(nlp.to_bytes())
    assert arcs(other(TEXT)) == arcs(nlp(TEXT))
    wide = spacy.blank("en")
    wide.add_pipe("disambig_dependencies", config={"model": model_folder, "beam": 4})
    assert wide.get_pipe("disambig_dependencies").parser.beam == 4


def test_warning_for_another_parser(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    save_parser(train_parser(treebank()[:4]), tmp_path / "other")
    config = spacy.util.load_config(tmp_path / "pipeline" / "config.cfg")
    config["components"]["disambig_dependencies"]["model"] = str(tmp_path / "other")
    config.to_disk(tmp_path / "pipeline" / "config.cfg")
    with pytest.warns(UserWarning, match="saved with another model"):
        spacy.load(tmp_path / "pipeline")


def test_scores(nlp):
    words, tags, heads, relations = treebank()[0]
    annotation = {"heads": [i if head < 0 else head for i, head in enumerate(heads)]}
    annotation["deps"] = ["ROOT" if name == "root" else name for name in relations]
    gold = Doc(nlp.vocab, words=words, **annotation)
    component = nlp.get_pipe("disambig_dependencies")
    scores = component.score([Example(component(Doc(nlp.vocab, words=words, tags=tags)), gold)])
    assert scores["dep_uas"] == scores["dep_las"] == 1.0
    assert set(scores["dep_las_per_type"]) == set(relations)  # names, punctuation included
    assert {"nsubj", "ROOT"} <= set(component.labels)


def test_errors_of_the_component(model_folder, tmp_path):
    save_parser(replace(trained_parser(), tagger="preposition"), tmp_path)
    for language, config, code in (
        ("de", {"model": model_folder}, "D500"),
        ("en", {"model": "no_such_pack"}, "D901"),
        ("en", {"model": model_folder, "beam": 0}, "D903"),
        ("en", {"model": str(tmp_path)}, "D505"),  # of another tagger
    ):
        with pytest.raises(UserError, match=code):
            spacy.blank(language).add_pipe("disambig_dependencies", config=config)


def test_pipelines_for_several_languages(model_folder):
    nlp = spacy.blank("xx")
    nlp.add_pipe("disambig_dependencies", config={"model": model_folder})
    assert [token.dep_ for token in nlp("The cat saw the dog.")].count("ROOT") == 1


def test_contract_of_standalone_models():
    assert repr(trained_parser()) == f"<{trained_parser().describe()}>"
    for check in check_standalone(trained_parser(), ["The cat ran.", "The dog saw a cat."]):
        check()


SHIFT, LEFT, RIGHT = 0, 1, 2
"""The actions of one label."""


def is_tree(heads):
    """Return True if 1-based heads, 0 for the root's, form a tree with one root."""
    if sum(head == 0 for head in heads) != 1:
        return False
    for word in range(1, len(heads) + 1):
        above, steps = word, 0
        while above and steps <= len(heads):
            above, steps = heads[above - 1], steps + 1
        if above:
            return False
    return True


def is_projective(heads):
    """Return True if all words between a word and its head descend from the head."""
    for child, head in enumerate(heads, 1):
        for word in range(min(child, head) + 1, max(child, head)) if head else ():
            above = word
            while above not in (0, head):
                above = heads[above - 1]
            if above != head:
                return False
    return True


def projective_trees(n):
    candidates = product(range(n + 1), repeat=n)
    return [heads for heads in candidates if is_tree(heads) and is_projective(heads)]


class State:
    """A parser state in Python: the stack, the first word of the buffer, the arcs."""

    def __init__(self, n, stack=(), first=1, arcs=()):
        self.n, self.stack, self.first, self.arcs = n, stack, first, arcs

    def actions(self):
        can = (SHIFT,) if self.first <= self.n else ()
        can += (LEFT,) if self.stack and self.first <= self.n else ()
        return can + ((RIGHT,) if len(self.stack) > 1 else ())

    def after(self, action):
        if action == SHIFT:
            return State(self.n, (*self.stack, self.first), self.first + 1, self.arcs)
        head = self.first if action == LEFT else self.stack[-2]
        return State(self.n, self.stack[:-1], self.first, (*self.arcs, (self.stack[-1], head)))

    def key(self):
        return self.stack, self.first, self.arcs


def compiled_state(n, actions):
    rows, place = np.zeros((transitions.N_ROWS, n + 2), np.int32), np.zeros(2, np.int64)
    transitions.start(rows, place)
    for action in actions:
        transitions.apply(rows, place, action, 1)
    return rows, place


def gold_arrays(heads):
    return np.array([0, *heads], np.int32), np.array([0, *[int(head > 0) for head in heads]], np.int32)


def derive(heads):
    """Return the actions of the static oracle, and the heads that they build."""
    n = len(heads)
    gold, labels = gold_arrays(heads)
    rows, place = compiled_state(n, [])
    actions = []
    for _ in range(2 * n - 1):
        actions.append(int(transitions.static_action(rows, place, n, gold, labels, 1)))
        assert actions[-1] >= 0
        transitions.apply(rows, place, actions[-1], 1)
    return actions, tuple(rows[transitions.HEAD, 1 : n + 1].tolist())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_static_oracle(n):
    all_trees = projective_trees(n)
    assert len(all_trees) == (1, 2, 7, 30, 143)[n - 1]  # Yuret (1998)
    for heads in all_trees:
        assert derive(heads)[1] == heads


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_sequences_of_actions(n):
    built = set()

    def walk(state, actions):
        if len(actions) == 2 * n - 1:
            heads = [0] * n
            for child, head in state.arcs:
                heads[child - 1] = head
            rows, place = compiled_state(n, actions)
            assert tuple(rows[transitions.HEAD, 1 : n + 1].tolist()) == tuple(heads)
            assert place.tolist() == [1, n + 1]
            built.add(tuple(heads))
            return
        for action in state.actions():
            walk(state.after(action), (*actions, action))

    walk(State(n), ())
    assert built == set(projective_trees(n))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_costs_of_the_dynamic_oracle(n):
    for heads in projective_trees(n):
        gold, _ = gold_arrays(heads)

        @cache
        def most_right(key, heads=heads):
            state = State(n, *key)
            if state.first > n and len(state.stack) == 1:
                built = dict(state.arcs)
                return sum(built.get(child, 0) == head for child, head in enumerate(heads, 1))
            return max(most_right(state.after(action).key()) for action in state.actions())

        seen, waiting = set(), [((), State(n))]
        while waiting:
            actions, state = waiting.pop()
            if state.key() in seen or (state.first > n and len(state.stack) == 1):
                continue
            seen.add(state.key())
            rows, place = compiled_state(n, actions)
            costs = transitions.action_costs(rows, place, n, gold)
            can = transitions.possible(place, n)
            assert [a for a in (SHIFT, LEFT, RIGHT) if can[a]] == sorted(state.actions())
            for action in state.actions():
                lost = most_right(state.key()) - most_right(state.after(action).key())
                assert costs[action] == lost, (heads, actions, action)
                waiting.append(((*actions, action), state.after(action)))


@st.composite
def any_trees(draw, most=40):
    """Heads of any tree with one root, 0-based and -1 for the root."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    heads = [-1] * n
    for i, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, i - 1))]
    return heads


@settings(deadline=None, max_examples=60)
@given(any_trees())
def test_make_projective(heads):
    lifted = [head + 1 for head in make_projective(heads)]
    assert is_tree(lifted) and is_projective(lifted)
    if is_projective([head + 1 for head in heads]):
        assert lifted == [head + 1 for head in heads]
    assert derive(lifted)[1] == tuple(lifted)


@settings(deadline=None, max_examples=60)
@given(any_trees(25), st.lists(st.integers(0, 2), max_size=20))
def test_dynamic_oracle_after_mistakes(heads, wrong):
    lifted = [head + 1 for head in make_projective(heads)]
    n = len(lifted)
    gold, _ = gold_arrays(lifted)
    rows, place = compiled_state(n, [])
    lost = 0
    for step in range(2 * n - 1):
        costs, can = transitions.action_costs(rows, place, n, gold), transitions.possible(place, n)
        possible = [action for action in (SHIFT, LEFT, RIGHT) if can[action]]
        action = min(possible, key=lambda action: costs[action])
        assert costs[action] == 0  # an action that loses nothing always exists
        if step < len(wrong) and wrong[step] in possible:
            action = wrong[step]
        lost += costs[action]
        transitions.apply(rows, place, action, 1)
    assert int((rows[transitions.HEAD, 1 : n + 1] != gold[1:]).sum()) == lost
