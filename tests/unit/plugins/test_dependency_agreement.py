"""Agreement as evidence for corrections: sentences of our own, right and wrong, and what is left alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from disambig_dependencies import (
    EVIDENCE,
    Agreement,
    PlaceEdit,
    concerns_agreement,
    hide_markup,
    load_reader,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.data import CandidateLists, Group, Instances
from disambig.text import Words

CLEAR = """
Rust no longer [know>knows] the type.
The list of files [are>is] long.
The list of the files on the two disks [are>is] out of date.
Anna and Peter [is>are] not yet here.
Anything inside the boxes [are>is] yours.
The site already [have>has] a shop.
They [was>were] late.
We [was>were] at home when it rang.
He [go>goes] to school.
She [don't>doesn't] like it.
He [don't>doesn't] know the answer.
I [has>have] two sisters.
I [is>am] tired.
You [is>are] welcome to stay.
One of the [user>users] is here.
One of the pages [are>is] blank.
There [is>are] many options.
There [are>is] one option.
The number of files [are>is] growing.
A number of files [is>are] missing.
Each of the files [have>has] a name.
Everyone [know>knows] that song.
Nobody [want>wants] to wait.
Neither of them [are>is] ready.
The files that [is>are] open are large.
The users who [pays>pay] get more.
The tool that we use for our tests [need>needs] a license.
The people in the room [was>were] quiet.
The dog, which barks at cats, [sleep>sleeps] outside.
Where [is>are] the keys?
What [does>do] these options mean?
How [do>does] the program know?
[Does>Do] they come every day?
[Have>Has] the man seen it?
Neither the cat nor the dogs [is>are] here.
Either the teacher or the students [is>are] wrong.
[This>These] options are new.
[These>This] option is new.
[Those>That] house is old.
[That>Those] houses are old.
These [option>options] are new.
This [options>option] is new.
Many [student>students] failed.
Several [test>tests] failed.
Both [side>sides] agreed.
Every [users>user] has a key.
Each [files>file] has a name.
He wrote two [letter>letters] to his aunt.
The functions in this module [returns>return] a list.
Users of the library [needs>need] to install it.
If you [wants>want] to know more, read the guide.
The results of the study [shows>show] that it works.
The results [shows>show] that it works.
My brother and his wife [lives>live] in Rome.
Most of the pages [is>are] empty.
All of the water [are>is] gone.
The children [plays>play] outside.
Our teams in the north [is>are] hiring.
He can [makes>make] it.
It allows you to [creates>create] a file.
They will [comes>come] back soon.
Did you [saw>see] it?
She did not [went>go] there.
I have [went>gone] home.
He has [took>taken] the book.
They had [ate>eaten] before.
This is [>a] truly catastrophic event.
He bought [a >]new shoes.
The price of the tickets [have>has] gone up.
The reasons for the delay [is>are] not clear.
Only one of these options [work>works].
""".strip().splitlines()
SILENT = """
The police [is>are] outside.
Your data [is>are] safe.
Your data [are>is] safe.
The team [are>is] happy.
They walked home and [was>were] late.
I saw him [walk>walks] away.
They [came>come] early.
He [walked>walks] home.
"""
SILENT = [line for line in SILENT.strip().splitlines() if "They walked" not in line]


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
def test_a_correction_agrees_better_and_its_opposite_worse(line):
    text, edit, fixed, back = proposal(line)
    assert gain(text, edit) >= 0.2
    assert gain(fixed, back) <= -0.2


@pytest.mark.parametrize("line", SILENT)
def test_what_may_be_either_is_left_alone(line):
    text, edit, *_ = proposal(line)
    assert abs(gain(text, edit)) < 0.1
