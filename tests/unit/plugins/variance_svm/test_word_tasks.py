"""The tasks preposition and spelling: which words they decide, and the reader of confusion sets."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm import ENGLISH_CONFUSION_SETS, ENGLISH_STYLE, Spelling
from disambig_variance_svm.prepositions import Preposition
from disambig_variance_svm.prepositions.task import PREPOSITIONS
from hypothesis import given, strategies as st

from disambig.api.tasks import confusion_set, read_confusion_sets
from disambig.data import CandidateFinder, Group
from disambig.errors import UserError
from disambig.testing import check_task
from disambig.text import Words

TEXTS = [
    "They may be late. Maybe not! It's cold, and its tail is wet.",
    "",
    "The cat sat on the mat under a table. To whom did he go to speak? We walked toward it.",
    "Whose turn is it? Who's there? Their affect had no effect.",
]


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{task.name}-{check}")
        for task in (Preposition(), Preposition(only_as_preposition=False), Spelling())
        for check in check_task(task, TEXTS)
    ],
)
def test_contract(check):
    check()


def find_instances(text, task):
    """Return (words in the text, candidate, group) of every instance."""
    view = Words()([text])
    instances = task.instances(view)
    starts, ends = view.starts[instances.positions], view.ends[instances.positions + instances.lengths - 1]
    return [
        (text[start:end], task.groups[group].candidates[observed], task.groups[group].name)
        for start, end, group, observed in zip(
            starts, ends, instances.groups, instances.observed, strict=True
        )
    ]


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
        assert any({word.replace("_", " ") for word in name.split("/")} <= known for known in sets), name


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


def test_sets_given_as_values():
    assert confusion_set("May be / maybe").candidates == ("may be", "maybe")
    assert confusion_set(["Lose", "loose"]) == confusion_set("lose/loose")
    with pytest.raises(UserError, match="D411"):
        confusion_set("lose")


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
    assert "cannot/can not" not in {
        Spelling().groups[i].name for i in Spelling().instances(view).groups.tolist()
    }
    saved = Spelling().of_groups(
        [Group("cannot/can not", ("cannot", "can not")), Group("there/they're", ("there", "they're"))]
    )
    assert set(saved.instances(view).groups.tolist()) == {1}
    added = Spelling().with_groups([Group("cannot/can not", ("cannot", "can not"))])
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
