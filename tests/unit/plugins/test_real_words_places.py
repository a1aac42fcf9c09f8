"""Where something is decided, between what, and where all is silent: by models made by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from disambig_real_words import Article, Doubled, Form, Slip, layout_lines, model_word_ids
from hypothesis import given
from hypothesis import strategies as st
from toy_cloze import articles, by_hand

from disambig.errors import UserError
from disambig.markup import plain_text
from disambig.testing import check_task
from disambig.text import Web1T, Words, view_of_texts

CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"
RELATED = "form\tgo goes went\nform\tis are isn't\nslip\tform from\nderived\tquick quickly\nslip\tthe them\n"
RULES = {
    (-1, "he"): {"goes": 6, "went": 5, "go": -2, "is": 4, "isn't": 4},
    (-1, "they"): {"go": 5, "are": 5},
    (-1, "came"): {"from": 6, "quickly": 3},
    (-1, "the"): {"form": 6, "quick": 4},
    (1, "home"): {"to": 1},
    (-1, "want"): {"to": 5, "": -1},
    (1, "rain"): {"is": 3, "": -0.5},
}
WORDS = "go goes went is are isn't form from quick quickly to the them that".split()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    home = tmp_path_factory.mktemp("real_words")
    articles().save(home / "articles")
    by_hand(WORDS, RULES, bias={"": 2}).save(home / "words")
    (home / "xx.tsv").write_text(RELATED, encoding="utf8")
    return {"articles": home / "articles", "words": home / "words", "relations": home / "xx.tsv"}


@pytest.fixture(scope="module")
def article(files):
    return Article(words=files["articles"])


@pytest.fixture(scope="module")
def doubled(files):
    return Doubled(words=files["words"], missing=["to", "is", "that"], most_twice=np.inf)


@pytest.fixture(scope="module")
def form(files):
    return Form(words=str(files["words"]), relations=files["relations"])


@pytest.fixture(scope="module")
def slip(files):
    return Slip(words=files["words"], relations=str(files["relations"]))


def found(task, text):
    """(What stands there, the other candidates in alphabetical order); of an empty place the word behind."""
    view = Words()([text])
    instances = task.instances(view)
    shown = []
    for i, (position, length) in enumerate(zip(instances.positions, instances.lengths, strict=True)):
        stands, *others = instances.own.instance_candidates(i)
        word = text[view.starts[position] : view.ends[position]]
        assert stands == (word.lower().replace(CURLY, "'") if length else "")
        shown.append((word if length else f" {word}", sorted(others)))
    return shown


# What is decided


def test_articles_where_another_or_none_fits(article):
    assert found(article, "She ate a apple.") == [("a", ["", "an", "the"])]
    assert found(article, "She ate an apple.") == []  # no other is near
    assert found(article, "She ate apple.") == [(" apple", ["a", "an", "the"])]
    assert found(article, "She ate the pear and a house.") == [("the", ["a"]), ("a", ["the"])]
    assert found(article, "The she.") == [
        ("The", ["", "a", "an"])
    ]  # none belongs there, and any fits as well
    assert found(article, "She likes.") == []


def test_how_near_another_must_be(article):
    def wanted(least, least_missing):
        return replace(article, least=least, least_missing=least_missing)

    assert found(wanted(4.5, 99.0), "She ate a apple.") == [("a", ["an"])]
    assert found(wanted(-99.0, 99.0), "She ate an apple.") == [("an", ["", "the"])]  # "a" does not sound so
    assert found(wanted(99.0, 6.0), "She ate apple and a pear.") == [(" apple", ["an"])]
    assert found(wanted(99.0, 99.0), "She ate apple and a pear.") == []


def test_no_article_is_missing_beside_one(article):
    assert found(article, "She ate the apple apple") == [("the", ["an"]), (" apple", ["a", "an", "the"])]


def test_an_article_before_the_name_a_is_left_alone(article):
    view = view_of_texts(["She ate the A apple, and ate the pear."], Words(), protected=True)
    positions = replace(article, least=-99.0, least_missing=99.0).instances(view).positions
    assert [view.texts[0][view.starts[at] : view.starts[at] + 6] for at in positions] == ["A appl", "the pe"]


def test_other_articles(files):
    task = Article(words=files["articles"], articles=["The"])
    assert found(task, "She hates house.") == [(" house", ["the"])]
    with pytest.raises(UserError, match=r"D996.*articles"):
        found(Article(words=files["articles"], articles="the"), "She hates house.")


def test_forms_of_a_word(form):
    assert found(form, "He go home.") == [("go", ["goes", "went"])]
    assert found(form, "He goes home.") == [("goes", ["went"])]
    assert found(form, "They are here.") == []
    assert found(form, "They ISN'T, they isn't, they is.") == [
        ("isn't", ["are", "is"]),
        ("is", ["are", "isn't"]),
    ]
    assert found(form, f"They isn{CURLY}t.") == [(f"isn{CURLY}t", ["are", "is"])]
    assert found(form, "The form came quick.") == [("quick", ["quickly"])]


def test_slips_are_not_forms(slip, form):
    assert found(slip, "He came form.") == [("form", ["from"])]
    assert found(slip, "From the form.") == [("From", ["form"]), ("the", ["them"])]
    assert found(form, "He came form.") == []


def test_kinds_together(files):
    task = Form(words=files["words"], relations=files["relations"], kinds=["form", "slip"])
    assert found(task, "He go form home.") == [("go", ["goes", "went"]), ("form", ["from"])]


def test_words_that_stand_twice(doubled):
    assert found(doubled, "We saw saw it.") == [("saw", [""])]
    assert found(doubled, "That that is so.") == [("that", [""])]
    assert found(doubled, f"It{CURLY}s it's cold.") == [("it's", [""])]
    assert found(doubled, "We saw the\r\nthe cat, cat. Cat saw it, saw it. Cat") == [("the", [""])]
    assert found(doubled, "Cafe\N{COMBINING ACUTE ACCENT} cafe\N{COMBINING ACUTE ACCENT} now")[0][1] == [""]


def test_words_that_fit_beside_each_other_are_left(files):
    task = Doubled(words=files["words"], missing=[], language="xx")  # no table
    text = "They want to to rain and is is so."
    assert found(task, text) == []
    assert found(replace(task, most_twice=-1.0), text) == [("to", [""]), ("is", [""])]
    assert found(task, "We saw saw it.") == [("saw", [""])]  # the model does not know it


def test_names_may_stand_twice(files):
    task = Doubled(words=files["words"], missing=[], most_twice=99.0, language="xx")
    assert found(task, "The The cat came. Duran Duran sang.") == [("The", [""])]
    assert found(task, "The the cat came. Duran duran sang.") == [("the", [""]), ("duran", [""])]


def test_a_word_that_stands_twice_is_no_form_and_no_slip(files):
    form, slip = (
        kind(words=files["words"], relations=files["relations"], least=-99.0) for kind in (Form, Slip)
    )
    assert found(form, "He go go home.") == [] != found(form, "He go home.")
    assert found(slip, "It came form form home, the the end.") == [] != found(slip, "It came form home.")


def test_a_possessive_before_a_mark_is_left(tmp_path, files):
    (tmp_path / "own.tsv").write_text("possessive\tthem them's\n", encoding="utf8")
    by_hand([*WORDS, "them's"], RULES, bias={}).save(tmp_path / "words")
    task = Form(words=tmp_path / "words", relations=tmp_path / "own.tsv", least=-99.0)
    assert [word for word, _ in found(task, "We saw them's house, not them's, or them's.")] == ["them's"]


def test_its_before_a_gerund_that_is_a_subject_is_left(tmp_path, files):
    (tmp_path / "own.tsv").write_text("form\tits them\n", encoding="utf8")
    by_hand([*WORDS, "its"], RULES, bias={}).save(tmp_path / "words")
    task = Form(words=tmp_path / "words", relations=tmp_path / "own.tsv", least=-99.0)
    assert found(task, "Its being late is fine. Its not having a door made it cold.") == []
    assert [word for word, _ in found(task, "Its being built now, its door is open.")] == ["Its", "its"]


def test_function_words_that_may_be_missing(doubled):
    assert found(doubled, "They want go.") == [(" go", ["to"])]
    assert found(doubled, "They want want rain.") == [
        (" want", ["to"]),
        ("want", [""]),
        (" rain", ["is", "to"]),
    ]


def test_without_words_that_may_be_missing_no_model_is_asked(tmp_path):
    alone = Doubled(words=tmp_path / "nowhere", missing=[], most_twice=np.inf)
    assert found(alone, "They want want rain.") == [("want", [""])]
    with pytest.raises(UserError, match="D990"):
        found(Doubled(words=tmp_path / "nowhere"), "They want rain.")


# What stays silent


@pytest.mark.parametrize(
    "text",
    [
        "She ate a-apple and a/apple, an_apple, apple-a apple.",  # parts of larger words
        "She ate pear-apple, half-old apple-tree.",
        "She ate a  apple, ate  apple, a\N{NO-BREAK SPACE} apple.",  # something was cut out
        "She ate\tapple.",
        "SHE ATE A APPLE. SHE SAW HOUSE.",
        "She ate A(apple) and a(s) an*apple*, $a apple, `a`apple",
        "She ate 3 apple, a.apple, apple 3 old",
        "She ate, apple; \N{EM DASH} apple (apple) 'apple' ... apple",  # a mark between two words
        "\N{GRINNING FACE}a\N{GRINNING FACE}apple",
        "",
        " \r\n ",
        "apple",
    ],
)
def test_no_running_text(article, text):
    assert found(article, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "She ate (a apple).",
        '"She ate a apple"',
        "She ate a apple\N{EM DASH}we saw.",
        "She ate a\r\napple, too.",
    ],
)
def test_running_text_beside_marks(article, text):
    assert [word for word, _ in found(article, text)] == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        "well-known known it",
        "We saw saw-mills.",
        "No  no it",
        "NO NO it",
        "2 2 it",
        "x2 x2 it",
        "saw. Saw it",
        "saw, saw it",
        "no\n\nno it",
        "is is() it",
        "saw  saw it",
    ],
)
def test_words_that_are_not_doubled(doubled, text):
    assert found(doubled, text) == []


PROSE = "We like it here, and so do they.\n\n"
LAYOUTS = {
    "a heading": (PROSE + "She ate apple\n\n" + PROSE, True),
    "a heading of Markdown": ("# She ate apple.", True),
    "a heading with a line below": ("She ate apple\n-------------\n", True),
    "list items": ("- she ate apple.\n- she saw house.\n\n" + PROSE, True),
    "a list behind a colon": ("What she did:\n1. she ate apple,\n   she saw house\n2. she ate pear", True),
    "verse": ("She ate apple by the sea\nShe saw house upon the lea,\nShe likes apple, so do we.", True),
    "a table of tabs": ("she ate apple\t12\nwe saw house\t3", True),
    "a table of bars": ("| she ate apple | 12 |", True),
    "a table of columns": ("she ate apple     12\nshe saw old house  3", True),
    "a line in capitals": ("SHE ATE APPLE\nSHE SAW HOUSE.", True),
    "a line of its own": ("She ate apple", False),
    "a sentence of its own": (PROSE + "She ate apple.\n\n" + PROSE, False),
    "a wrapped sentence": ("and then we knew that\nshe ate apple\nby the sea.", False),
    "a dash in a sentence": ("We know how it\n- she ate apple -\nwas done by her.", False),
    "short sentences": ("She ate apple.\nShe saw house.\nShe likes apple.", False),
    "a long line without an end": (PROSE + "She ate apple " + "and so did we " * 9, False),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "silent"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_lines_that_are_no_running_text(article, text, silent, end):
    text = text.replace("\n", end)
    assert (found(article, text) == []) is silent
    begins, stops = layout_lines(text)
    assert all("\n" not in text[a:b] and "\r" not in text[a:b] for a, b in zip(begins, stops, strict=True))


def test_a_line_is_silent_and_its_neighbours_are_not(article):
    text = "She ate apple.\n\nShe ate apple\n\nShe ate apple.\n- she ate apple\n\nShe ate apple."
    view = Words()([text])
    at = view.starts[article.instances(view).positions].tolist()
    lines = [text.count("\n", 0, start) for start in at]
    assert lines == [0, 4, 5, 7]


def test_in_markdown_items_that_are_sentences_are_decided(article):
    text = "## She ate apple\n\n- She ate apple.\n- we saw house\n- She ate `old` apple\n\n"
    text += "| ate apple | 3 |\n|--|--|\n"
    view = Words()([plain_text("notes.md", text)])
    at = view.starts[article.instances(view).positions].tolist()
    assert at == [text.index("apple.")]


@given(st.lists(st.text("aA -*.\n\r\u2029\t|", max_size=12), max_size=5).map("\n".join))
def test_lines_are_pieces_of_the_text(text):
    begins, stops = layout_lines(text)
    assert (begins < stops).all() and (stops[:-1] < begins[1:]).all()
    assert not len(begins) or (begins[0] >= 0 and stops[-1] <= len(text))


# The contract, and what lives on


TEXTS = [
    "She ate a apple, and she saw old house. He go home.",
    "",
    "He came form form. They want go, go the them.\r\n\r\n\N{GRINNING FACE} They isn't.",
]


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
def test_the_suite_for_tasks(name, request):
    for check in check_task(request.getfixturevalue(name), TEXTS):
        check()


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
@given(st.lists(st.text("aeh pln.-'\n A\u0301", max_size=40), max_size=3))
def test_any_text_is_taken(request, name, texts):
    task = request.getfixturevalue(name)
    assert len(task.instances(Words()(texts))) >= 0


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
def test_words_of_another_tokenisation(name, request):
    with pytest.raises(UserError, match=r"D992.*web1t\.v1"):
        request.getfixturevalue(name).instances(Web1T()(TEXTS))


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
def test_a_task_goes_to_other_processes_by_its_settings(name, request):
    task = request.getfixturevalue(name)
    expected = found(task, TEXTS[0])
    kept = pickle.dumps(task)
    assert len(kept) < 1500 and pickle.loads(kept) == task
    assert found(pickle.loads(kept), TEXTS[0]) == expected


def test_the_doctor_reads_what_a_task_reads(form, article, tmp_path):
    assert article.check_files().startswith("a model of 12 words in context; ")
    assert article.check_files().endswith(" beginnings of words by their sound")
    assert form.check_files().endswith("words in context; 8 words with others")
    with pytest.raises(UserError, match="D990"):
        Form(words=tmp_path).check_files()


def test_numbers_of_words_are_found_once_and_forgotten_with_their_model(form):
    model = articles()
    numbers = model_word_ids(model, form.related)
    assert model_word_ids(model, form.related) is numbers and len(numbers) == len(form.related.spellings)
    from disambig_real_words import places

    before = len(places._numbers)
    del model, numbers
    assert len(places._numbers) == before - 1


def test_candidates_come_in_text_order_with_what_stands_first(doubled):
    view = Words()(["They want want rain.", "They want want rain."])
    instances = doubled.instances(view)
    assert (np.diff(instances.positions) >= 0).all() and not instances.observed.any()
    assert instances.lengths.tolist() == [0, 1, 0] * 2
    assert instances.own.ranks.tolist() == [0, 1, 0, 1, 0, 1, 2] * 2
