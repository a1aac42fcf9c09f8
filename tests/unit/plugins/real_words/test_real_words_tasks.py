"""Tasks of real words: which places they decide, a model of articles; the experiment real_words.cloze."""

from __future__ import annotations

import json
import lzma
import math
import pickle
import shutil
import weakref
from dataclasses import replace

import numpy as np
import pytest
import spacy
from disambig_real_words import Article, Doubled, Form, Slip, WordRelations, layout_lines, model_word_ids
from disambig_real_words.experiments import COUNTS, MEAN, OURS, ClozeFigures, cloze, find_cloze_places
from examples import fewer_examples
from hypothesis import given, strategies as st
from model_configs import model_config
from toy_cloze import articles, by_hand

from disambig.config import resolve
from disambig.counts import build_table
from disambig.data import Columns, DenseBlocks
from disambig.errors import UserError
from disambig.features import by_group, count_vocabulary, learn_cloze, open_cloze
from disambig.markup import plain_text
from disambig.models import annotate, load_model, save_model
from disambig.testing import check_task
from disambig.text import Web1T, Words, view_of_texts
from disambig.training import train
from disambig.types import Features

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
def model_files(tmp_path_factory):
    home = tmp_path_factory.mktemp("real_words")
    articles().save(home / "articles")
    by_hand(WORDS, RULES, bias={"": 2}).save(home / "words")
    (home / "xx.tsv").write_text(RELATED, encoding="utf8")
    return {"articles": home / "articles", "words": home / "words", "relations": home / "xx.tsv"}


@pytest.fixture(scope="module")
def article(model_files):
    return Article(words=model_files["articles"])


@pytest.fixture(scope="module")
def doubled(model_files):
    return Doubled(words=model_files["words"], missing=["to", "is", "that"], most_twice=np.inf)


@pytest.fixture(scope="module")
def form(model_files):
    return Form(words=str(model_files["words"]), relations=model_files["relations"])


@pytest.fixture(scope="module")
def slip(model_files):
    return Slip(words=model_files["words"], relations=str(model_files["relations"]))


def find_places(task, text):
    """Return the observed word (or the word after an empty place) and the sorted other candidates."""
    view = Words()([text])
    instances = task.instances(view)
    shown = []
    for i, (position, length) in enumerate(zip(instances.positions, instances.lengths, strict=True)):
        stands, *others = instances.lists.instance_candidates(i)
        word = text[view.starts[position] : view.ends[position]]
        assert stands == (word.lower().replace(CURLY, "'") if length else "")
        shown.append((word if length else f" {word}", sorted(others)))
    return shown


def test_only_places_near_some_tokens_are_found(form, doubled):
    """Verification decides the same text many times, near another flag each time."""
    texts = ["He go home. They goes home.", "He want go. It is rain, he go."]
    view = Words()(texts)
    near = np.zeros(len(view), bool)
    near[[2, 9]] = True
    for task in (form, doubled):
        everywhere = task.instances(view)
        first = everywhere.positions - (everywhere.lengths == 0)
        last = everywhere.positions + 1
        expected = [any(near[start:end]) for start, end in zip(first, last, strict=True)]
        assert 0 < sum(expected) < len(everywhere), task.name
        part = task.instances(view.with_layer("near", near))
        assert part.positions.tolist() == everywhere.positions[expected].tolist()
        assert part.lengths.tolist() == everywhere.lengths[expected].tolist()


@pytest.mark.parametrize(
    ("text", "settings", "places"),
    [
        ("She ate a apple.", {}, [("a", ["", "an", "the"])]),
        ("She ate an apple.", {}, []),  # no other is near
        ("She ate apple.", {}, [(" apple", ["a", "an", "the"])]),
        ("She ate the pear and a house.", {}, [("the", ["a"]), ("a", ["the"])]),
        ("The she.", {}, [("The", ["", "a", "an"])]),  # none belongs there, and any fits as well
        ("She likes.", {}, []),
        ("She ate the apple apple", {}, [("the", ["an"]), (" apple", ["a", "an", "the"])]),
        ("She ate a apple.", {"least": 4.5, "least_missing": 99.0}, [("a", ["an"])]),
        # "a" does not sound so
        ("She ate an apple.", {"least": -99.0, "least_missing": 99.0}, [("an", ["", "the"])]),
        ("She ate apple and a pear.", {"least": 99.0, "least_missing": 6.0}, [(" apple", ["an"])]),
        ("She ate apple and a pear.", {"least": 99.0, "least_missing": 99.0}, []),
    ],
)
def test_articles(article, text, settings, places):
    assert find_places(replace(article, **settings), text) == places


def test_the_name_a(article):
    view = view_of_texts(["She ate the A apple, and ate the pear."], Words(), protected=True)
    positions = replace(article, least=-99.0, least_missing=99.0).instances(view).positions
    assert [view.texts[0][view.starts[at] : view.starts[at] + 6] for at in positions] == ["A appl", "the pe"]


def test_other_languages_and_kinds_together(model_files):
    task = Article(words=model_files["articles"], articles=["The"])
    assert find_places(task, "She hates house.") == [(" house", ["the"])]
    with pytest.raises(UserError, match=r"D996.*articles"):
        find_places(Article(words=model_files["articles"], articles="the"), "She hates house.")
    task = Form(words=model_files["words"], relations=model_files["relations"], kinds=["form", "slip"])
    assert find_places(task, "He go form home.") == [("go", ["goes", "went"]), ("form", ["from"])]


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("form", "He go home.", [("go", ["goes", "went"])]),
        ("form", "He goes home.", [("goes", ["went"])]),
        ("form", "They are here.", []),
        ("form", "They ISN'T, they isn't, they is.", [("isn't", ["are", "is"]), ("is", ["are", "isn't"])]),
        ("form", f"They isn{CURLY}t.", [(f"isn{CURLY}t", ["are", "is"])]),
        ("form", "The form came quick.", [("quick", ["quickly"])]),
        ("form", "He came form.", []),  # slips are not forms
        ("slip", "He came form.", [("form", ["from"])]),
        ("slip", "From the form.", [("From", ["form"]), ("the", ["them"])]),
        ("doubled", "We saw saw it.", [("saw", [""])]),
        ("doubled", "That that is so.", [("that", [""])]),
        ("doubled", f"It{CURLY}s it's cold.", [("it's", [""])]),
        ("doubled", "We saw the\r\nthe cat, cat. Cat saw it, saw it. Cat", [("the", [""])]),
        ("doubled", "Cafe\u0301 cafe\u0301 now", [("cafe\u0301", [""])]),
        ("doubled", "They want go.", [(" go", ["to"])]),  # missing words
        ("doubled", "They want want rain.", [(" want", ["to"]), ("want", [""]), (" rain", ["is", "to"])]),
    ],
)
def test_forms_slips_and_doubled_words(request, name, text, places):
    assert find_places(request.getfixturevalue(name), text) == places


def test_doubled_words_and_names_that_fit(model_files):
    task = Doubled(words=model_files["words"], missing=[], language="xx")  # no table
    text = "They want to to rain and is is so."
    assert find_places(task, text) == []
    assert find_places(replace(task, most_twice=-1.0), text) == [("to", [""]), ("is", [""])]
    assert find_places(task, "We saw saw it.") == [("saw", [""])]  # the model does not know it
    task = Doubled(words=model_files["words"], missing=[], most_twice=99.0, language="xx")
    assert find_places(task, "The The cat came. Duran Duran sang.") == [("The", [""])]
    assert find_places(task, "The the cat came. Duran duran sang.") == [("the", [""]), ("duran", [""])]


def test_doubled_words_are_not_forms_or_slips(model_files):
    settings = {"words": model_files["words"], "relations": model_files["relations"], "least": -99.0}
    form, slip = Form(**settings), Slip(**settings)
    assert find_places(form, "He go go home.") == [] != find_places(form, "He go home.")
    assert find_places(slip, "It came form form home, the the end.") == []
    assert find_places(slip, "It came form home.")


def test_possessives_before_punctuation_and_gerunds(tmp_path, model_files):
    (tmp_path / "own.tsv").write_text("possessive\tthem them's\n", encoding="utf8")
    by_hand([*WORDS, "them's"], RULES, bias={}).save(tmp_path / "words")
    task = Form(words=tmp_path / "words", relations=tmp_path / "own.tsv", least=-99.0)
    expected = ["them's"]
    assert [word for word, _ in find_places(task, "We saw them's house, not them's, or them's.")] == expected
    absolute = "Ours is better than the them's in most cases, and exceeds our them's by far."
    assert find_places(task, absolute) == []
    assert find_places(task, "It compares this them's and the other's fields.") == []
    places = find_places(task, "Ours is better than the them's house in most cases.")
    assert [word for word, _ in places] == expected
    (tmp_path / "letters.tsv").write_text("possessive\ta as a's\n", encoding="utf8")
    by_hand([*WORDS, "as", "a's"], RULES, bias={}).save(tmp_path / "letters")
    task = Form(words=tmp_path / "letters", relations=tmp_path / "letters.tsv", least=-99.0)
    assert "a's" not in [word.lower() for word, _ in find_places(task, "It is A's if both are set.")]
    (tmp_path / "its.tsv").write_text("form\tits them\n", encoding="utf8")
    by_hand([*WORDS, "its"], RULES, bias={}).save(tmp_path / "its")
    task = Form(words=tmp_path / "its", relations=tmp_path / "its.tsv", least=-99.0)
    assert find_places(task, "Its being late is fine. Its not having a door made it cold.") == []
    assert [word for word, _ in find_places(task, "Its being built now, its door is open.")] == ["Its", "its"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The sum of the numbers is here.", []),
        ("If the sum stored in all these numbers is here, stop.", []),
        ("The sums of the number are here.", []),
        ("The numbers of the sum is here.", ["is"]),
        ("The sum of the numbers are here.", ["are"]),
        ("A group of numbers is here.", ["is"]),  # or "are"
        ("The sum of the number and the result is here.", ["is"]),
        ("The sum of which the numbers is here.", ["is"]),
        ("Adding these numbers is hard.", []),
        ("Adding numbers is hard.", ["is"]),
        ("Adding these numbers are hard.", ["are"]),
        ("Open Zone Files is here.", []),
        ("The New Files is here.", []),
        ("The Files is here.", ["is"]),
        ("In Files is a name.", ["is"]),
    ],
)
def test_auxiliary_verbs_that_agree_with_their_subject(tmp_path, model_files, text, words):
    (tmp_path / "be.tsv").write_text("form\tis are\n", encoding="utf8")
    task = Form(words=model_files["words"], relations=tmp_path / "be.tsv", least=-99.0)
    assert [word for word, _ in find_places(task, text)] == words


def test_organisations_may_be_plural(tmp_path, model_files):
    (tmp_path / "forms.tsv").write_text("form\tis are\nform\tgo goes\n", encoding="utf8")
    task = Form(words=model_files["words"], relations=tmp_path / "forms.tsv", least=-99.0)
    assert find_places(task, "The SWP are here, and the UN go home.") == []
    text = "The SWP is here. The API are here. The UN goes home. The Un go home. SWP go home."
    assert [word for word, _ in find_places(task, text)] == ["is", "are", "goes", "go", "go"]


def test_the_subject_of_a_verb_behind_long_markup(tmp_path, model_files):
    (tmp_path / "be.tsv").write_text("form\tis are were\n", encoding="utf8")
    by_hand([*WORDS, "were"], RULES, bias={}).save(tmp_path / "words")
    task = Form(words=tmp_path / "words", relations=tmp_path / "be.tsv", least=-99.0)
    hidden = "\x1f" * 400
    assert find_places(task, f"It works as if the {hidden}\ufffc{hidden} option were set.") == []
    assert find_places(task, f"The sum of {hidden}all numbers is set.") == []
    (place,) = find_places(task, "The sum\u2029all in numbers is set.")  # of another paragraph
    assert place[0] == "is"


def test_no_missing_words_need_no_model(tmp_path):
    alone = Doubled(words=tmp_path / "nowhere", missing=[], most_twice=np.inf)
    assert find_places(alone, "They want want rain.") == [("want", [""])]
    with pytest.raises(UserError, match="D990"):
        find_places(Doubled(words=tmp_path / "nowhere"), "They want rain.")


def test_text_that_is_not_running_text(article):
    for text in (
        "She ate a-apple and a/apple, an_apple, apple-a apple.",  # parts of larger words
        "She ate pear-apple, half-old apple-tree.",
        "She ate a  apple, ate  apple, a\N{NO-BREAK SPACE} apple.",  # something was cut out
        "She ate\tapple.",
        "SHE ATE A APPLE. SHE SAW HOUSE.",
        "She ate A(apple) and a(s) an*apple*, $a apple, `a`apple",
        "She ate 3 apple, a.apple, apple 3 old",
        "She ate, apple; \N{EM DASH} apple (apple) 'apple' ... apple",  # a mark between two words
        "\N{GRINNING FACE}a\N{GRINNING FACE}apple",
        *("", " \r\n ", "apple"),
    ):
        assert find_places(article, text) == [], text
    running = "She ate a apple\N{EM DASH}we saw.", "She ate a\r\napple, too."
    for text in ("She ate (a apple).", '"She ate a apple"', *running):
        assert [word for word, _ in find_places(article, text)] == ["a"], text


def test_words_that_are_not_doubled_and_their_order(doubled):
    for text in (
        *("well-known known it", "We saw saw-mills.", "No  no it", "NO NO it", "2 2 it", "x2 x2 it"),
        *("saw. Saw it", "saw, saw it", "no\n\nno it", "is is() it", "saw  saw it"),
    ):
        assert find_places(doubled, text) == [], text
    view = Words()(["They want want rain.", "They want want rain."])
    instances = doubled.instances(view)
    assert (np.diff(instances.positions) >= 0).all() and not instances.observed.any()
    assert instances.lengths.tolist() == [0, 1, 0] * 2
    assert instances.lists.ranks.tolist() == [0, 1, 0, 1, 0, 1, 2] * 2


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
def test_lines_of_layout(article, text, silent, end):
    text = text.replace("\n", end)
    assert (find_places(article, text) == []) is silent
    begins, stops = layout_lines(text)
    assert all("\n" not in text[a:b] and "\r" not in text[a:b] for a, b in zip(begins, stops, strict=True))


def test_lines_of_layout_among_others(article):
    text = "She ate apple.\n\nShe ate apple\n\nShe ate apple.\n- she ate apple\n\nShe ate apple."
    view = Words()([text])
    at = view.starts[article.instances(view).positions].tolist()
    lines = [text.count("\n", 0, start) for start in at]
    assert lines == [0, 4, 5, 7]
    text = "## She ate apple\n\n- She ate apple.\n- we saw house\n- She ate `old` apple\n\n"
    text += "| ate apple | 3 |\n|--|--|\n"
    view = Words()([plain_text("notes.md", text)])
    at = view.starts[article.instances(view).positions].tolist()
    assert at == [text.index("apple.")]


def test_words_in_short_comments_of_code(article, doubled):
    """They are in a sentence, although articles are omitted there."""
    code = "// {}\nint a;\n// she ate apple in there\nint b;\n// the end\n"
    for comment, task, places in (
        ("they saw a apple in it", article, ["a"]),
        ("saw a apple", article, []),  # too short for a sentence
        ("They saw saw apple in it", doubled, ["saw"]),
    ):
        text = plain_text("x.c", code.format(comment))
        assert [word for word, _ in find_places(task, text)] == places, comment


@given(st.lists(st.text("aA -*.\n\r\u2029\t|", max_size=12), max_size=5).map("\n".join))
def test_layout_lines_of_any_text(text):
    begins, stops = layout_lines(text)
    assert (begins < stops).all() and (stops[:-1] < begins[1:]).all()
    assert not len(begins) or (begins[0] >= 0 and stops[-1] <= len(text))


CONTRACT_TEXTS = [
    "She ate a apple, and she saw old house. He go home.",
    "",
    "He came form form. They want go, go the them.\r\n\r\n\N{GRINNING FACE} They isn't.",
]


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
def test_contract(name, request):
    task = request.getfixturevalue(name)
    for check in check_task(task, CONTRACT_TEXTS):
        check()
    with pytest.raises(UserError, match=r"D992.*web1t\.v1"):
        task.instances(Web1T()(CONTRACT_TEXTS))
    expected = find_places(task, CONTRACT_TEXTS[0])
    kept = pickle.dumps(task)
    assert len(kept) < 1500 and pickle.loads(kept) == task
    assert find_places(pickle.loads(kept), CONTRACT_TEXTS[0]) == expected


@pytest.mark.parametrize("name", ["article", "doubled", "form", "slip"])
@fewer_examples
@given(st.lists(st.text("aeh pln.-'\n A\u0301", max_size=40), max_size=3))
def test_any_text_is_accepted(request, name, texts):
    task = request.getfixturevalue(name)
    assert len(task.instances(Words()(texts))) >= 0


def test_check_files(form, article, tmp_path):
    assert article.check_files().startswith("a model of 12 words in context; ")
    assert article.check_files().endswith(" beginnings of words by their sound")
    assert "words in context; 8 words with others; " in form.check_files()
    assert form.check_files().endswith(" patterns of phrases")
    with pytest.raises(UserError, match="D990"):
        Form(words=tmp_path).check_files()


def test_word_ids_are_cached_as_long_as_their_model_lives(form):
    model = articles()
    numbers = model_word_ids(model, form.related)
    assert model_word_ids(model, form.related) is numbers and len(numbers) == len(form.related.spellings)
    alive = weakref.ref(numbers)
    del model, numbers
    assert alive() is None


WHO = "She He Anna Paul We They Maria Tom Ida Jon".split()
TEXT = "{0} {1} an apple. {0} {1} a pear, and it was an old house. {0} likes rain."
TEXTS = [TEXT.format(who, verb) for who in WHO for verb in ("ate", "saw", "likes")] * 4
WRONG = "We know that she ate a apple. And he saw pear then."
NOT_FLAGGED = [
    "He said \N{LEFT DOUBLE QUOTATION MARK}she ate a apple\N{RIGHT DOUBLE QUOTATION MARK} then.",
    "He wrote `she ate a apple` then.",
    "We know, see <code>she ate a apple</code> here.",
    "She saw Apple there.",
    "It is at a/apple/b and www.a-apple.org here.",
    "SHE ATE A APPLE.",
    "She ate an apple and a pear.",
]


@pytest.fixture(scope="module")
def model_home(tmp_path_factory):
    """Return a directory with a model and the files that it reads."""
    model_home = tmp_path_factory.mktemp("articles")
    articles().save(model_home / "parts" / "words")
    build_table(model_home / "parts" / "few.counts", TEXTS, Words())
    words, counts = str(model_home / "parts" / "words"), str(model_home / "parts" / "few.counts")
    limits = {"least": -99.0, "least_missing": -99.0}
    config = model_config(
        ("real_words.Article.v1", {"words": words, **limits}),
        {
            "counts": ("disambig.ContextProbabilities.v1", {"counts": counts}),
            "words": ("disambig.WordsInContext.v1", {"words": words}),
        },
        "variance_svm.ConditionalLogit.v1",
    )
    texts = {"train": TEXTS, "dev": TEXTS[::3]}
    model = train(resolve(config), texts, name="tiny/article", config=config, min_examples=2)
    save_model(model, model_home / "model")
    return model_home


def find_flags(model, texts):
    """Return observed words and corrections of all flags."""
    (decisions,) = annotate(texts, [model], flags_per_1000=1000.0)
    flags = np.flatnonzero(decisions.flagged)
    records = [decisions.record(i, texts[int(decisions.documents[i])]) for i in flags]
    return [(record["observed"], record["chosen"]) for record in records]


def test_moved_model(model_home, tmp_path, monkeypatch):
    shutil.copytree(model_home, tmp_path / "elsewhere")
    message = (tmp_path / "elsewhere" / "model" / "config.cfg").read_text()
    assert str(model_home) not in message and message.count("../parts/words") == 2
    shutil.rmtree(tmp_path / "elsewhere" / "parts" / "words")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"D990.*parts/words"):
        find_flags(load_model(tmp_path / "elsewhere" / "model"), [WRONG])
    articles().save(tmp_path / "elsewhere" / "parts" / "words")
    assert find_flags(load_model(tmp_path / "elsewhere" / "model"), [WRONG]) == [("a", "an"), ("", "a")]


def make_pipeline(model_home, **settings):
    nlp = spacy.blank("en")
    config = {"model": str(model_home / "model"), "flags_per_1000": 1000, **settings}
    nlp.add_pipe("disambig_articles", config=config)
    return nlp


def flagged_spans(doc, key="article"):
    return [(span.text, span.label_) for span in doc.spans[key] if span._.disambig["flagged"]]


def test_component(model_home, tmp_path):
    nlp = make_pipeline(model_home)
    doc = nlp(WRONG)
    assert [label for _, label in flagged_spans(doc)] == ["an", "a"]
    assert flagged_spans(doc)[0] == ("a", "an")
    kept = doc.spans["article"][0]._.disambig
    assert kept["observed"] == "a" and {word for word, _ in kept["candidates"]} == {"a", "an", "the", ""}
    for text in NOT_FLAGGED:
        assert flagged_spans(nlp(text)) == []
    batch = list(nlp.pipe([WRONG, "", NOT_FLAGGED[-1], WRONG]))
    assert [flagged_spans(item) for item in batch] == [flagged_spans(doc), [], [], flagged_spans(doc)]
    nlp.to_disk(tmp_path / "pipeline")
    assert flagged_spans(spacy.load(tmp_path / "pipeline")(WRONG)) == flagged_spans(doc)


def test_settings_and_models_of_components(model_home):
    assert flagged_spans(make_pipeline(model_home, protect=False)(NOT_FLAGGED[0])) == [("a", "an")]
    assert flagged_spans(make_pipeline(model_home, ignore=["a"])(WRONG))[:1] != [("a", "an")]
    assert flagged_spans(make_pipeline(model_home, spans_key="mine")(WRONG), "mine")[0] == ("a", "an")
    config = {"model": str(model_home / "model")}
    for factory, key in (("doubled", "doubled"), ("forms", "form"), ("slips", "slip")):
        with pytest.raises(UserError, match=f"D50.*{key}"):
            spacy.blank("en").add_pipe(f"disambig_{factory}", config=config)
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig_articles", config=config)


DOMAINS = ("essays", "health")
RELATED_WORDS = WordRelations.from_sets([("walk", "walks", "walked"), ("pear", "pears")])


def make_lines(seed, n):
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(n):
        who, verb = (("The girl", "walks"), ("The girls", "walk"))[rng.integers(2)]
        result.append(f"{who} {verb} home with {('a pear', 'two pears')[rng.integers(2)]}.")
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a directory with held-out text, a model of words in context and a count table."""
    home = tmp_path_factory.mktemp("cloze")
    (home / "english").mkdir()
    for seed, domain in enumerate(DOMAINS):
        with lzma.open(home / "english" / f"{domain}.heldout.txt.xz", "wt", encoding="utf8") as file:
            file.writelines(f"{line}\n" for line in make_lines(seed, 40))
    view = Words()(make_lines(9, 300))
    vocabulary, _, _ = count_vocabulary([view], 40, 2)
    blocks = np.split(vocabulary.view_numbers(view), view.sentences[8:-1:8])
    nobody = np.zeros(len(vocabulary) + 1, np.int64), np.zeros(0, np.int64)
    settings = {"dimensions": 8, "hidden": 16, "batch": 200, "rate": 0.02, "epochs": 10}
    model = learn_cloze(blocks, vocabulary, nobody, none_beside=np.zeros(0, np.int64), **settings)
    model.save(home / "words")
    build_table(home / "t.counts", make_lines(8, 300), Words())
    return home


@pytest.fixture
def experiment(data, monkeypatch):
    monkeypatch.setattr(cloze, "load_relations", lambda path, kinds: RELATED_WORDS)
    return ClozeFigures(words=data / "words", counts=data / "t.counts")


def test_list_figures():
    scores = np.array([2.0, 2.0, 1.0, 0.0, 3.0, 1.0, 5.0])
    result = cloze.list_figures(scores, np.array([0, 3, 6, 7]))  # it ties; it is last; it is alone
    assert result["n"] == 3
    assert result["right"] == pytest.approx(100 / 3)
    assert result["rank"] == pytest.approx((1.5 + 3 + 1) / 3)
    losses = (math.log(2 * math.e**2 + math.e) - 2, math.log(1 + math.e**3 + math.e), 0.0)
    assert result["loss"] == pytest.approx(100 * sum(losses) / 3)


def places_of_essays(data, most=1000):
    path, model = data / "english" / "essays.heldout.txt.xz", open_cloze(data / "words")
    return find_cloze_places(path, model, RELATED_WORDS, paragraphs=30, places=most)


def test_cloze_places(data):
    ground = places_of_essays(data)
    lists, view = ground.instances.lists, ground.view
    assert len(view.texts) == 30
    assert len(ground.instances) == 60
    for i, position in enumerate(ground.instances.positions.tolist()):
        text = view.texts[view.document_indices(np.array([position]))[0]]
        candidates = lists.texts[lists.offsets[i] : lists.offsets[i + 1]]
        assert candidates[0] == text[view.starts[position] : view.ends[position]]
        assert "walked" not in candidates  # the model has not seen it
        assert len(candidates) == 2
    assert 0 < ground.learns.sum() < 60
    fewer = places_of_essays(data, 7)
    assert len(fewer.instances) == 7
    assert (np.diff(fewer.instances.positions) > 0).all()


def test_systems_decide_the_same_places(experiment, data):
    result = experiment.run(data=data, quick=False, progress=lambda *_: None)
    figures = result.details["figures"]
    assert set(figures) == {OURS, COUNTS}
    for system in figures.values():
        assert set(system) == {*DOMAINS, MEAN}
        assert system["essays"]["n"] == figures[OURS]["essays"]["n"]
        assert system["essays"]["right"] > 95
        assert system[MEAN]["loss"] == pytest.approx(np.mean([system[name]["loss"] for name in DOMAINS]))
    assert all(row.paper is None for row in result.rows)
    expected = [f"{MEAN}: {name}" for name in ("right", "rank", "loss")]
    assert [row.setting for row in result.rows[:3]] == expected
    (claim,) = result.claims
    assert claim.holds == (figures[OURS][MEAN]["loss"] < figures[COUNTS][MEAN]["loss"])
    assert any("KenLM is left out" in note for note in result.notes)


class ShortWords:
    """Replaces KenLM: it scores candidates of groups by their length."""

    describes = "group"

    def fit(self, view, instances, groups):
        self.known = {word for group in groups for word in group.candidates}
        return self

    @by_group
    def transform(self, view, instances, group):
        assert set(group.candidates) <= self.known
        assert instances.lists is None
        n, k = len(instances), len(group.candidates)
        values = np.array([[[-len(word)] for word in group.candidates]] * n, np.float32)
        columns = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("short",), ["short"])
        costs, none = np.zeros((n, k), np.float32), np.zeros(n * k, np.int32)
        return Features(DenseBlocks(values, np.zeros((k, 1), np.int64), columns, costs), none, none)


def test_extractors_of_groups(data):
    ground = places_of_essays(data)
    batch = cloze.transform_candidates(ShortWords(), ground)
    assert batch.values[:, 0].tolist() == [-len(word) for word in ground.instances.lists.texts]
    assert batch.offsets.tolist() == ground.instances.lists.offsets.tolist()
    assert (batch.cost[batch.offsets[:-1]] == 0).all()
    assert batch.cost.sum() == len(batch.cost) - len(ground.instances)


def test_kenlm_models_of_the_settings(monkeypatch, tmp_path):
    monkeypatch.setattr(cloze, "find_spec", lambda name: object())
    monkeypatch.delenv(cloze.SETTINGS, raising=False)
    models, (note,) = cloze.kenlm_models()
    assert not models
    assert cloze.SETTINGS in note
    settings = tmp_path / "peers.json"
    monkeypatch.setenv(cloze.SETTINGS, str(settings))
    settings.write_text(json.dumps({"kenlm": {"KenLM, pruned": "pruned.bin"}}), encoding="utf8")
    assert cloze.kenlm_models() == ({"KenLM, pruned": "pruned.bin"}, [])
    for message in ("[]", "{", '{"kenlm": 3}'):
        settings.write_text(message, encoding="utf8")
        with pytest.raises(UserError, match=r"D743.*peers\.json"):
            cloze.kenlm_models()
