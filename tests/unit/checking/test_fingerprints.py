"""Flags known by their content."""

from __future__ import annotations

from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.checking import find_flags, flag_identity, number_fingerprints, sentence_around
from disambig.markup import read_markup

TEXT = "# Title\n\nAll is well. It was a quite place,\nfar away. The end.\n"


def known(text, path="a.md"):
    plain = read_markup(path, text)
    return [
        flag_identity(path, plain.text, flag)
        for flag in find_flags(path, text, plain, annotate_texts([plain.text])).flags
    ]


def test_the_sentence_is_what_stands_between_its_ends():
    (found,) = known(TEXT)
    assert (found.path, found.task, found.observed) == ("a.md", "spelling", "quite")
    assert found.sentence == "It was a quite place, far away."


def test_it_stays_when_lines_move_and_goes_with_its_words():
    (before,) = known(TEXT)
    assert known("More.\r\n\r\n" + TEXT.replace("place,\n", "place,   ").replace("\n", "\r\n")) == [before]
    assert known(TEXT.replace("The end", "No end")) == [before]
    assert known(TEXT.replace("far", "not far")) != [before]
    assert known(TEXT, "b.md") != [before]


def test_digests_are_the_same_for_ever():
    (found,) = known(TEXT)
    assert found.digest == "27228bfaad2e95b8c967b97265eccdd6"


def test_no_two_fingerprints_are_alike():
    found = known("A quite place. A quite place and a quite place. A quite place.")
    fingerprints = number_fingerprints(found)
    assert len(set(fingerprints)) == 4
    assert [each.rpartition(":")[2] for each in fingerprints] == ["1", "1", "2", "2"]


@given(st.text(alphabet="ab.!? \n\u2029", max_size=60), st.data())
def test_a_sentence_holds_its_place(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    inside = " ".join(text[start:end].split())
    assert inside in sentence_around(text, start, end)
