"""The tasks spelling and preposition: which words they decide, sets, missing prepositions, training."""

from __future__ import annotations

import json
import lzma
import os
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from disambig_variance_svm import ENGLISH_CONFUSION_SETS, ENGLISH_STYLE, Spelling
from disambig_variance_svm.prepositions import (
    HASHES,
    MISSING_WEIGHTS,
    PARTS_OF_SPEECH,
    WEIGHTS,
    Preposition,
    PrepositionNetwork,
    PrepositionOdds,
    PrepositionUsage,
    TreebankWord,
    build_class_table,
    find_examples,
    fit_weights,
    frequent_words,
    is_preposition,
    look_up_classes,
    missing_training as missing,
    most_frequent_kind,
    read_ewt_examples,
    read_labelled,
    report_row,
    swap_prepositions,
    swapped_recall,
    threshold_for,
    usage_report,
    word_classes,
)
from disambig_variance_svm.prepositions.task import PREPOSITIONS
from hypothesis import given, settings, strategies as st

from disambig.api.features import WORD_KINDS, PartsOfSpeech, WordNetwork
from disambig.api.tasks import Gaps, confusion_set, learn_gaps, read_confusion_sets
from disambig.data import CandidateFinder, Group
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.testing import check_extractor
from disambig.text import Words, hash_words

TEXTS = [
    "They may be late. Maybe not! It's cold, and its tail is wet.",
    "",
    "The cat sat on the mat under a table. To whom did he go to speak? We walked toward it.",
    "Whose turn is it? Who's there? Their affect had no effect.",
]


OR_NONE = [Preposition(or_none=True), Preposition(or_none=True, only_as_preposition=False, least_odds=-4.0)]


@pytest.mark.parametrize("task", OR_NONE, ids=str)
def test_contract(task):
    for check in check_extractor(PrepositionOdds(), task, TEXTS):
        check()


def find_instances(text, task):
    """Return (words in the text, candidate, group) of every instance."""
    view = Words()([text])
    instances = task.instances(view)
    starts, ends = view.starts[instances.positions], view.ends[instances.positions + instances.lengths - 1]
    result = []
    for start, end, g, observed in zip(starts, ends, instances.groups, instances.observed, strict=True):
        result.append((text[start:end], task.groups[g].candidates[observed], task.groups[g].name))
    return result


def find_spelling(text):
    return [(seen, candidate) for seen, candidate, _ in find_instances(text, Spelling())]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Maybe it's late; they may be wrong.", ["Maybe|maybe", "it's|it's", "may|may", "may be|may be"]),
        ("They MAY\n  BE quite sure.", ["MAY|may", "MAY\n  BE|may be", "quite|quite"]),
        ("its, it's, it\u2019s", ["its|its", "it's|it's", "it\u2019s|it's"]),
        ("You may. Be quick!", ["may|may"]),  # candidates of two words do not cross the end of a sentence
        ("Wait a while.", ["Wait|wait", "a|a", "a while|a while"]),
        ("Log in to it.", ["Log in|log in", "in to|in to", "to|to"]),
        ("that quiet-loving man", []),  # parts of larger words
        ("the peace/piece matter", []),
        ("user_quiet", []),
        ("quiet@example", []),
        ("non-quiet rooms", []),
    ],
)
def test_words_and_their_places(text, places):
    assert [f"{seen}|{candidate}" for seen, candidate in find_spelling(text)] == places


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("Its being late is fine.", False),
        ("Well. Its having no windows will keep it warm.", False),
        ("Its not being ready made it hard to sell.", False),
        ("Its being open\nto all may be the reason.", False),
        ("Its being built now.", True),
        ("Its being built as it was planned.", True),
        ("Its being a bad day, that is why we left.", True),
        ("Its having a bad day is there any news?", True),
        ("Its late, and being late is bad.", True),
        ("Its color is being changed.", True),
        ("The version in which its being defined may end.", True),
    ],
)
def test_its_before_a_gerund_that_is_a_subject_is_not_decided(text, decided):
    assert ("its" in [candidate for _, candidate in find_spelling(text)]) is decided


def test_words_that_are_decided_as_prepositions():
    every = Preposition(only_as_preposition=False)
    for text, task, places in (
        ("A follow-up to it", every, ["to"]),  # parts of compounds are not prepositions
        ("and/or in-between", every, []),
        ("the walk - in winter", every, ["in"]),
        ("They want to go to Rome.", every, ["to", "to"]),
        ("They want to go to Rome.", Preposition(), ["to"]),  # an infinitive
        ("We went in in the evening, to go on on and in it", Preposition(), ["in"]),  # none is doubled
    ):
        assert find_instances(text, task) == [(word, word, "preposition") for word in places]


def test_prepositions_are_34_in_one_group_and_configurable():
    (group,) = Preposition().groups
    assert len(set(group.candidates)) == len(PREPOSITIONS) == 34
    assert group.same(group.candidates.index("toward"), group.candidates.index("towards"))
    assert not group.same(group.candidates.index("in"), group.candidates.index("on"))
    (small,) = Preposition(words=["in", "toward"]).groups
    assert small == Group("preposition", ("in", "toward"))


def test_extra_sets_and_those_of_a_saved_model(tmp_path):
    extra = confusion_set("quite/quilt")
    task = Spelling(extra=(extra,))
    assert task.groups[:-1] == Spelling().groups
    _, last = [group for _, _, group in find_instances("It is quite warm.", task)]
    assert last == "quite/quilt"
    task = Spelling(extra=(extra, confusion_set("quiet/quit")))  # in the order of text, then of groups
    instances = task.instances(Words()(["Quite quiet.", "Quiet, quite."]))
    keys = list(zip(instances.positions, instances.groups, strict=True))
    assert keys == sorted(keys)
    assert len(keys) == 8
    assert np.unique(instances.groups).size == 3
    saved = (confusion_set("quite/quiet"), confusion_set("lose/loose"))
    task = Spelling(sets=tmp_path / "nothing.tsv", extra=(confusion_set("quite/quilt"),)).of_groups(saved)
    assert task.groups == saved
    more = confusion_set("fell/felt")
    assert task.with_groups([more]).groups == (*saved, more)
    names = [name for _, _, name in find_instances("Quite a loose stone fell.", task)]
    assert names == ["quite/quiet", "lose/loose"]


def test_the_longer_candidate_of_a_set_is_taken():
    finder = CandidateFinder.from_groups([Group("g", ("some", "some time", "sometimes"))])
    view = Words()(["Some time ago, some of it, sometimes."])
    instances = finder.find(view)
    assert instances.lengths.tolist() == [2, 1, 1]
    assert instances.observed.tolist() == [1, 0, 2]


@pytest.mark.parametrize("or_none", [False, True])
@pytest.mark.parametrize("candidate", ["in front of", ""])
def test_a_candidate_that_cannot_be_found_is_refused(candidate, or_none):
    with pytest.raises(UserError, match="D450"):
        Preposition(words=["in", candidate], or_none=or_none).instances(Words()(["in front of it"]))


any_words = st.text("abcdefghijklmnopqrstuvwxyz'", min_size=1, max_size=6).filter(
    lambda word: not word.startswith("'") and not word.endswith("'") and "''" not in word
)


@given(st.lists(any_words, min_size=2, max_size=3, unique=True), st.lists(any_words, max_size=25), st.data())
def test_finder_against_a_loop(members, around, data):
    text = " ".join(data.draw(st.permutations([*around, *members])))
    instances = CandidateFinder.from_groups([Group("g", tuple(members))]).find(Words()([text]))
    seen = Words().words(text)
    expected = [(i, members.index(word)) for i, word in enumerate(seen) if word in members]
    assert list(zip(instances.positions.tolist(), instances.observed.tolist(), strict=True)) == expected


def test_the_english_sets():
    groups = read_confusion_sets(ENGLISH_CONFUSION_SETS)
    assert len(groups) == 321
    readme = (ENGLISH_CONFUSION_SETS.parents[1] / "README.md").read_text(encoding="utf8")
    assert f"({len(groups)} English ones ship)" in readme
    any_members = [candidate for group in groups for candidate in group.candidates]
    assert len(set(any_members)) == len(any_members)
    requested = (
        "among/between amount/number cite/sight/site peace/piece raise/rise their/there/they're its/it's "
        "your/you're whose/who's to/too/two than/then affect/effect lose/loose quiet/quite accept/except "
        "principal/principle weather/whether passed/past lead/led advice/advise maybe/may_be a/an into/in_to "
        "cannot/can_not send/sent therefor/therefore then/them our/out use/user check_out/checkout"
    )
    sets = [set(group.candidates) for group in groups]
    for name in requested.split():
        assert any(
            {word.replace("_", " ") for word in name.split("/")} <= candidates for candidates in sets
        ), name


any_members = st.lists(any_words, min_size=2, max_size=4, unique=True)


@given(st.lists(any_members, min_size=1, max_size=6, unique_by=lambda names: "/".join(names)), st.data())
def test_sets_round_trip(tmp_path_factory, sets, data):
    path = tmp_path_factory.mktemp("sets") / "sets.tsv"
    lines = []
    for names in sets:
        lines += data.draw(st.sampled_from([[], [""], ["# a remark"], ["  "]]))
        line = data.draw(st.sampled_from(["/", " / "])).join(names)
        line = data.draw(st.sampled_from([line, line.upper(), line + "\ta gloss", f" {line} "]))
        lines.append(line.replace("'", data.draw(st.sampled_from(["'", "\N{RIGHT SINGLE QUOTATION MARK}"]))))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    mark = data.draw(st.sampled_from(["", "\ufeff"]))
    path.write_bytes((mark + end.join(lines)).encode())
    assert [group.candidates for group in read_confusion_sets(path)] == [tuple(names) for names in sets]


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("alone", "two or more different words"),
        ("quite/", "'' is not one word or two"),
        ("a/a", "two or more different words"),
        ("a/A", "two or more different words"),
        ("one/this is long", "'this is long' is not one word or two"),
        ("well-known/known", "'well-known' is not a word"),
        ("a.m./am", "'a.m.' is not a word"),
        ("good/bad", "good/bad occurs twice"),
    ],
)
def test_invalid_sets(tmp_path, line, seen):
    path = tmp_path / "sets.tsv"
    path.write_text(f"# mine\ngood/bad\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_confusion_sets(path)
    message = str(caught.value)
    assert caught.value.code == "D410"
    assert "line 3" in message and seen in message and "\n" not in message


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "D300"),
        (b"", "D665"),
        (b"# nothing but a remark\n\n", "D665"),
        (b"\xff\xfe\x00", "D304"),
        (b"caf\xe9/cafes", "D304"),
    ],
)
def test_unreadable_set_files(tmp_path, content, code):
    path = tmp_path / "sets.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_confusion_sets(path)
    assert caught.value.code == code
    assert str(path) in str(caught.value)


def test_style_sets_are_not_decided():
    view = Words()(["You can not see it, but they're there."])
    assert "cannot/can not" not in {Spelling().groups[i].name for i in Spelling().instances(view).groups}
    sets = [Group("cannot/can not", ("cannot", "can not")), Group("there/they're", ("there", "they're"))]
    assert set(Spelling().of_groups(sets).instances(view).groups.tolist()) == {1}
    added = Spelling().with_groups(sets[:1])
    assert len(added.groups) - 1 in added.instances(view).groups.tolist()
    style = {frozenset(group.candidates) for group in read_confusion_sets(ENGLISH_STYLE)}
    assert frozenset(("cannot", "can not")) in style
    assert style <= {frozenset(group.candidates) for group in Spelling().groups}


@pytest.mark.parametrize(
    ("task", "text", "words"),
    [
        (Spelling(), "It is an 18-year-old.", []),  # before numbers and capitals
        (Spelling(), "An 8 GB card", []),
        (Spelling(), "We use a SQL query, an LSTM.", ["use"]),
        (Spelling(), "a 5", []),
        (Spelling(), "It is an apple, a Pear, an I and a 5.", ["an", "a", "Pear", "an"]),
        (Spelling(), "It is their 18 peace.", ["their", "peace"]),
        (Spelling().with_groups([Group("an/and", ("an", "and"))]), "It is an 18 day trip.", ["an"]),
    ],
)
def test_articles_are_decided_before_words(task, text, words):
    assert [seen for seen, _, _ in find_instances(text, task)] == words


TEXT = "They want to listen music and discuss about it at length. He gave up waiting the bus in May."


def find_places(task, text=TEXT):
    """Return the observed candidate and the word at each place."""
    view = Words()([text])
    result = task.instances(view)
    shown = []
    for position, length, observed in zip(result.positions, result.lengths, result.observed, strict=True):
        word = text[view.starts[position] : view.ends[position]]
        candidate = task.groups[0].candidates[observed]
        assert candidate == (word.lower() if length else "")
        shown.append((candidate, word))
    return shown


def test_missing_and_superfluous_prepositions():
    places = find_places(Preposition(or_none=True))
    assert places == [("", "music"), ("about", "about"), ("at", "at"), ("", "the"), ("in", "in")]
    assert find_places(Preposition()) == [place for place in places if place[0]]  # nothing is missing
    (group,), (usual,) = Preposition(or_none=True).groups, Preposition().groups
    assert group.candidates == (*PREPOSITIONS, "") and group.name == usual.name
    assert usual.candidates == PREPOSITIONS and group.variants == usual.variants
    (few,) = Preposition(words=["in", "on"], or_none=True).groups
    assert few.candidates == ("in", "on", "")
    task = Preposition(words=["out of", "in"], or_none=True, least_odds=-99.0, only_as_preposition=False)
    result = task.instances(Words()(["We ran out of town early."]))
    assert np.stack([result.positions, result.lengths], axis=1).tolist() == [[2, 0], [3, 2], [6, 0]]


@pytest.mark.parametrize("text", [TEXT, "", "Up.", "to to to", "In it we go to, up. On and on without end"])
def test_empty_places_are_not_next_to_prepositions(text):
    """Without a limit of odds, all places between two words that are not prepositions are found."""
    view = Words()([text])
    result = Preposition(or_none=True, least_odds=-99.0).instances(view)
    assert (np.diff(result.positions) > 0).all()
    words = Words().words(text)
    beside = {p for at, word in enumerate(words) if word in PREPOSITIONS for p in (at, at + 1)}
    empty = set(result.positions[result.lengths == 0].tolist())
    assert not beside & empty
    assert bool(empty) == (text in (TEXT, "In it we go to, up. On and on without end"))
    assert Preposition(or_none=True, least_odds=99.0).instances(view).lengths.all()


def test_more_empty_places_are_learned_from_than_decided():
    view = Words()([TEXT])
    task = Preposition(or_none=True)
    decided, learned = task.instances(view), task.examples(view)
    assert set(decided.positions.tolist()) < set(learned.positions.tolist())
    assert (learned.lengths == 0).sum() > (decided.lengths == 0).sum()
    same = Preposition(or_none=True, least_odds=-6.0)
    assert np.array_equal(same.examples(view).positions, same.instances(view).positions)
    assert np.array_equal(Preposition().examples(view).positions, Preposition().instances(view).positions)


def test_weights_of_empty_places(tmp_path):
    """Those that ship, and those of a directory."""
    header = Gaps.load(MISSING_WEIGHTS).header
    assert header["words"] == list(PREPOSITIONS) and header["tokenisation"] == Words.name
    assert len(header["sources"]) == 12 and header["licence"]
    texts = ["We ask him to come. They ask for bread." for _ in range(50)]
    learn_gaps([Words()(texts)], ["for"], bits=12).save(tmp_path)
    task = Preposition(words=["for"], or_none=True, gaps=tmp_path, least_odds=0.0)
    assert find_places(task, "They ask bread. We ask him.") == [("", "bread")]
    with pytest.raises(UserError, match="D424"):
        find_places(Preposition(or_none=True, gaps=tmp_path / "none"))


def test_training_of_missing_prepositions(tmp_path):
    (tmp_path / "english").mkdir()
    for domain, verb in (("one", "wait"), ("two", "ask")):
        with lzma.open(tmp_path / "english" / f"{domain}.train.txt.xz", "wt", encoding="utf8") as out:
            out.write(f"They {verb} for bread.\n" * 30)
    first, second = (tmp_path / name for name in ("a", "b"))
    missing.main(tmp_path, first)
    missing.main(tmp_path, second)
    learned, again = Gaps.load(first), Gaps.load(second)
    assert learned.header["sources"] == ["english/one.train.txt.xz", "english/two.train.txt.xz"]
    assert np.array_equal(learned.weights, again.weights)
    view = Words()(["They wait bread. They ask bread. They bread."])
    at = np.flatnonzero(view.hashes == view.hashes[3])
    assert (learned.log_odds(view, at - 1, at)[:2] > 0).all()


@pytest.mark.parametrize(
    "module",
    [
        "prepositions.missing_training",
        "prepositions.usage_training",
        "prepositions.word_kind_training",
        "pronoun_it._stem_selection",
        "pronoun_it.apostrophes",
        "pronoun_it.frame_training",
    ],
)
def test_command_lines_of_training(module, tmp_path, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["training", *arguments])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            warnings.simplefilter("ignore", RuntimeWarning)  # the module is imported already
            runpy.run_module(f"disambig_variance_svm.{module}", run_name="__main__")
        return ended.value.code, *capsys.readouterr()

    status, out, _ = run("--help")
    assert status == 0 and "directory of the data" in out
    status, _, errors = run()
    assert status == 2 and "required: data" in errors
    status, out, errors = run(str(tmp_path))
    assert (status, out) == (2, "") and errors.count("\n") == 1
    assert errors.startswith(f"[D300] {tmp_path}")


def test_shipped_weights(tmp_path):
    parts = PartsOfSpeech.load(PARTS_OF_SPEECH)
    assert parts.header["tokenisation"] == Words.name and len(parts.header["sources"]) == 12
    expected = {"listen": "verb", "music": "noun", "the": "determiner", "them": "pronoun", "of": "other"}
    kinds = parts.word_kinds(hash_words(list(expected)))
    assert [WORD_KINDS[kind] for kind in kinds.tolist()] == list(expected.values())
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= 300_000
    assert USAGE.header["licence"] == "CC BY-SA 4.0"
    assert any("EWT" in source["name"] for source in USAGE.header["sources"])
    assert tuple(USAGE.header["words"]) == PREPOSITIONS and len(set(PREPOSITIONS)) == 34
    USAGE.save(tmp_path / "copy")
    again = PrepositionUsage.load(tmp_path / "copy")
    np.testing.assert_array_equal(again.weights, USAGE.weights)
    np.testing.assert_array_equal(again.slots, USAGE.slots)
    assert again.header == json.loads(json.dumps(USAGE.header))


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"NN": 9, "VB": 1}, "noun"),
        ({"NN": 6, "VBP": 4}, "noun or verb"),
        ({"VBD": 4, "VBN": 6}, "verb"),
        ({"VBD": 2, "VBN": 8}, "participle"),
        ({"NN": 6, "VBG": 4}, "gerund"),
        ({"JJ": 5, "RB": 4}, "adjective"),
        ({"PRP$": 3}, "determiner"),
        ({",": 3}, "other"),
    ],
)
def test_most_frequent_kind(tags, kind):
    assert most_frequent_kind(tags) == kind


USAGE = PrepositionUsage.load()


def places_of_prepositions(*texts):
    view = Words()(texts)
    return view, np.flatnonzero(np.isin(view.hashes, HASHES))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She lives in a small house on the hill.", {"in": True, "on": True}),
        ("We walked to the station with our bags.", {"to": True, "with": True}),
        ("They want to go and he has to work.", {"to": False}),
        ("You should never give up.", {"up": False}),
        ("He picked up the phone and hung up.", {"up": False}),
        ("Nobody could find out how it works, but they went on.", {"on": False}),
        ("It was about 50 kilometres away.", {"about": False}),
        ("We talked about the weather.", {"about": True}),
        ("As he left, the phone rang.", {"As": False}),
        ("She works as a nurse.", {"as": True}),
        ("He likes tea as well.", {"as": False}),
        ("They thanked her for coming without complaining.", {"for": True, "without": True}),
        ("We waited until he came.", {"until": False}),
        ("I am looking forward to seeing you.", {"to": True}),
        ("They depend from their parents.", {"from": True}),  # a mistake in a preposition is let through
    ],
)
def test_words_used_as_prepositions(text, expected):
    view, positions = places_of_prepositions(text)
    words = [text[view.starts[at] : view.ends[at]] for at in positions]
    assert dict(zip(words, USAGE.is_preposition(view, positions).tolist(), strict=True)) == expected


def test_probabilities_and_thresholds():
    text = "He went to the bank to get up to date. "
    view, positions = places_of_prepositions(text)
    chance = USAGE.probability(view, positions)
    assert chance.shape == (4,) and ((chance > 0) & (chance < 1)).all()
    assert len(USAGE.probability(view, np.zeros(0, dtype=np.int64))) == 0
    np.testing.assert_array_equal(USAGE.probability(view, positions[::-1]), chance[::-1])
    many = USAGE.probability(*places_of_prepositions(text * 2500))  # more words than a block
    np.testing.assert_array_equal(many, np.tile(chance, 2500))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([*PREPOSITIONS, "we", "go", "the", "zyx", "7"]), min_size=1, max_size=40))
def test_only_the_sentence_counts(words):
    text = " ".join(words)
    alone, here = places_of_prepositions(text)
    among = Words()(["Put it down.", text, "Up to you."])
    expected = USAGE.probability(alone, here)
    np.testing.assert_array_equal(USAGE.probability(among, here + among.documents[1]), expected)


def test_damaged_weights(tmp_path):
    def check_refused(problem="D420"):
        with pytest.raises(UserError, match=problem):
            PrepositionUsage.load(tmp_path)

    check_refused()
    USAGE.save(tmp_path)
    path = tmp_path / "weights.npz"
    whole = path.read_bytes()
    for bad in (b"", b"no archive", whole[: len(whole) // 2]):
        path.write_bytes(bad)
        check_refused()
    for at in range(40, len(whole), len(whole) // 25):
        flipped = bytearray(whole)
        flipped[at] ^= 0xFF
        path.write_bytes(flipped)
        check_refused()
    with path.open("wb") as file:
        np.save(file, USAGE.weights)
    check_refused()
    np.savez(path, weights=np.array([{}], dtype=object), slots=USAGE.slots)
    check_refused()
    np.savez(path, weights=USAGE.weights[:1000], slots=USAGE.slots)
    check_refused("weights of int8")
    path.write_bytes(whole)
    for header in ("[]", "{}", '{"tokenisation": "disambig.words.v1", "scale": "1"}', "{"):
        (tmp_path / "header.json").write_text(header, encoding="utf8")
        check_refused()


def sentence(*lines):
    rows = (line.split() for line in lines)
    return [TreebankWord(form, upos, xpos, int(head), name) for form, upos, xpos, head, name in rows]


@pytest.mark.parametrize(
    ("lines", "at", "expected"),
    [
        (["in ADP IN 2 case", "Rome PROPN NNP 0 root"], 0, True),
        (["give VERB VB 0 root", "up ADP RP 1 compound:prt"], 1, False),
        (["to PART TO 2 mark", "go VERB VB 0 root"], 0, False),
        (["about ADV RB 2 advmod", "50 NUM CD 0 root"], 0, False),
        (["by SCONJ IN 2 mark", "going VERB VBG 0 root"], 0, True),
        (["for SCONJ IN 3 mark", "being AUX VBG 3 cop", "late ADJ JJ 0 root"], 0, True),
        (["as SCONJ IN 3 mark", "he PRON PRP 3 nsubj", "left VERB VBD 0 root"], 0, False),
        (["as SCONJ IN 3 mark", "they PRON PRP 3 nsubj", "going VERB VBG 0 root"], 0, False),
        (["for SCONJ IN 4 mark", "him PRON PRP 4 nsubj", "to PART TO 4 mark", "go VERB VB 0 root"], 0, False),
        (["on SCONJ IN 3 mark", "who PRON WP 3 nsubj", "works VERB VBZ 0 root"], 0, True),
        (["in SCONJ IN 3 mark", "that SCONJ IN 1 fixed", "works VERB VBZ 0 root"], 0, False),
        (["because ADP IN 3 case", "of ADP IN 1 fixed", "rain NOUN NN 0 root"], 1, True),
        (["kind NOUN NN 3 advmod", "of ADP IN 1 fixed", "odd ADJ JJ 0 root"], 1, False),
        (["of ADP IN 0 advmod", "course NOUN NN 1 fixed"], 0, True),
        (["as ADP IN 3 case", "of ADP IN 1 fixed", "May PROPN NNP 0 root"], 0, False),
        (["as ADP IN 3 case", "of ADP IN 1 fixed", "May PROPN NNP 0 root"], 1, True),
        (["as ADV RB 4 cc", "well ADV RB 1 fixed", "as ADP IN 1 fixed", "tea NOUN NN 0 root"], 2, False),
        (["I PRON PRP 2 nsubj", "live VERB VBP 0 root", "in ADP IN 2 obl"], 2, True),
        (["5 NUM CD 0 root", "to ADP IN 3 case", "10 NUM CD 1 nmod"], 1, False),
        (["from ADP IN 2 case", "5 NUM CD 0 root", "to ADP IN 4 case", "10 NUM CD 2 nmod"], 2, True),
    ],
)  # fmt: skip
def test_truth_from_a_treebank(lines, at, expected):
    assert is_preposition(sentence(*lines), at) is expected


CONLLU = """# newdoc id = a
# sent_id = a1
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
2\tto\tto\tADP\tIN\t_\t3\tcase\t_\t_
3\tRome\tRome\tPROPN\tNNP\t_\t1\tobl\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_

# newpar id = a2
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgive\tgive\tVERB\tVB\t_\t0\troot\t_\t_
4\tUP\tup\tADP\tRP\t_\t3\tcompound:prt\t_\tSpaceAfter=No
5\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc id = b
1\tOff\toff\tADP\tIN\t_\t2\tcase\t_\t_
2\tit\tit\tPRON\tPRP\t_\t0\troot\t_\t_
"""


def test_reading_a_treebank(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text(CONLLU, encoding="utf8")
    first, second = read_labelled(path)
    assert (first.text, second.text) == ("Go to Rome.\n\nDon't give UP!", "Off it")
    spans = {first.text[start:end]: is_one for (start, end), is_one in first.spans.items()}
    assert spans == {"to": True, "UP": False}
    result = find_examples([path], Words())
    assert [PREPOSITIONS[word] for word in result.words()] == ["to", "up", "off"]
    assert result.truth.tolist() == [True, False, True]


def test_class_table():
    words = hash_words([f"word {i}" for i in range(500)])
    classes = (np.arange(500) % 100 + 1).astype(np.uint8)
    result = look_up_classes(words, build_class_table(words, classes, bits=16))
    assert (result == classes).mean() > 0.98 and set(result[result != classes].tolist()) <= {0}
    assert result[0] == classes[0]  # of two words that share a slot the first keeps it
    strangers = hash_words([f"stranger {i}" for i in range(500)])
    assert (look_up_classes(strangers, build_class_table(words, classes, bits=16)) > 0).sum() <= 2


def test_words_in_the_same_places_share_a_class():
    rng = np.random.default_rng(0)
    nouns, verbs = [f"noun{i}" for i in range(6)], [f"verb{i}" for i in range(6)]
    text = " ".join(f"the {rng.choice(nouns)} will {rng.choice(verbs)} it ." for _ in range(3000))
    hashes = hash_words(text.split())
    words, counts = frequent_words(hashes, 16)
    assert (np.diff(counts) <= 0).all()
    settings_ = {"n_classes": 7, "n_near": 16, "n_far": 16, "dimensions": 5, "seed": 0}
    classes = word_classes(hashes, words, **settings_)
    of = dict(zip(words.tolist(), classes.tolist(), strict=True))
    of_nouns = {of[word] for word in hash_words(nouns).tolist()}
    of_verbs = {of[word] for word in hash_words(verbs).tolist()}
    assert not of_nouns & of_verbs
    assert classes.min() >= 1 and classes.max() <= 6
    np.testing.assert_array_equal(word_classes(hashes, words, **settings_), classes)


def test_fit_finds_the_minimum():
    rng = np.random.default_rng(0)
    features = rng.integers(0, 16, size=(3, 200)).astype(np.uint64)
    truth, importance = rng.random(200) < 0.5, rng.random(200)
    weights, bias = fit_weights(features, truth, importance, bits=4, strength=0.7)
    pull = importance * (1 / (1 + np.exp(-(weights[features].sum(axis=0) + bias))) - truth)
    gradient = np.bincount(features.ravel().astype(np.int64), weights=np.tile(pull, 3), minlength=16)
    np.testing.assert_allclose(gradient + 0.7 * weights, 0.0, atol=0.01)
    assert abs(pull.sum()) < 0.01


def test_swapped_prepositions():
    words = np.repeat(HASHES, 50)
    swapped = swap_prepositions(words, np.random.default_rng(0))
    assert (swapped != words).all() and set(swapped.tolist()) == set(HASHES.tolist())


def test_thresholds_and_lines_of_the_report():
    chance = np.array([0.9, 0.8, 0.7, 0.6, 0.2])
    truth = np.array([True, True, False, True, False])
    assert threshold_for(chance, truth, 1.0) == 0.8
    assert threshold_for(chance, truth, 0.75) == 0.6
    assert threshold_for(chance, ~truth, 1.0) == 1.0
    line = report_row("x", np.array([True, True, False, False]), np.array([True, False, True, True]))
    assert line.split() == ["x", "4", "75.0", "50.0", "50.0", "33.3", "40.0", "25.0"]


@pytest.mark.data
def test_figures_on_the_test_part():
    folder = os.environ.get("DISAMBIG_DATA")
    if not folder:
        pytest.skip("DISAMBIG_DATA is not set")
    train, test = (read_ewt_examples(Path(folder), part, Words()) for part in ("train", "test"))
    passed = USAGE.is_preposition(test.view, test.positions)
    assert len(passed) > 2400
    assert test.truth[passed].mean() >= 0.97
    assert passed[test.truth].mean() >= 0.96
    assert swapped_recall(USAGE, test) >= 0.93
    assert "By word" in usage_report(USAGE, train, test)


def test_a_network_sees_the_head_words():
    patterns = "listen{} to music", "talk{} to Anna", "dream{} of music", "sing{} of Anna"
    fillers = "", " very often", " now and again"
    texts = [f"They {pattern.format(filler)}." for pattern in patterns for filler in fillers]
    task, view = Preposition(words=["to", "of"], only_as_preposition=False), Words()(texts * 40)
    settings = {"near": 1, "far": 1, "hidden": 8, "dimensions": 8, "epochs": 4}
    both = PrepositionNetwork(**settings), WordNetwork(**settings)
    learned, alone = (network.fit(view, task.instances(view), task.groups) for network in both)
    assert learned.weights.hidden.shape == ((2 + 3 + 1) * 8, 8)
    for check in check_extractor(learned, task, texts):
        check()
    new = Words()(["They dream always and ever to Anna.", "They listen always and ever of music."])

    def preferred(extractor):
        batch = transform_checked(extractor, new, task.instances(new), task.groups[0]).batch
        return batch.values[:, :, 0].argmax(axis=1).tolist()

    assert preferred(learned) == [1, 0]
    assert preferred(alone) != [1, 0]
    with pytest.raises(ValueError, match="size"):
        WordNetwork(**settings).from_state(learned.state())
