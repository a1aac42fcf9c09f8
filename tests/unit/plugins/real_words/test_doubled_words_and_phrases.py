"""Doubled words and wrong phrases: found in running text, and not flagged where they are right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from disambig_real_words import ENGLISH_PHRASES, Doubled, read_phrases
from hypothesis import given, settings, strategies as st
from processor_time import grows_linearly

from disambig.api import Words
from disambig.checking import apply_corrections, find_flags
from disambig.data import record_edit, replacement
from disambig.errors import UserError
from disambig.markup import read_markup
from disambig.models import ModelSource

RIGHT = """
What it does does not matter. | What it is is a mystery to me. | He went in in the end.
I know that that is true. | She said that that was all she needed. | He had had enough of it by then.
The man who had had the accident left early. | What he had had had no effect.
We flew to Bora Bora last spring. | They listened to The The all evening. | The The is a band.
I am so so sorry about it. | It was a long long way home. | It was very very cold outside.
The report covers many many topics. | She gave her her book back. | It has cost her her place.
The thing is is that nobody knows. | Where he was was unclear to all of us.
A list that changes changes no model.
What we know is is not enough. | All they do do is talk. | Whatever they are are not my friends.
How it works works for me. | Log in in a private window. | Please log in in the morning.
He moved on on Monday. | The party went on on the roof. | She put it on on her way out.
Carry on on your own. | We turned in in the evening. | They checked in in the afternoon.
He gave in in the final round. | The cells were studied in in vitro assays.
In in vivo tests the drug failed. | People of good will will agree. | Political will will emerge again.
The can can be recycled. | If you want it it is yours. | When we saw it it was too late.
Without it it would fail. | I told you you would like it. | No matter what happens to you you can call me.
I did not sleep at all all night. | Use it if and when when needed is unclear.
No no, that is not what I meant. | Yes yes, I heard you. | Bye bye for now. | Knock knock, who is there?
He made a ha ha sound. | The baby said da da and goo goo. | I never never said so.
It was then that that idea came up. | The people who can can help the others.
Those who do do not regret it. | Whoever they were were gone by noon. | What he said said a lot about him.
What you see in in this picture is a cat. | The loa loa worm lives in the eye. | Blah blah, nothing new.
What there is is enough. | What matters is is the code right. | The best one there is is here.
The values x x x are multiplied here. | The matrix has the entries i i and j j on its diagonal.
Press y y to copy a line, and d d to delete it. | Every vector is written as n n in this chapter.
The word a a b is not in the language. | The letters a a a come first.
The line has after after after after after after in it. | The bone is a part of the I I group.
They drank very very little. | That that is, is. | May May come in June? | Will Will write to us?
Rose rose at six. | Call it as show name name ... here.
Those I love love me.
The boolean and and or operators are lazy. | There is no there there.
"""
"""Sentences in which a word is repeated on purpose, divided by bars."""
SENTENCES = """We sent the| report before noon.
She looked at| every page of it.
They moved to| another city last year.
The box is| heavier than before.
He waited for| two whole hours.
Nobody was able to| repeat it.
The rest of| our plan stays.
You can| change every value.
It should be| done by tomorrow.
The list and| its entries are sorted.
They came with| many questions.
Read this| chapter first.
Each file has| several sections.
The tests are| fast enough.
Write a| short note about it.
The service| restarts by itself.
We found an| older version there.
They will| answer within days.
He or| his deputy signs it.
The letter from| our office arrived.
It works as| expected on most machines.
Our| parser reads each line.
The values were| rounded twice.
Do not| remove these lines.
The editor| shows every match.
Use their| newer interface.
All of it depends on| careful planning.
The results may| differ between runs.
Save it by| pressing one key.
The cache| grows over time.
Nothing but| the name changed.
This is what they| asked about.""".splitlines()
"""Sentences with ``|`` behind the word that is doubled."""
PLACES = {
    "paragraph": "{before}{word} {word}{after}\n",
    "paragraph without a mark": "Before it.\n\n{before}{word} {word}{bare}\n\nBehind it.\n",
    "heading": "## {before}{word} {word}{bare}\n\nText that follows.\n",
    "heading and text": "## {before}{word} {word}{bare}\nText that follows.\n",
    "list item": "Read on:\n\n* One item\n* {before}{word} {word}{bare}\n* Two items\n",
    "table cell": "| Name | Use |\n|---|---|\n| one | {before}{word} {word}{bare} |\n| two | -- |\n",
    "over a line break": "Some words begin here. {before}{word}\n{word}{after} Then it ends.\n",
    "before code": "{before}{word} {word} `value_of_it`{after}\n",
    "before a link": "{before}{word} {word} [linked text](page.md){after}\n",
    "before emphasis": "{before}{word} {word} **clearly marked**{after}\n",
    "inside a link": "See [{before}{word} {word}{bare}](page.md) for that.\n",
    "before a linked rest": "{before}{word} {word} [{rest}](page.md).\n",
}


@pytest.fixture(scope="module")
def find():
    annotate = ModelSource().load_correcting()

    def check(texts, name="a.md"):
        plain = [read_markup(name, text) for text in texts]
        by_task = annotate([item.text for item in plain])
        flags = []
        for i, (text, item) in enumerate(zip(texts, plain, strict=True)):
            decided = [decisions.in_document(i) for decisions in by_task]
            flags.append(find_flags(name, text, item, decided).flags)
        return flags

    return check


def doubled_flags(find):
    return [flag for flag in find if flag.task == "doubled" and flag.observed]


def with_doubled_word(sentence, template):
    before, after = sentence.split("|")
    before, word = re.fullmatch(r"(.*?)(\w+)", before).groups()
    rest = {"after": after, "bare": after.rstrip("."), "rest": after.strip(" .")}
    text = template.format(before=before, word=word, **rest)
    return re.sub(rf"\b({word}[ \n])({word})\b", lambda pair: pair[1] + pair[2].lower(), text, count=1)


def test_right_sentences(find):
    sentences = [sentence for line in RIGHT.strip().splitlines() for sentence in line.split(" | ")]
    assert len(sentences) >= 60
    flagged = [text for text, raised in zip(sentences, find(sentences), strict=True) if doubled_flags(raised)]
    assert flagged == []


@pytest.mark.parametrize("place", PLACES)
def test_doubled_words_in_any_markup(find, place):
    texts = [with_doubled_word(sentence, PLACES[place]) for sentence in SENTENCES]
    missed = [text for text, raised in zip(texts, find(texts), strict=True) if not doubled_flags(raised)]
    assert missed == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is a a file.\n", "It is a file.\n"),
        ("A a file is read.\n", "A file is read.\n"),
        ("He ate a a pear.\n", "He ate a pear.\n"),
        ("I I think that it is late.\n", "I think that it is late.\n"),
        ("She said that I I should stay.\n", "She said that I should stay.\n"),
        ("It goes to to [the page](b).\n", "It goes to [the page](b).\n"),
        ("See [the the page](b).\n", "See [the page](b).\n"),
        ("## Start the the server\n\nIt runs.\n", "## Start the server\n\nIt runs.\n"),
        ("This is the *the* file that we read.\n", "This is *the* file that we read.\n"),
        ("This is **is** the file that we read.\n", "This **is** the file that we read.\n"),
        ("In general, is is better to use the tool.\n", "In general, it is better to use the tool.\n"),
        # blanks and ends of lines between the words
        ("We went to the  the shop.\n", "We went to the  shop.\n"),
        ("It was late when we  we left.\n", "It was late when we  left.\n"),
        ("We went to the   the shop.\n", "We went to the   the shop.\n"),  # something was cut out
        ("We went to the ![](b.png) the shop.\n", "We went to the ![](b.png) the shop.\n"),
        ("They saw  saw it.\n", "They saw  saw it.\n"),  # no function word
        ("We went to the\nthe shop.\n", "We went to the\nshop.\n"),
        ("We went to the \r\n  the shop.\r\n", "We went to the \r\n  shop.\r\n"),
        ("- We went to the\n  the shop.\n", "- We went to the\n  shop.\n"),
        ("We went to the\n\nthe shop.\n", "We went to the\n\nthe shop.\n"),
    ],
)
def test_corrections(find, text, expected):
    (raised,) = find([text])
    assert apply_corrections(text, raised) == expected


def test_slips_and_mentions(find):
    text = "In general, is is better to use the tool.\n"
    ((flag,),) = find([text])
    assert flag.replacement == "it"
    assert [(other["task"], other["replacement"]) for other in flag.alternatives] == [("doubled", "")]
    texts = "Write *the the* here.", "Refer to [](#options) to see it.", "The flag `the` the tool sets."
    assert [doubled_flags(raised) for raised in find([f"{text}\n" for text in texts])] == [[], [], []]


def test_commands_in_lines_of_their_own(find):
    texts = [
        "Then run these:\n  ./configure\n  make\n  make install\n",
        "This is the new file\nfile of the user.\n",
    ]
    assert [len(doubled_flags(raised)) for raised in find(texts, "a.txt")] == [0, 1]


def test_invalid_tables(tmp_path):
    table = tmp_path / "xx.tsv"
    table.write_text("emphasis\tvery\nsometimes\tso\n")
    with pytest.raises(UserError, match="line 2"):
        Doubled(repeated=table).check_files()
    with pytest.raises(UserError, match="D995"):
        Doubled(repeated=tmp_path / "none.tsv").check_files()
    table.write_text("# words\nemphasis\tvery\nright_after\tin\tlog\n")
    assert "2 words that may stand twice" in Doubled(repeated=table).check_files()


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_correction_is_idempotent(find, data):
    """A second correction changes nothing; the first one only removes doubled words."""
    parts = data.draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4, unique=True))
    clean = " ".join(part.replace("|", "") for part in parts) + "\n"
    text = " ".join(with_doubled_word(part, "{before}{word} {word}{after}") for part in parts) + "\n"
    (raised,) = find([text])
    once = apply_corrections(text, doubled_flags(raised))
    assert once == clean
    assert doubled_flags(find([once])[0]) == []


PHRASES = Path(__file__).parents[3] / "texts" / "phrases.txt"
PHRASE_SENTENCES = PHRASES.read_text(encoding="utf8").splitlines()
WRONG_PHRASES = [line for line in PHRASE_SENTENCES if "{" in line]  # {mistake|correction}
RIGHT_PHRASES = [line for line in PHRASE_SENTENCES if "{" not in line]


@pytest.fixture(scope="module")
def table():
    return read_phrases(ENGLISH_PHRASES)


def correct(table, text):
    view = Words()([text])
    wrong = table.find(view).select(right=False)
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


def test_wrong_phrases(table):
    differing = []
    for row in WRONG_PHRASES:
        text, expected = (re.sub(r"\{([^|}]*)\|([^}]*)\}", group, row) for group in (r"\1", r"\2"))
        new, seen = correct(table, text)
        if not seen or new != expected or correct(table, new) != (new, []):
            differing.append((row, new))
    assert not differing


def test_emphasised_phrases_are_corrected_unless_they_are_mentioned(table):
    for text in ("You \x1fcould of\x1f come.", "You \x1fcould of come\x1f."):
        assert correct(table, text) == (text.replace("could of", "could have"), ["could of -> could have"])
    for text in ("Some say \x1fcould of\x1f come.", "The phrase \x1fcould of\x1f come is wrong."):
        assert correct(table, text) == (text, [])
    # in the sentence of the phrase alone
    text = "That is wrong. You \x1fcould of\x1f come."
    assert correct(table, text)[0] == "That is wrong. You \x1fcould have\x1f come."


def test_right_phrases_and_phrases_over_lines(table):
    mentions = "We met the Their Selves band and our Selves.", "He wrote \x1fcould of\x1f come."
    for text in (*RIGHT_PHRASES, *mentions):
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
        ("pairs VERB\twent=gone\nVERB VERB\tVERB", "one VERB in the pattern"),
        ("pairs VERB\twent=gone\nhave gone\tVERB", "one VERB in the pattern"),
        ("set CODE\tx", "name of a set"),
        ("in CODE|of\tx", "no set 'CODE'"),
        ("in of\tx\tCODE _", "belongs in patterns"),
        ("CODE CODE\tx", "whole words"),
        ("in CODE\tx", "code is never replaced"),
        ("pairs VERB\twent=gone\n[VERB CODE] of\tVERB", "VERB in brackets"),
    ],
)
def test_invalid_lines(tmp_path, line, problem):
    path = tmp_path / "xx.tsv"
    path.write_text(f"# comment\n\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_phrases(path)
    assert (
        caught.value.code == "D995"
        and f"line {3 + line.count(chr(10))}: " in str(caught.value)
        and problem in str(caught.value)
    )


def test_right_phrases_are_distinguished(tmp_path):
    path = tmp_path / "right.tsv"
    path.write_text("[monday] mornings|nights\t=\nmonday mornings\tmondays\n[one of *] has it\t=\tus _\n")
    view = Words()(["On Monday mornings one of those has it. So one of us has it. So has it."])
    matches = read_phrases(path).find(view)
    assert matches.texts == (("mornings", "mornings"), ("has it", "has it"))
    assert matches.select(right=True).texts == matches.texts and not matches.select(right=False).texts
    covered = np.flatnonzero(matches.covers(np.arange(len(view))))
    assert [view.texts[0][view.starts[i] : view.ends[i]] for i in covered] == ["mornings", "has", "it"]


def test_english_words_that_are_right_after_others(table):
    for text, right in (
        ("She ca n't come , and it does n't matter .", ["ca", "n't", "n't"]),  # tokens of a treebank
        ("Every day we wake up early.", ["wake"]),
        ("Social media are a useful tool, and the media has said so.", ["are", "has"]),
        ("In the evenings we walked home.", ["evenings"]),
        ("Every day we goes home.", []),
        ("It returns a noun form of it.", ["form"]),
        ("If there are more than ten then the rest is lost.", ["then"]),
        ("If the file is empty then nothing is shown.", ["then"]),
        ("If it takes longer then it is stopped.", ["then"]),
        ("If it takes longer then it did, stop.", []),
        ("If you need more memory then before, buy it.", []),
        ("We used different files than were needed.", ["than"]),
        ("Save your work before exiting.", ["exiting"]),
        ("If you like it, please star this repository.", ["star this repository"]),
        ("Feel free to star the project.", ["star the project"]),
        ("You can star the server now.", []),
        ("The colours are set by theming.", ["theming"]),
        ("We server render the page.", ["server"]),
        ("It throws on invalid input.", ["on"]),
        ("It throws on exception.", []),
        ("No using eval.", ["No"]),
        ("It compiles Sass or Less.", ["Less"]),
        ("There are less bugs.", []),
        ("It has more words than are needed.", ["than"]),
        ("Validate form fields first.", ["form"]),
        ("It is read in parts, each a document.", ["a"]),
        ("The connection type if known.", ["if"]),
        ("The tree if found; otherwise, nothing.", ["if"]),
        ("The name of it if the server.", []),
        ("\ufffc if the file exists.", ["if"]),
        ("Return the item with index index.", ["index"]),
        ("A page on manually grouping objects.", ["manually"]),
        ("Response code if intercepted", ["if"]),
        ("Uses the def name if undefined and more.", ["Uses", "if"]),
        ("It if undefined is lost.", []),
        ("The INT8 matrix multiply", ["multiply"]),
        ("Quadratic in then out", ["then"]),
        ("The file is generated as is.", ["as is"]),
        ("\ufffc an integration of it.", ["an"]),
        ("\ufffc an user of it.", []),
        ("The server(s) have it.", ["have"]),
        ("Focussing on what is due.", ["Focussing"]),
        ("It is two so return the first.", ["so"]),
        ("Data you can write to are old.", ["are"]),
        ("List who has access.", ["has"]),
        ("Foreword", ["Foreword"]),
        ("It defaults to on.", ["on"]),
        ("This functions like the other.", ["This functions"]),
        ("It says which of the files is read.", ["is"]),
        ("\ufffc it an array.", ["it"]),
        ("If you starred a lot of them", ["starred"]),
        ("It is starred by them", []),
        ("Save it when exiting the mode.", ["exiting"]),
        ("Use the exiting mode.", []),
        ("\ufffc other instances is allowed.", ["is"]),
        ("The other instances is allowed.", []),
        ("I want so return the first.", []),
        ("Stop the job if not successful.", ["if not"]),
        ("Save it if this if not successful.", []),
        ("It is listed, where supported, by name.", ["where"]),
        ("The values where supported.", []),
        ("The hour as a number from 0 to 23.", ["as"]),
        ("Shall the old game be saved?", ["be"]),
        ("The default is no.", ["no"]),
        ("They expect the next release to be small.", ["expect"]),
        ("All files expect the next one.", []),
        ("I assume that's the one.", ["that's"]),
        ("It is simpler now that the test is gone.", ["now"]),
        ("I now that the test is gone.", []),
        ("The houses are two miles apart.", ["apart"]),
        ("It is apart of the house.", []),
        ("It is equivalent to calling it twice.", ["calling"]),
        ("It takes user functions.", ["user"]),
        ("You can user the function.", []),
        ("The camera homes in on it.", ["on"]),
        ("The rights of such entity end.", ["entity"]),
        ("What kernels does it run?", ["kernels"]),
        ("Ran it twice.", ["Ran"]),
        ("Simplify the tests.", ["Simplify"]),
        ("The copy, the move, and the swap are cheap.", []),
        ("Copy, move, assignment are cheap.", ["are"]),
        ("The shell treats these marks specially.", ["specially"]),
        ("It is useful when sensible.", ["sensible"]),
        ("When you add one, ensure that it is used.", ["ensure"]),
        ("Correctly close the file.", ["close"]),
        ("It correctly close the file.", []),
        ("The value of it if unused.", ["if"]),
        ("The the so called root is read.", ["the"]),
        ("Fix bug in the parser.", ["bug"]),
        ("There is bug in the parser.", []),
        ("Return true if being printed.", ["if"]),
        ("We need to stat the file.", ["stat"]),
        ("Add a news item for it.", ["news"]),
        ("Colour the other two marks too", ["too"]),
        ("The names that they belong too", []),
        ("The one which it is nearest too", []),
        ("They are the exiting nodes.", ["exiting"]),
        ("It can garbage collect the list.", ["garbage collect"]),
        ("He bought a suit of armour.", ["suit"]),
    ):
        matches = table.find(Words()([text])).select(right=True)
        assert [written for written, _ in matches.texts] == right, text


def test_pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "pairs VERB\twent=gone don't=do\n[VERB of] it\tVERB\twhat _\nhave VERB\t$1 VERB\n[to] VERB\tx\n"
    )
    table = read_phrases(path)
    assert len(table) == 3
    for text, corrected in (
        ("Have went we, and have went to went.", "Have gone we, and have gone to x."),
        ("She have don't, have don\u2019t.", "She have do, have do."),
        ("Went of it.", "Went of gone."),
        ("We have gone to have.", "We have gone to have."),
    ):
        assert correct(table, text)[0] == corrected


def test_a_set_replaces_pairs_of_the_same_name(tmp_path):
    path = tmp_path / "sets.tsv"
    path.write_text("pairs VERB\twent=gone\nset VERB\twent came\nhave VERB\thad $2\n")
    assert correct(read_phrases(path), "We have came.")[0] == "We had came."


CODE = [
    "max_size",
    "compose()",
    "app.load_all()",
    "--force",
    "-f",
    "@Inject",
    "$path",
    "getDoc",
    "index.html",
]
CODE += ["src/lib/", "./run.sh", "/users", "request.user", "\x1f\ufffc\x1f"]
NO_CODE = [
    "size",
    "GitHub",
    "and/or",
    "e.g.",
    "U.S.",
    "Node.js",
    "well-known",
    "(max_size",
    "camelCase",
    "3.5",
]


def test_code(tmp_path):
    """An item may be code of several tokens, on either side of the word by which a phrase is found."""
    path = tmp_path / "code.tsv"
    path.write_text("pairs BE\twere=was\nin [CODE option]\tin the\tkind _\n[CODE] BE\tBE\n")
    table = read_phrases(path)
    for code in CODE:
        assert correct(table, f"Set it in {code} option.")[0] == f"Set it in the {code} option.", code
        assert correct(table, f"Here {code} were set.")[0] == f"Here {code} was set.", code
        assert correct(table, f"It is a kind in {code} option.")[1] == []
        assert correct(table, f"It is in {code}/option.")[1] == [], "the last word is a part of the code"
    for word in NO_CODE:
        assert correct(table, f"Set it in {word} option. Here {word} were set.")[1] == [], word
    for text in ("# Set it in max_size option\n\nIt is set.", "* set in max_size option\n* other"):
        assert correct(table, text)[1] == [], "headings and lists leave out articles"


@given(st.lists(st.sampled_from([*CODE, *NO_CODE, "in", "option", "were", ".", ",", "\n", "`"]), max_size=12))
def test_code_anywhere(words):
    """Phrases with code are found in any text, at its ends as well, and their words are separate ones."""
    table = read_phrases(ENGLISH_PHRASES)
    text = " ".join(words)
    for written, _ in table.find(Words()([text])).texts:
        assert f" {written} " in f" {text} "


def test_another_language(tmp_path):
    path = tmp_path / "de.tsv"
    german = "set PRO\tich du wir\n[PRO] einzigste\teinzige\tder _\nwegen dem\twegen des\t_ ... kind|kinder\n"
    path.write_text(german, encoding="utf8")
    table = read_phrases(path)
    assert len(table) == 2
    assert correct(table, "Wegen dem Regen blieb ich.")[0] == "Wegen des Regen blieb ich."
    assert correct(table, "Wegen dem lieben Kind blieb ich.")[1] == []


def test_time_grows_linearly_with_a_sentence_of_repetitions():
    task = Doubled()

    def certain(n):
        view = Words()(["the cat sat " + "the the cat and " * n])
        return task.certain_mistakes(view, task.instances(view))

    assert len(certain(10)[0]) == 10
    assert grows_linearly(certain, 8_000)


@pytest.mark.parametrize("word", ["option.", "in/option.", "option-"])
def test_time_grows_linearly_with_a_long_word_of_code(table, word):
    assert grows_linearly(lambda n: table.find(Words()(["in " + word * n + " option."])), 2_000)


def test_articles_at_the_end_of_a_line_of_a_comment(find):
    lines = ["The reader is also an", "`Iterable` of it, and an", "exception is a", "user of it."]
    text = "/**\n * " + "\n * ".join(lines) + "\n */\nlet x;\n"
    assert [flag.observed for flag in find([text], name="a.ts")[0]] == []
    (flag,) = find(["/* The reader is a\n * exception of the same kind. */\nint x;\n"], name="a.c")[0]
    assert (flag.observed, flag.replacement) == ("a", "an")
