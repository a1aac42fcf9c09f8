"""Words that a change of a paragraph corrected, and the kinds of their mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from disambig.formats import fix_kind
from disambig.mining import (
    ENGLISH,
    CorrectionKind,
    Paragraph,
    changed_paragraphs,
    classify,
    read_paragraphs,
    word_edits,
)

OTHER = "other-real-word"


def edits(before, after):
    return word_edits(Paragraph(before), Paragraph(after))


def kind_of(before, after, vocabulary):
    (edit,) = edits(before, after)
    result = classify(edit, ENGLISH, vocabulary)
    return (result.category, result.sub) if isinstance(result, CorrectionKind) else result


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It is higher then the church.", "It is higher than the church.", ("confusion", "than/then")),
        ("The dog wagged it's long tail.", "The dog wagged its long tail.", ("confusion", "its/it's")),
        ("We waited for for an hour there.", "We waited for an hour there.", ("doubled", "doubled")),
        ("She ate a orange in the garden.", "She ate an orange in the garden.", ("article", "a/an")),
        ("He opened window of the kitchen.", "He opened the window of the kitchen.", ("article", "")),
        ("They depend of the weather here.", "They depend on the weather here.", ("preposition", "")),
        ("They met in the station late.", "They met at the station late.", ("preposition", "pref")),
        ("They listened the radio all day.", "They listened to the radio all day.", ("preposition", "")),
        ("The boats was painted in May.", "The boats were painted in May.", ("agreement", "function")),
        ("My brother play the piano well.", "My brother plays the piano well.", ("agreement", "s")),
        ("The cooks hat fell to the floor.", "The cook's hat fell to the floor.", (OTHER, "possessive")),
        ("She was walk along the river.", "She was walking along the river.", (OTHER, "form")),
        ("The house was build in one summer.", "The house was built in one summer.", (OTHER, "form")),
        ("They bought bread form the baker.", "They bought bread from the baker.", (OTHER, "alike")),
        ("You can not see the sea from here.", "You cannot see the sea from here.", (OTHER, "split")),
    ],
)  # fmt: skip
def test_kinds_of_corrections(before, after, expected, vocabulary):
    assert kind_of(before, after, vocabulary) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("We saw teh old castle yesterday.", "We saw the old castle yesterday.", "not a word"),
        ("The colour of the sea was deep.", "The color of the sea was deep.", "spelling variants"),
        ("They organise a party every year.", "They organize a party every year.", "spelling variants"),
        ("It works with the small engine.", "It works without the small engine.", "another meaning"),
        ("The store opens on Monday at noon.", "The store opens on Sunday at noon.", "another meaning"),
        ("Two of them, Harry and Jane, went.", "Two of them, Larry and Jane, went.", "names"),
        ("The big dog slept in the sun.", "The large dog slept in the sun.", "another word"),
        ("We saw the castle today.", "We saw the old castle today.", "another word inserted or removed"),
    ],
)  # fmt: skip
def test_changes_that_are_not_corrections(before, after, expected, vocabulary):
    assert kind_of(before, after, vocabulary) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The cat sat on the mat.", "The Cat sat on the mat!"),  # capitals and punctuation
        ("Call get_user first of all.", "Call get_users first of all."),  # a name
        ("See the page http://a.org/then now.", "See the page http://a.org/than now."),
        ("One two three four five six seven.", "Eight nine ten eleven twelve six seven."),
    ],
)
def test_changes_that_are_not_edits(before, after):
    assert edits(before, after) == []


def test_each_of_several_edits_is_undone_separately():
    before = "It depends of the weather, and the boats was late."
    after = "It depends on the weather, and the boats were late."
    first, second = edits(before, after)
    assert first.before == "It depends of the weather, and the boats were late."
    assert second.before == "It depends on the weather, and the boats was late."
    assert (first.n_edits, second.n_edits) == (2, 2)


def test_a_missing_word_is_placed_before_the_next_word():
    (edit,) = edits("He opened window of the kitchen.", "He opened the window of the kitchen.")
    assert (edit.start, edit.end, edit.old, edit.new) == (10, 10, "", "the")
    (edit,) = edits("This is what we talked.", "This is what we talked about.")
    assert (edit.start, edit.end, edit.new) == (22, 22, "about")


WORDS = st.lists(
    st.sampled_from("a the of to boat boats is are when river stone".split()), min_size=6, max_size=12
)


@given(WORDS, WORDS, st.integers(0, 11))
def test_applying_an_edit_gives_the_new_text(words, others, at):
    from disambig.formats import Fix

    changed = [*words[: at % len(words)], *others[:1], *words[at % len(words) + len(others) % 2 :]]
    before, after = " ".join(words), " ".join(changed)
    for edit in edits(before, after):
        assert edit.before[edit.start : edit.end] == edit.old
        fix = Fix(
            edit.before, edit.start, edit.end, edit.old, edit.new, "", "", fix_kind(edit.old, edit.new), 1, ""
        )
        assert fix.corrected().split() == after.split()


def test_the_most_similar_paragraphs_are_paired_and_moved_ones_are_not_changed():
    old = [Paragraph("The first boat was painted green."), Paragraph("A river flows by the old mill.")]
    new = [
        Paragraph("Something else was written here today."),
        Paragraph("A river flows by the old mill."),
        Paragraph("The first boat were painted green."),
    ]
    assert [(one.text, other.text) for one, other in changed_paragraphs(old, new)] == [
        ("The first boat was painted green.", "The first boat were painted green.")
    ]


def test_a_rewritten_file_is_rejected():
    old = [Paragraph(f"This is the old line number {i}.") for i in range(300)]
    new = [Paragraph(f"This is a newer line with number {i}.") for i in range(300)]
    with pytest.raises(ValueError, match="rewritten"):
        list(changed_paragraphs(old, new))


def test_paragraphs_have_no_markup_and_mark_their_code():
    text = "# A title of the page\n\n* Run `make all` and **wait**, see [the page](http://a.org).\n"
    title, item = read_paragraphs("a.md", text)
    assert (title.text, item.text) == ("A title of the page", "Run x and wait, see the page.")
    assert [item.text[start:end] for start, end in item.code] == ["x"]
    (item,) = read_paragraphs("a.md", "Run `make` and wait for it.\n")
    assert item.text == "Run make and wait for it."
    assert [token.word for token in item.tokens if token.is_code] == ["make"]
    (item,) = read_paragraphs("a.md", "Run `make` and wait for it.\n", keep_code=False)
    assert item.text == "Run \ufffc and wait for it."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The **boats** was\nlate today.\n"),
        ("a.rst", "The *boats* was\nlate today.\n"),
        ("a.tex", "The \\emph{boats} was\nlate today.\n"),
        ("a.txt", "The boats was\nlate today.\n"),
        ("a.py", "# The boats was\n# late today.\nx = 1\n"),
    ],
)
def test_every_format_that_is_checked_is_read(name, text):
    assert "The boats was late today." in [paragraph.text for paragraph in read_paragraphs(name, text)]
