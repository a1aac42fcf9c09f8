"""Flags: positions, selection, identity, ignored words; flags of edited text equal those of a whole check."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fake_models import annotate_texts
from hypothesis import given, settings, strategies as st
from made_decisions import make_decisions
from overlapping import ToyModel
from processor_time import grows_linearly

from disambig.checking import (
    CONTEXT_WORDS,
    MAX_CONTEXT_PARTS,
    CheckedText,
    DocumentWords,
    Flag,
    LiveText,
    ParagraphCutter,
    TextLines,
    apply_corrections,
    find_flags,
    flag_candidates,
    flag_identity,
    live as decided,
    most_certain,
    new_baseline,
    number_fingerprints,
    select_compatible,
    sentence_around,
)
from disambig.configuration import CheckSettings
from disambig.data import Group, ignore_entries, is_ignored, pair_to_ignore, plain_word
from disambig.markup import PlainText, read_markup
from disambig.models import ModelSet, ModelSource, annotate
from disambig.text import HIDDEN

QUIET = "a quite place"


def check_fake(text, path="x.md", **settings):
    plain = read_markup(path, text)
    return find_flags(path, text, plain, annotate_texts([plain.text]), **settings)


def flag(start, end, new, probability=0.5, task="t", observed="x"):
    return Flag(start, end, 1, start + 1, observed, new, task, probability, (start, end, new))


def one_decision(start, end, candidates, observed, chosen):
    return make_decisions([Group("g", candidates)], [(0, start, end, 0, observed, chosen)])


def test_columns_in_characters_utf16_and_utf8():
    text = "\ufeffab\r\nc\U0001f600d\re\n\nf"
    places = TextLines(text)
    result = [places.line_and_column(text.index(letter)) for letter in "abcdef"]
    assert result == [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (5, 1)]
    assert text[slice(*places.line_around(text.index("d")))] == "c\U0001f600d\r"
    assert text[slice(*places.line_around(text.index("f")))] == "f"
    text = "\ufeffe\u0301\U0001f600x\r\ne\u0301\U0001f600y\r\n"
    places = TextLines(text)
    first, second = text.index("x"), text.index("y")
    assert [places.line_and_column(at) for at in (first, second)] == [(1, 4), (2, 4)]
    assert [places.in_utf16(at) for at in (first, second)] == [(1, 5), (2, 5)]
    in_bytes = [places.in_utf8(at) for at in (first, second)]
    assert in_bytes == [(1, 11), (2, 8)]  # the mark is bytes of the file
    assert places.in_utf16(0) == places.line_and_column(0) == (1, 1)


@given(st.text(alphabet="a\r\n\ufeff", max_size=20))
def test_lines_are_separated_by_any_line_end(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert TextLines(text).line_and_column(len(text))[0] == len(lines)


def test_flags_of_all_tasks_are_in_text_order():
    (result,) = check_fake(f"# Title\n\nIt is **{QUIET}**.\n").flags
    assert (result.line, result.column, result.observed, result.replacement) == (3, 11, "quite", "quiet")
    assert (result.task, round(result.probability, 2)) == ("spelling", 0.9)
    result = check_fake(f"It was {QUIET} during 1997. A Quite place.").flags
    assert [f.observed for f in result] == ["quite", "during", "Quite"]
    assert result[2].replacement == "Quiet"
    assert not check_fake(QUIET, ignore={"quite"}).flags


@pytest.mark.parametrize(("most", "shown"), [(None, 5), (0, 0), (1, 1), (34, 2), (1000, 5)])
def test_the_number_of_flags_can_be_limited(most, shown):
    result = check_fake(f"{QUIET}. " * 5 + "word " * 15)
    assert (result.words, len(result.flags)) == (30, 5)
    assert len(most_certain(result.flags, result.words, most)) == shown


def test_the_most_certain_flags_are_shown():
    text = "in of in of"
    decisions = [one_decision(0, 2, ("in", "of"), 0, 1), one_decision(3, 5, ("of", "to"), 0, 1)]
    decisions[1].probabilities[:] = 0.95
    result = find_flags("x.txt", text, PlainText(text), decisions)
    assert [f.start for f in most_certain(result.flags, result.words, 1)] == [3]


def make_flags(text, *decision, path="x.txt"):
    """Return the flags of one decision."""
    return find_flags(path, text, read_markup(path, text), [one_decision(*decision)]).flags


def test_labels_are_not_flags_and_corrections_match_the_text():
    assert not make_flags("it rains", 0, 2, ("referential", "not"), -1, 1)
    assert not make_flags("it may **be** so", 3, 11, ("may be", "maybe"), 0, 1, path="x.md")
    for text, expected in (("its can\u2019t", "it\u2019s"), ("its can't", "it's")):
        assert make_flags(text, 0, 3, ("its", "it's"), 0, 1)[0].edit == (0, 3, expected)
    text = "He went to the home."
    (result,) = make_flags(text, 11, 14, ("the", ""), 0, 1)
    assert (result.observed, result.replacement) == ("the", "")
    assert apply_corrections(text, [result]) == "He went to home."
    text = "He saw dog."
    (result,) = make_flags(text, 7, 7, ("", "a"), 0, 1)
    assert (result.observed, result.replacement, result.column) == ("", "a", 8)
    assert apply_corrections(text, [result]) == "He saw a dog."


def test_the_more_certain_correction_is_chosen_and_none_across_lines():
    taken = select_compatible([flag(5, 7, "a", 0.4), flag(5, 7, "b", 0.6), flag(7, 9, "c", 0.1)])
    assert [f.replacement for f in taken] == ["b", "c"]
    taken = select_compatible([flag(0, 6, "maybe", observed="may\nbe"), flag(2, 3, "x", 0.1)])
    assert [f.replacement for f in taken] == ["x"]


SPANS = st.tuples(st.integers(0, 20), st.integers(0, 3), st.floats(0, 1))


@given(st.lists(SPANS, max_size=12))
def test_chosen_flags_do_not_overlap(spans):
    flags = [flag(start, start + width, "x", p) for start, width, p in spans]
    taken = select_compatible(flags)
    left = list(flags)
    for one in taken:
        left.remove(one)
    for one, other in pairwise(taken):
        assert one.end <= other.start
        assert (one.start, one.end) != (other.start, other.end)
    for one in left:
        assert any(
            other.probability >= one.probability
            and (other.start == one.start or (one.start < other.end and other.start < one.end))
            for other in taken
        )
    text = "." * 25
    new = apply_corrections(text, taken)
    assert len(new) == len(text) + sum(1 - (f.end - f.start) for f in taken)


PLACE_TEXT = "# Title\n\nAll is well. It was a quite place,\nfar away. The end.\n"


def identities(text, path="a.md"):
    plain = read_markup(path, text)
    return [flag_identity(path, plain.text, flag) for flag in check_fake(text, path).flags]


def test_the_identity_has_the_sentence_and_survives_moved_lines():
    (before,) = identities(PLACE_TEXT)
    assert (before.path, before.observed) == ("a.md", "quite")
    assert before.sentence == "It was a quite place, far away."
    assert before.digest == "02da8b4655439271eeab07a0d90e8c27"
    moved = "More.\r\n\r\n" + PLACE_TEXT.replace("place,\n", "place,   ").replace("\n", "\r\n")
    assert identities(moved) == [before]
    assert identities(PLACE_TEXT.replace("The end", "No end")) == [before]
    assert identities(PLACE_TEXT.replace("far", "not far")) != [before]
    assert identities(PLACE_TEXT, "b.md") != [before]
    result = identities("A quite place. A quite place and a quite place. A quite place.")
    fingerprints = number_fingerprints(result)
    assert len(set(fingerprints)) == 4
    assert [item.rpartition(":")[2] for item in fingerprints] == ["1", "1", "2", "2"]


@given(st.text(alphabet="ab.!? \n\u2029", max_size=60), st.data())
def test_a_sentence_contains_its_flag(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    inside = " ".join(text[start:end].split())
    assert inside in sentence_around(text, start, end)


def test_entries_are_compared_in_lower_case_with_single_spaces():
    assert plain_word(" Quite ") == "quite"
    assert plain_word("Login->log  in") == plain_word("login -> log in") == "login -> log in"
    assert plain_word("it\u2019s -> its") == "it's -> its"
    assert (pair_to_ignore("", "the"), pair_to_ignore("The", "")) == ("-> the", "the ->")


@pytest.mark.parametrize(
    ("text", "word", "meant", "expected"),
    [
        (
            *("Use an SQL table.", "an", "a"),
            ("an", "an -> a", "an sql -> a sql", "use an -> use a", "an sql", "use an"),
        ),
        (
            *("Open the the door.", "the", ""),
            ("the", "the ->", "the the -> the", "open the -> open", "the the", "open the"),
        ),
        ("An end.", "end", "and", ("end", "end -> and", "an end -> an and", "an end")),
        ("Then, we go.", "Then", "Than", ("then", "then -> than")),
    ],
)
def test_the_entries_of_a_flag(text, word, meant, expected):
    start = text.index(word)
    assert ignore_entries(text, start, start + len(word), meant) == expected
    missing = ("-> to", "write -> to write", "helps -> helps to")
    assert ignore_entries("It helps write text.", 9, 9, "to") == missing


@pytest.mark.parametrize(
    ("entry", "word", "is_hidden"),
    [
        ("more than we do", "than", True),
        ("you write more than", "than", True),
        ("do, of course", "do", False),  # a phrase has no punctuation
        ("more than they do", "than", False),
        ("write more", "than", False),  # the flagged word is not in it
        ("write more", "", True),  # the place of a missing word
        ("than we do", "", False),
    ],
)
def test_a_phrase_hides_flags_in_it(entry, word, is_hidden):
    text = "You write *more* than we do, of course."
    start = text.index(word) if word else len("You write")
    assert (
        is_ignored({plain_word(entry)}, text.replace("*", HIDDEN), start, start + len(word), "x") == is_hidden
    )


RULES = {
    "form": ((r"\b(quite)\b", "quite", "quiet", 0.9), (r"\b(seen)\b", "seen", "saw", 0.8)),
    "phrase": ((r"\b(a quite)\b", "a quite", "quite a", 0.6), (r"I ()seen", "", "have", 0.7)),
}


@pytest.mark.parametrize(
    ("ignore", "shown"),
    [
        ((), ["quite -> quiet", "seen -> saw"]),
        (("quite",), ["seen -> saw"]),
        (("quite -> quiet",), ["seen -> saw"]),
        (("seen -> saw",), ["quite -> quiet"]),
        (("a quite -> quite a", "-> have"), ["quite -> quiet", "seen -> saw"]),
    ],
)
def test_ignoring_a_flag_does_not_show_its_alternative(ignore, shown):
    """In `check` and `annotate`, a less certain overlapping flag is not shown in its place."""
    text = "It was a quite place, and I seen it."
    models = [ToyModel.of(task, *rules) for task, rules in RULES.items()]
    decisions = ModelSet(tuple(models)).annotate([text])
    checked = find_flags("a.txt", text, PlainText(text), decisions, ignore=ignore)
    assert [f"{flag.observed} -> {flag.replacement}" for flag in checked.flags] == shown
    decisions = annotate([text], models, ignore=ignore)
    records = [of_task.record(int(i), text) for of_task in decisions for i in of_task.flagged.nonzero()[0]]
    records.sort(key=lambda record: record["start"])
    assert [f"{record['observed']} -> {record['replacement']}" for record in records] == shown


@pytest.fixture(scope="module")
def flagged():
    """Return a function that returns the words that the models of the pack flag in a text."""
    models = ModelSource().load()

    def words(text, path="x.md"):
        plain = read_markup(path, text)
        return [flag.observed for flag in find_flags(path, text, plain, models([plain.text])).flags]

    return words


def names(text: str, path: str = "x.md") -> frozenset[str]:
    return DocumentWords(text, read_markup(path, text)).names


def test_names_come_from_code_only():
    text = (
        "Prose *here* with `lat` and [a page](target.md) or <kbd>key</kbd>, https://host.example/path.\n\n"
        "```\nfor alias in max_size:\n```\n\n<!-- comment -->\n"
    )
    result = names(text)
    assert {"lat", "alias", "max_size"} <= result
    assert not result & {"Prose", "here", "page", "target", "comment", "host", "path", "for", "in"}
    assert {"decimals", "round_to"} <= names("def round_to(decimals):\n    # all of them\n    pass\n", "x.py")
    assert names("the word lat", "x.txt") == frozenset()
    for path in ("x.md", "x.txt"):  # words that others wrote are not code
        assert names("> A quoted lat,\n>> and a fan\n\nProse.\n", path) == frozenset()
    assert "lat" in names(">>> lat = 1\n", "x.md")
    assert names("Prose.\n\n-- \nAnn Lat\n", "x.txt") == frozenset()


def test_a_name_is_not_flagged_and_no_word_is_missing_before_it(flagged):
    text = "Steps along lat at a time are averaged."
    assert flagged(text) == ["lat"]
    assert flagged(f"{text}\n\nA `lat` is a number.\n") == []
    often = "Each lat lies behind a lat. The lat has a door, and every lat a fan."
    assert flagged(f"{text}\n\n{often}") == []  # a word that is repeated
    text = "If you do not declare message in the schema, it is dropped."
    assert flagged(text) == [""]
    assert flagged(f"{text}\n\nThe `message` is a string.\n") == []


@pytest.mark.parametrize("sentence", ["If {} is true, it is read.", "Make sure that {} isn't set."])
def test_names_in_the_plural(flagged, sentence):
    text = sentence.format("the slots")
    assert len(flagged(text)) == 1
    assert flagged(f"{text}\n\n```\n__slots__ = slots\n```\n") == []
    assert len(flagged(f"{text}\n\n```\nslot\n```\n")) == 1


def test_repeated_and_certain_mistakes_are_flagged(flagged):
    text = "The server allow it. " * 9 + "It is better then that. " * 9 + "A contest for a compliment. " * 9
    words = DocumentWords(text, read_markup("x.txt", text))
    assert words.is_document_word("contest", "context", 9)
    assert not words.is_document_word("compliment", "complement", 9)
    assert not words.is_document_word("allow", "allows", 16)
    assert not words.is_document_word("then", "than", 200)
    text = "It depends on there choice.\n\nA `there` is a `choice` `their`.\n"
    assert flagged(text) == ["there"]


@pytest.mark.parametrize(
    ("path", "listing"),
    [
        ("x.txt", "{}\n{}\n{}\n"),
        ("x.md", "- {}\n- {}\n\n- {}\n"),
        ("x.rst", ".. list-table:: Two words\n\n   * - {}\n     - {}\n   * - {}\n     - the\n"),
    ],
)
def test_words_that_stand_alone_in_a_row_are_not_flagged(flagged, path, listing):
    alone = listing.format("than", "their", "its")
    assert flagged(alone, path) == []
    assert flagged("It was more then enough.\n\n" + alone, path) == ["then"]
    assert flagged(listing.format("than", "It was more then enough", "its"), path)


def test_emphasised_examples_are_not_flagged(flagged):
    examples = "It finds what others miss: *then* for *than*, *depend of*, *a hour*, *the\nresults shows*."
    assert flagged(examples) == ["shows"]  # a phrase over two lines is none of them
    alone = "They *depend of* it for *a hour*, and it is *more then* **enough**."
    assert flagged(alone) == ["of", "a", "then"]


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        # the start of one mark is not the end of another: two emphasised words are no enumeration
        ("x.html", "<p>You <em>should of</em> known it. See <code>x</code>.</p>", ["should of"]),
        ("x.html", "<p>It&nbsp;depends of the user &amp; the <b>day</b>.</p>", ["of"]),
        ("x.md", "See [the guide](a), [the map](b) and [a hour](c).", ["a"]),
        ("x.html", "<p><i><code>x</code></i> <i>so it is</i> <dfn>it depends of it</dfn></p>", ["of"]),
        # mentioned phrases, in any markup
        ("x.md", "People write *could of* when they mean it.", []),
        ("x.md", "It is *could have*, never *could of*.", []),
        ("x.md", "Some write *depends of* in place of *depends on*.", []),
        ("x.md", "The word *then* is often written for *than*; *its* is not *it's*.", []),
        ("x.html", "<p>Write <em>could have</em> for <em>could of</em></p>", []),
        ("x.tex", r"Some write \emph{could of}. You \emph{should of} known it.", ["should of"]),
        ("x.py", "# Write *could of* when you mean it. You *should of* known it.", ["should of"]),
        ("x.txt", "Write 'then' in place of 'than'. It prints 'better then that' at the end.", []),
        ("x.txt", "It's the users' choice. They waited for 'em a hour, and it was the dogs' food.", ["a"]),
        ("x.md", "He *said* that it *depends of* the weather.", ["of"]),
    ],
)
def test_mentioned_phrases_are_not_flagged(flagged, path, text, words):
    assert flagged(text, path) == words


@pytest.mark.parametrize(
    "unit",
    [
        *("a\n", "a b\n", "\n", " \n\u2029", "a\nb c\n", f"{HIDDEN}a{HIDDEN}, ", f"{HIDDEN}a ", HIDDEN),
        *("'a ", "*a* "),
    ],
)
def test_runs_of_words_take_linear_time(unit):
    def look(size: int) -> None:
        text = unit * size
        words = DocumentWords(text, PlainText(text))
        assert len(words.word_runs) <= 1
        assert words.enclosed is not None

    assert grows_linearly(look, 80_000)


def test_long_code_takes_linear_time():
    def look(size: int) -> None:
        text = "Prose.\n\n```\n" + "a_b(c) " * size + "\n```\n\n" + "`x` and " * size
        assert {"a_b", "c", "x"} <= DocumentWords(text, read_markup("x.md", text)).names

    assert grows_linearly(look, 40_000)


SENTENCES = [
    "The weather was better then we had hoped.",
    "It depends of the weather, and it was hard to find a quite place.",
    "A large number people ate a peace of cake.",
    "He has went to to the shop a hour ago.",
    "Nobody new weather they would come too late.",
    "She said \"it was better then that\" and left.",
    "Their is no reason, as far as the others could see, for the delay of the train from the coast.",
    "The old bridge, which had been closed for a year, was opened again.",
    "Rain fell. Dr. Lee ran (slowly) home; see `then` or <b>quite</b> there.",
    "THE MEETING IS OVER",
    "Chapter One",
]  # fmt: skip
LINES = [
    *SENTENCES, *SENTENCES, "", "", "", "", "- an item that is better then most", "    the code = then()",
    "    ", "```", "<pre>", "</pre>", "<!--", "-->", "a ` tick", "# A better heading then this",
    "| better then | it |",
    "|---|---|", "1. one of to much", "Rows  in  columns", "\u2029", "<!-- disambig: ignore-next-line -->",
    "Who", "On the quite hill", "[then]: https://example.org", "$$", "\U0001f600 then better then",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=25).map("\n".join)
PUT = st.sampled_from(["then ", "\n", "\n\n", "`", "<pre>", "x", ""])
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), PUT), min_size=1, max_size=5)


@cache
def models():
    return ModelSource(flags_per_1000=6.0).load_correcting()


def from_scratch(name: str, text: str) -> CheckedText:
    plain = read_markup(name, text)
    return find_flags(name, text, plain, [item.in_document(0) for item in models()([plain.text])])


def flag_fields(checked: CheckedText) -> list[tuple]:
    return [
        (f.start, f.end, f.replacement, f.task, f.edit, [item["task"] for item in f.alternatives])
        for f in checked.flags
    ]


def live_text(text: str, **settings) -> CheckedText:
    """Check a text for the first time, with some settings."""
    return LiveText("notes.txt", CheckSettings(**settings), models()).check(text)


@given(st.sampled_from(["notes.md", "notes.txt", "notes.tex"]), texts, edits)
@settings(max_examples=int(os.environ.get("DISAMBIG_LIVE_EXAMPLES", "6")))
def test_edits_give_the_flags_of_the_whole_text(name, text, changes):
    live = LiveText(name, CheckSettings(), models())
    live.check(text)
    for where, taken, put in changes:
        at = int(where * len(text))
        text = text[:at] + put + text[at + taken :]
        result, expected = live.check(text), from_scratch(name, text)
        assert result is not None
        assert flag_fields(result) == flag_fields(expected)
        ours, theirs = ([f.probability for f in checked.flags] for checked in (result, expected))
        assert np.allclose(ours, theirs, atol=1e-4)
        assert (result.words, len(result.unused)) == (expected.words, len(expected.unused))


@pytest.mark.slow
def test_samples_give_the_flags_of_the_whole_text():
    folder = Path(__file__).parents[3] / "corpora" / "samples"
    paths = [path for path in sorted(folder.iterdir()) if path.suffix != ".png"]
    assert len(paths) > 3
    for path in paths:
        text = path.read_text("utf8")
        live = LiveText(path.name, CheckSettings(), models())
        for version in (text, text.replace(" to ", " too ", 3), text.replace("\n\n", "\n", 2)):
            assert flag_fields(live.check(version)) == flag_fields(from_scratch(path.name, version))


def make_paragraphs(n: int) -> str:
    return "\n\n".join(f"{number}. {' '.join(SENTENCES[:8])}" for number in range(n))


class RecordingModels:
    """Models that record the texts that they annotate."""

    def __init__(self) -> None:
        self.texts: list[list[str]] = []

    def __call__(self, given):
        self.texts.append(list(given))
        return models()(given)


def test_only_what_changed_is_decided_again():
    recording = RecordingModels()
    live = LiveText("notes.txt", CheckSettings(), recording)
    text = make_paragraphs(8)
    live.check(text)
    recording.texts.clear()
    live.check(text)
    assert recording.texts == []
    middle = text.index("4. ") + 260
    live.check(text[:middle] + "x" + text[middle:])
    ((document,),) = recording.texts
    assert "4. " in document
    assert len(document.split()) < 3 * CONTEXT_WORDS + len(text.split()) // 8
    recording.texts.clear()
    start = text.index("4. ") + 3  # near enough to the paragraph before
    live.check(text[:start] + "x" + text[start:])
    assert "3. " in recording.texts[0][0]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One.\n\nTwo.\n\nThree.", [6, 12, 18]),
        ("One.\n\n<pre>\n\nTwo.\n\n</pre> it.\n\nThree.", [6, 31, 37]),
        ("One.\n\n```\n\nTwo.", [6, 15]),
        ("\u2029 one\n\u2029 two\n  \u2029 three", [6, 14, 21]),
        ("\u2029 one `\n\u2029 two` b\n\u2029 c", [17, 20]),
        ("    a = 1\n    \n    b\n\nc", [22, 23]),
        ("    a, b\n    \n    c\n\nd", [14, 21, 22]),
        ("", []),
    ],
)
def test_parts_end_outside_of_code(text, ends):
    assert [part.end for part in ParagraphCutter().cut(text)] == ends


def test_parts_have_the_context_that_models_see():
    text = f"{'word ' * 60}\n\nFew here.\n\n{'more ' * 60}"
    first, second, third = ParagraphCutter().cut(text)
    assert (second.start, second.end) == (len("word " * 60) + 2, len("word " * 60) + 13)
    assert text[second.context_start : second.start].split() == ["word"] * CONTEXT_WORDS
    assert text[second.end : second.context_end].split() == ["more"] * CONTEXT_WORDS
    assert len(text[first.end : first.context_end].split()) == CONTEXT_WORDS + 2
    assert third.context_end == len(text)


def test_the_context_of_parts_without_words_is_bounded():
    code = "\u2029      \n"
    text = f"{'word ' * 60}\n\n{code * 3000}\n{'more ' * 60}"
    parts = ParagraphCutter().cut(text)
    assert len(parts) > 3000
    assert max(part.context_end - part.context_start for part in parts[100:-100]) == (
        2 * MAX_CONTEXT_PARTS + 1
    ) * len(code)
    near = parts[MAX_CONTEXT_PARTS]
    assert text[near.context_start : near.start].split("\u2029")[0].split() == ["word"] * CONTEXT_WORDS
    assert near.context_end - near.end == MAX_CONTEXT_PARTS * len(code)


def test_a_check_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(decided, "BATCH_CHARACTERS", 500)
    recording = RecordingModels()
    live = LiveText("notes.txt", CheckSettings(), recording)
    text = make_paragraphs(6)
    assert live.check(text, lambda: len(recording.texts) >= 2) is None
    done = len(recording.texts)
    result = live.check(text)
    assert flag_fields(result) == flag_fields(from_scratch("notes.txt", text))
    assert done == 2
    assert len(recording.texts) <= 7  # what was done was kept


def test_settings_apply_as_in_a_run(tmp_path):
    (tmp_path / "words.txt").write_text("quite\n")
    text = "\n\n".join(SENTENCES[:3])
    everything = live_text(text)
    left = [flag for flag in everything.flags if plain_word(flag.observed) not in ("then", "quite")]
    assert 0 < len(left) < len(everything.flags)
    some = live_text(text, ignore=("THEN",), ignore_files=(str(tmp_path / "words.txt"),))
    assert list(some.flags) == left
    one = live_text(text, max_flags_per_1000=1.0)
    assert len(one.flags) == 1
    assert live_text(text, excluded=True).flags == ()


def test_a_baseline_hides_flags_in_every_check(tmp_path):
    name, text = str(tmp_path / "notes.txt"), "\n\n".join(SENTENCES[:3])
    flags = from_scratch(name, text).flags
    baseline = new_baseline(str(tmp_path / "known.json"))
    baseline.add(name, text, flags[:1])
    baseline.write()
    live = LiveText(name, CheckSettings(baseline=baseline.path), models())
    for _ in range(3):
        assert list(live.check(text).flags) == list(flags[1:])


def test_candidates_are_edits_with_the_suggestion_first():
    text = "\n\n".join(SENTENCES[:4])
    live = LiveText("notes.txt", CheckSettings(), models())
    flags = live.check(text).flags
    candidates = flag_candidates(flags, live.decisions, text, live.annotate)
    assert len(candidates) == len(flags) > 3
    for flag, proposed in zip(flags, candidates, strict=True):
        first = (proposed[0].text, proposed[0].edit, proposed[0].probability)
        assert first == (flag.replacement, flag.edit, flag.probability)
        assert len({item.edit for item in proposed}) == len(proposed) <= 5
        assert all(text[item.edit[0] : item.edit[1]] != item.edit[2] for item in proposed)
        assert all(0 < item.probability <= 1 for item in proposed)
    assert any(len(proposed) > 1 for proposed in candidates)
    proposed_only = flag_candidates(flags, live.decisions, text, lambda given: models()(given))
    assert all(
        len(proposed) <= 1 + len(flag.alternatives)
        for flag, proposed in zip(flags, proposed_only, strict=True)
    )


def test_context_around_an_offset():
    text = make_paragraphs(3)
    live = LiveText("notes.txt", CheckSettings(), models())
    live.check(text)
    at = text.index("1. ") + 40
    around, offset = live.around(at)
    assert text[offset : offset + len(around)] == around
    assert around[at - offset :].startswith(text[at : at + 10])
