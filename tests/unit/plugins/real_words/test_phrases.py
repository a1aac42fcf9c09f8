"""Phrases that are wrong in any context, and right sentences that resemble them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from disambig_real_words import ENGLISH_PHRASES, read_phrases

from disambig.api import Words
from disambig.data import record_edit, replacement
from disambig.errors import UserError

SENTENCES = (Path(__file__).parents[3] / "texts" / "phrases.txt").read_text(encoding="utf8").splitlines()
WRONG = [line for line in SENTENCES if "{" in line]  # {mistake|correction}
RIGHT = [line for line in SENTENCES if "{" not in line]


@pytest.fixture(scope="module")
def table():
    return read_phrases(ENGLISH_PHRASES)


def correct(table, text):
    view = Words()([text])
    wrong = table.find(view)
    places = zip(wrong.positions.tolist(), wrong.lengths.tolist(), wrong.texts, strict=True)
    seen = []
    for at, n, (written, correction) in reversed(list(places)):
        start, end = int(view.starts[at]), int(view.ends[at + n - 1])
        assert text[start:end] == written
        seen.append(f"{written} -> {correction}")
        new = replacement(correction, text, start, end)
        edit = record_edit({"start": start, "end": end, "observed": written, "replacement": new}, text)
        text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
    return text, seen


@pytest.mark.parametrize("row", WRONG)
def test_wrong_phrases(table, row):
    text, expected = (re.sub(r"\{([^|}]*)\|([^}]*)\}", group, row) for group in (r"\1", r"\2"))
    new, seen = correct(table, text)
    assert seen and new == expected
    assert correct(table, new) == (new, [])


def test_right_sentences_and_phrases_over_lines(table):
    mentions = "We met the Their Selves band and our Selves.", "He wrote \x1fcould of\x1f come."
    for text in (*RIGHT, *mentions):
        assert correct(table, text) == (text, [])
    corrected = "Somebody could\nhave told me.", ["of -> have"]
    assert correct(table, "Somebody could\nof told me.") == corrected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("could of", "expected a pattern"),
        ("could of\t$3 have", "is not a correction"),
        ("could of\t", "is not a correction"),
        ("[could of]\tcould have", "outside of brackets"),
        ("could [of] been\tx", "outside of brackets"),
        ("could [of\tx", "outside of brackets"),
        ("could VERB\tx", "no set 'VERB'"),
        ("Could of\tx", "lower case"),
        ("*ed *ly\tx", "whole words"),
        ("could of\tx\tcourse", "needs one _"),
        ("could of\tx\t_", "needs words"),
        ("set verb\tgo come", "name of a set"),
        ("set VERB\t", "empty"),
        ("pairs verb\twent=gone", "name of a set"),
        ("pairs VERB\t", "is not a pair"),
        ("pairs VERB\twent=gone came", "'came' is not a pair"),
        ("pairs VERB\twent=", "'went=' is not a pair"),
    ],
)
def test_invalid_lines(tmp_path, line, problem):
    path = tmp_path / "xx.tsv"
    path.write_text(f"# comment\n\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_phrases(path)
    assert caught.value.code == "D995" and "line 3: " in str(caught.value) and problem in str(caught.value)


def test_pairs_and_another_language(tmp_path):
    short, long = tmp_path / "short.tsv", tmp_path / "long.tsv"
    short.write_text("pairs VERB\twent=gone saw=seen\n[have] VERB\tVERB\twhat _\nthey seen\tthey saw\n")
    long.write_text("[have] went\tgone\twhat _\n[have] saw\tseen\twhat _\nthey seen\tthey saw\n")
    assert read_phrases(short).phrases == read_phrases(long).phrases
    path = tmp_path / "de.tsv"
    path.write_text(
        "set PRO\tich du wir\n[PRO] einzigste\teinzige\tder _\nwegen dem\twegen des\t_ ... kind|kinder\n",
        encoding="utf8",
    )
    table = read_phrases(path)
    assert len(table) == 2
    assert correct(table, "Wegen dem Regen blieb ich.")[0] == "Wegen des Regen blieb ich."
    assert correct(table, "Wegen dem lieben Kind blieb ich.")[1] == []
