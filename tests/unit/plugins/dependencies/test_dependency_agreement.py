"""Agreement as evidence for corrections: right and wrong sentences, markup, and the extractor."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from disambig_dependencies import EVIDENCE, Agreement, PlaceEdit, concerns_agreement, hide_markup, load_reader
from hypothesis import given, settings, strategies as st

from disambig.config import resolve
from disambig.data import CandidateLists, Group, Instances
from disambig.errors import UserError
from disambig.features import transform_checked
from disambig.text import Words


def split_lines(text):
    """Return the sentences of lines, which are divided by bars."""
    return [sentence for line in text.strip().splitlines() for sentence in line.split(" | ")]


CLEAR = split_lines(
    """
Rust no longer [know>knows] the type. | The list of files [are>is] long.
The list of the files on the two disks [are>is] out of date. | Anna and Peter [is>are] not yet here.
Anything inside the boxes [are>is] deleted. | The site already [have>has] a shop. | They [was>were] late.
We [was>were] at home when it rang. | He [go>goes] to school. | She [don't>doesn't] like it.
He [don't>doesn't] know the answer. | I [has>have] two sisters. | I [is>am] tired.
You [is>are] welcome to stay. | One of the [user>users] is here. | One of the pages [are>is] blank.
There [is>are] many options. | There [are>is] one option. | The number of files [are>is] growing.
A number of files [is>are] missing. | Each of the files [have>has] a name.
Everyone [know>knows] that song. | Nobody [want>wants] to wait. | Neither of them [are>is] ready.
The files that [is>are] open are large. | The users who [pays>pay] get more.
The tool that we use every day [need>needs] a license. | The people in the room [was>were] quiet.
The dog, which barks at cats, [sleep>sleeps] outside. | Where [is>are] the keys?
What [does>do] these options mean? | How [do>does] the program know? | [Does>Do] they come every day?
[Have>Has] the man seen it? | Neither the cat nor the dogs [is>are] here.
Either the teacher or the students [is>are] wrong. | [This>These] options are new.
[These>This] option is new. | [Those>That] house is old. | [That>Those] houses are old.
These [option>options] are new. | This [options>option] is new. | Many [student>students] failed.
Several [test>tests] failed. | Both [side>sides] agreed. | Every [users>user] has a key.
Each [files>file] has a name. | He wrote two [letter>letters] to his aunt.
The functions in this module [returns>return] a list. | Users of the library [needs>need] to install it.
If you [wants>want] to know more, read the guide. | The results of the study [shows>show] that it works.
The results [shows>show] that it works. | My brother and his wife [lives>live] in Rome.
Most of the pages [is>are] empty. | All of the water [are>is] gone. | The children [plays>play] outside.
Our teams in the north [is>are] hiring. | He can [makes>make] it.
It allows you to [creates>create] a file. | They will [comes>come] back soon. | Did you [saw>see] it?
She did not [went>go] there. | I have [went>gone] home. | He has [took>taken] the book.
They had [ate>eaten] before. | This is [>a] truly catastrophic event. | He bought [a >]new shoes.
The price of the tickets [have>has] gone up. | The reasons for the delay [is>are] not clear.
Only one of these options [work>works].
"""
)
UNDECIDED = split_lines(
    """
The police [is>are] outside. | Your data [is>are] safe. | Your data [are>is] safe.
The team [are>is] happy. | I saw him [walk>walks] away. | They [came>come] early.
He [walked>walks] home. | The weather was fine, [then>than] it rained.
"""
)


def proposal(line):
    """Return the text, the edit, the corrected text and the edit that undoes the correction."""
    match = re.search(r"\[(.*?)>(.*?)\]", line)
    left, old, new, right = line[: match.start()], match[1], match[2], line[match.end() :]
    start = len(left)
    if not old:  # the gap is after the word before
        text, fixed = left + right.lstrip(), left + new + right
        return text, PlaceEdit(0, start, start, new), fixed, PlaceEdit(0, start, start + len(new) + 1, "")
    text, fixed = left + old + right, left + new + right
    back = PlaceEdit(0, start, start + len(new), old.strip())
    return text, PlaceEdit(0, start, start + len(old), new), fixed, back


def gain(text, edit):
    row = dict(zip(EVIDENCE, load_reader().evidence([text], [edit])[0].tolist(), strict=True))
    return (row["candidate"] - row["observed"] + row["candidate_corrected"] - row["observed_corrected"]) / 4


@pytest.mark.parametrize("line", CLEAR)
def test_evidence_for_corrections(line):
    text, edit, fixed, back = proposal(line)
    assert gain(text, edit) >= 0.2
    assert gain(fixed, back) <= -0.2


@pytest.mark.parametrize("line", UNDECIDED)
def test_no_evidence_where_both_agree(line):
    text, edit, *_ = proposal(line)
    assert abs(gain(text, edit)) < 0.1


def test_columns_of_word_kinds():
    for line, kind in (
        ("These [option>options] are new.", "noun"),
        ("[This>These] options are new.", "determiner"),
        ("He [go>goes] to school.", "verb"),
        ("This is [>a] truly catastrophic event.", "article"),
    ):
        text, edit, *_ = proposal(line)
        (row,) = load_reader().evidence([text], [edit])
        assert row[EVIDENCE.index(kind)] == 1 and row[EVIDENCE.index("confidence")] >= 0.5


def test_edits_of_many_texts():
    lines = [CLEAR[i] for i in (0, 41, 12)]
    texts, edits, *_ = zip(*map(proposal, lines), strict=True)
    place_edits = [PlaceEdit(i, edit.start, edit.end, edit.new) for i, edit in enumerate(edits)]
    together = load_reader().evidence(texts, place_edits)
    for i, (text, edit) in enumerate(zip(texts, edits, strict=True)):
        np.testing.assert_array_equal(together[i], load_reader().evidence([text], [edit])[0])
    np.testing.assert_array_equal(load_reader().evidence(texts, place_edits[::-1]), together[::-1])
    twice = load_reader().evidence(
        [" ".join(texts)], [PlaceEdit(0, place_edits[0].start, place_edits[0].end, place_edits[0].new)]
    )
    np.testing.assert_allclose(twice[0], together[0], atol=1e-3)


@pytest.mark.parametrize("text", ["", " ", "x", "***", "`a b`", "go " * 500, "a\n\nb"])
def test_unusual_texts(text):
    edits = [PlaceEdit(0, start, start, new) for start in (0, len(text)) for new in ("a", "")]
    edits += [PlaceEdit(0, 0, len(text), "goes"), PlaceEdit(0, 0, min(2, len(text)), "")]
    evidence = load_reader().evidence([text], edits)
    assert evidence.shape == (len(edits), len(EVIDENCE)) and np.isfinite(evidence).all()
    assert load_reader().evidence([text], []).shape == (0, len(EVIDENCE))


@pytest.mark.parametrize("blank", ["\r\n\r\n", "\n \t\n"])
def test_paragraphs_are_independent(blank):
    alone = [proposal(line)[:2] for line in CLEAR]
    texts = [text for text, _ in alone]
    starts = np.cumsum([0, *(len(text) + len(blank) for text in texts[:-1])]).tolist()
    together = [PlaceEdit(0, s + e.start, s + e.end, e.new) for s, (_, e) in zip(starts, alone, strict=True)]
    apart = [PlaceEdit(i, edit.start, edit.end, edit.new) for i, (_, edit) in enumerate(alone)]
    expected = load_reader().evidence(texts, apart)
    assert np.array_equal(load_reader().evidence([blank.join(texts)], together), expected)
    # a correction that crosses a blank line belongs to no sentence
    crossing = PlaceEdit(0, starts[1] - len(blank) - 1, starts[1] + 1, "goes")
    assert not load_reader().evidence([blank.join(texts)], [crossing]).any()


NEW_WORDS = st.sampled_from(["a", "is", "", "do not"])


@settings(deadline=None, max_examples=25)
@given(st.text("ab is.\n`*[](", max_size=20), st.integers(0, 20), st.integers(0, 3), NEW_WORDS)
def test_evidence_is_finite(text, start, length, new):
    start = min(start, len(text))
    edit = PlaceEdit(0, start, min(start + length, len(text)), new)
    evidence = load_reader().evidence([text], [edit])
    assert np.isfinite(evidence).all() and np.abs(evidence[:, :-1]).max() <= 1


def test_hidden_markup_and_pairs_of_words():
    text = "See [the *new* guide](https://x.y/z) of `a b` and **more** in snake_case."
    hidden = hide_markup(text)
    assert len(hidden) == len(text)
    assert hidden.split() == "See the new guide of xxxxx and more in snake_case.".split()
    marked, edit, *_ = proposal("The **list** of files [are>is] in `x y`.")
    assert gain(marked, edit) >= 0.2
    assert concerns_agreement("file", "files") and concerns_agreement("tries", "try")
    assert concerns_agreement("", "the") and concerns_agreement("was", "were")
    assert concerns_agreement("this", "these") and concerns_agreement("went", "gone")
    for observed, candidate in (("", "of"), ("then", "than"), ("a", "an"), ("in", "on"), ("quite", "quiet")):
        assert not concerns_agreement(observed, candidate)


def make_instances(text, word, candidates):
    view = Words()([text, "Nothing here."])
    words = [text[s:e].lower() for s, e in zip(view.starts, view.ends, strict=True)][: view.documents[1]]
    one = np.zeros(1, np.int32)
    lists = CandidateLists.from_texts([candidates])
    return view, Instances(np.array([words.index(word)]), one + 1, one, one.copy(), lists)


def test_extractor():
    extractor = Agreement()
    view, instances = make_instances("The list of files are long.", "are", ("are", "is", "art"))
    features = transform_checked(extractor, view, instances, Group("form", ()))
    observed, better, other = features.batch.scores(np.ones(1)).tolist()
    assert (observed, other) == (0, 0) and better > 0.3
    assert extractor.fit(view, instances, []).from_state(extractor.state()) is extractor
    empty = instances.take(np.zeros(0, np.int64))
    assert len(transform_checked(extractor, view, empty, Group("form", ())).batch.cost) == 0
    view, instances = make_instances("These option is new.", "these", ("these",))
    group = Group("this/these", ("this", "these"))
    fixed = Instances(instances.positions, instances.lengths, instances.groups, instances.groups + 1)
    scores = transform_checked(Agreement(), view, fixed, group).batch.scores(np.ones(2))
    assert scores.shape == (2,) and scores[1] == 0
    view, _ = make_instances("This is truly catastrophic event.", "is", ("", "a"))
    number = np.flatnonzero(view.starts == 8)[:1]
    one = np.zeros(1, np.int32)
    instances = Instances(number, one, one, one.copy(), CandidateLists.from_texts([("", "a", "the")]))
    scores = transform_checked(Agreement(), view, instances, Group("article", ())).batch.scores(np.ones(1))
    assert scores[0] == 0 and scores[1] > 0.2


def test_extractor_of_a_config(tmp_path):
    config = {"syntax": {"@disambig_extractors": "dependencies.Agreement.v1"}}
    extractor = pickle.loads(pickle.dumps(resolve(config)["syntax"]))
    view, instances = make_instances("They was late.", "was", ("was", "were"))
    scores = transform_checked(extractor, view, instances, Group("form", ())).batch.scores(np.ones(1))
    assert scores[0] == 0 and scores[1] > 0.5
    config["syntax"]["parser"] = str(tmp_path)
    with pytest.raises(UserError, match="D902"):
        transform_checked(resolve(config)["syntax"], view, instances, Group("form", ()))
