"""Parsing and training of parsers from the shell, treebanks, and the packs of parsers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "plugins" / "exponentiated_gradient"))
import importlib.util
from functools import partial

import spacy
from commands import here
from disambig_dependencies import load_parser as load_dependency_parser
from disambig_exponentiated_gradient import load_parser
from disambig_exponentiated_gradient.grammar import TreebankGrammar, TreebankParser
from disambig_exponentiated_gradient.treebank import (
    Binarisation,
    Parseval,
    craft_articles,
    filter_by_length,
    format_indented,
    format_one_line,
    heads,
    penn_sections,
    penn_split,
    read_raw_trees,
    read_trees,
    restore_tree,
)
from made_trees import MANY, PARSED

from disambig.errors import UserError
from disambig.formats import read_nbest
from disambig.packs import default_tasks, pack, packs

TEXT = "The cat saw the dog with a bell. She can't see\nit (well).\n\nA well-known cat\n"
FIRST = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parse")
    (folder / "my.mrg").write_text(MANY, encoding="utf8")
    done = here("train-parser", "my.mrg", "--output", "parser", folder=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "parser: learned from 1,200 trees" in done.stderr and "F1 " in done.stderr
    return folder / "parser"


@pytest.fixture
def parse(home):
    """Run ``disambig parse`` with the parser that was trained."""
    return partial(here, "parse", "--model", home)


def test_one_tree_per_line(parse, tmp_path):
    done = parse(given=TEXT)
    assert (done.returncode, done.stderr) == (0, "")
    trees = list(read_raw_trees(done.stdout))
    assert [" ".join(tree.words()) for tree in trees] == [
        "The cat saw the dog with a bell .",
        "She ca n't see it -LRB- well -RRB- .",
        "A well-known cat",
    ]
    assert len(done.stdout.splitlines()) == 3
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf8")
    assert parse("a.txt", "-o", "b.mrg", folder=tmp_path).returncode == 0
    assert (tmp_path / "b.mrg").read_text(encoding="utf8") == done.stdout
    assert "D310" in parse("a.txt", "-o", "b.mrg", folder=tmp_path).stderr
    assert parse(given="").stdout == ""


def test_lists_can_be_ranked_again(parse, tmp_path):
    lists = parse("-n", "3", "--format", "jsonl", given=TEXT).stdout
    assert all(json.loads(line)["candidates"][0]["rank"] == 0 for line in lists.splitlines())
    (tmp_path / "lists.jsonl").write_text(lists, encoding="utf8")
    assert len(list(read_nbest([str(tmp_path / "lists.jsonl")]))) == 3


def test_pictures_in_a_narrow_terminal_and_of_several_trees(parse):
    outline = parse("--format", "tree", "--width", "20", given=TEXT).stdout
    assert outline.startswith("S\n├─ NP\n│  ├─ DT  The\n")
    page = parse("--format", "html", "-n", "2", given=TEXT).stdout
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert page.count("<section") == 3 and page.count("<svg") >= 4 and "ln P = -" in page


def test_lines_and_words_and_conllu(parse, tmp_path):
    lines = parse("--input", "lines", given="A dog. A cat.\n\nIt\n").stdout
    assert [len(tree.words()) for tree in read_raw_trees(lines)] == [6, 1]
    words = parse("--input", "words", given="She can't see ( it\n").stdout
    assert next(read_raw_trees(words)).words() == ["She", "can't", "see", "-LRB-", "it"]
    rows = ["The DT", "cat NN", "slept VBD", ". ."]
    table = [
        "\t".join([str(i), *row.split()[:1], "_", "_", row.split()[1], *"_____"])
        for i, row in enumerate(rows, 1)
    ]
    (tmp_path / "a.conllu").write_text("\n".join(table) + "\n\n", encoding="utf8")
    tagged = parse("a.conllu", folder=tmp_path).stdout
    assert tagged == "(TOP (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .)))\n"
    assert parse("a.conllu", "--no-tags", folder=tmp_path).returncode == 0
    assert "D324" in parse("--input", "conllu", given="x y\n").stderr


def test_tags_of_a_tagger(parse):
    done = parse("--tagger", "tag", given="The dogcatcher saw the zebra.\n")
    tags = next(read_raw_trees(done.stdout)).tags()
    assert (done.returncode, tags) == (0, ["DT", "NN", "VBD", "DT", "NN", "."])
    assert "D909" in parse("--tagger", "it", given="x").stderr
    assert "D404" in parse("--tagger", "nothing", given="x").stderr


def test_sentences_without_a_parse_are_flat_and_counted(parse):
    done = parse("--max-length", "5", given="The cat saw the dog with a bell.\nIt slept.")
    assert "1 of 2 sentences: more than 5 words (--max-length), a flat tree is given instead" in done.stderr
    first, second = read_raw_trees(done.stdout)
    assert all(child.word for child in first.children) and first.tags()[:3] == ["DT", "NN", "VBD"]
    assert not all(child.word for child in second.children)
    none = parse("--format", "tree", given="The the The\n")
    assert "no parse" in none.stdout and "1 of 1 sentence: no parse, a flat tree" in none.stderr
    assert parse("-q", given="The the The\n").stderr == ""


HOSTILE = {
    "nothing": ("", 0),
    "white space": (" \n\t\n \u00a0\n", 0),
    "a long line": ("word " * 2_000, 1),
    "a long word": ("x" * 10_000, 1),
    "control characters": ("a\x01b\x1b[31m \x07 c\u202ed \u200b.\n", 1),
    "brackets": ("((( ) (NP (NN x)) -LRB- [ ] { }\n", 1),
    "not English": ("\u79c1\u306f\u5b66\u751f\u3067\u3059\u3002 \u041f\u0440\u0438\u0432\u0435\u0442!\n", 1),
    "emoji": ("\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600\n", 1),
    "markup": ("<script>alert('x')</script> &amp; \"</svg>\"\n", 1),
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("format", ["brackets", "tree", "html", "jsonl"])
def test_any_input_gives_trees(parse, what, format):
    given, least = HOSTILE[what]
    done = parse("--format", format, "-q", given=given)
    assert (done.returncode, done.stderr) == (0, "")
    if format == "brackets":
        assert len(list(read_raw_trees(done.stdout))) == len(done.stdout.splitlines()) >= least
    elif format == "jsonl":
        assert len([json.loads(line) for line in done.stdout.splitlines()]) >= least
    elif format == "html":
        assert "<script" not in done.stdout and done.stdout.count("<section") >= least
    else:
        assert "\x1b" not in done.stdout and "\u202e" not in done.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--nbest", "0"], "D903"),
        (["--nbest", "1001"], "D903"),
        (["--width", "3"], "D903"),
        (["--max-length", "0"], "D903"),
        (["--format", "csv"], "D671"),
        (["--input", "csv"], "D671"),
        (["--model", "nothing_en"], "D901"),
        (["--model", "."], "D902"),
        (["--model", __file__], "D943"),
        (["gone.txt"], "D300"),
        (["gone.conllu"], "D300"),
    ],
)
def test_command_errors_are_one_line(parse, tmp_path, options, code):
    done = parse(*options, given="It slept.\n", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"disambig: [{code}]") and done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("end", "status"), [pytest.param("interrupt", 130, marks=pytest.mark.slow), ("closed output", 141)]
)
def test_parsing_answers_at_once_and_ends_cleanly(home, end, status):
    command = [sys.executable, "-m", "disambig.cli.main", "parse", "--model", str(home), "-q"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as run:
        for text in ("The cat saw the dog.\n", "It\nslept.\n"):
            run.stdin.write(text.encode())
            run.stdin.flush()
            tree = next(read_raw_trees(run.stdout.readline().decode()))
            assert " ".join(tree.words()) == text.replace("\n", " ").strip().replace(".", " .")
        if end == "interrupt":
            run.send_signal(signal.SIGINT)
        else:
            run.stdout.close()
            run.stdin.write(b"It slept.\n" * 100)
            run.stdin.close()
        assert run.wait(60) == status
        assert run.stderr.read() == b""


def test_errors_of_training_come_first(tmp_path):
    (tmp_path / "one.mrg").write_text(FIRST, encoding="utf8")
    (tmp_path / "bad.mrg").write_text(FIRST + "\n(TOP (S", encoding="utf8")
    (tmp_path / "empty.mrg").write_text("", encoding="utf8")
    (tmp_path / "there").mkdir()
    given = [
        (["one.mrg", "-o", "there"], "D906"),
        (["one.mrg", "-o", "there", "--force"], "D906"),
        (["one.mrg", "-o", "new"], "D905"),
        (["empty.mrg", "-o", "new"], "D905"),
        (["bad.mrg", "-o", "new"], "D630"),
        (["gone.mrg", "-o", "new"], "D300"),
        (["one.mrg", "--held-out", "empty.mrg", "-o", "new"], "D905"),
        (["one.mrg", "-o", "new", "--vertical", "0"], "D633"),
        (["one.mrg", "-o", "new", "--language", "nothing"], "D202"),
    ]
    for options, code in given:
        done = here("train-parser", *options, folder=tmp_path)
        assert (done.returncode, code in done.stderr) == (2, True), (options, done.stderr)
    assert not (tmp_path / "new").exists()


def test_unwritable_outputs_of_training_are_reported_first(tmp_path, monkeypatch):
    from disambig_exponentiated_gradient.parser import training

    monkeypatch.setattr(training, "train_on", lambda *_, **__: pytest.fail("it began"))
    (tmp_path / "my.mrg").write_text(MANY, encoding="utf8")
    for output in ("my.mrg/new", "/proc/none/new"):
        done = here("train-parser", "my.mrg", "-o", output, folder=tmp_path)
        assert (done.returncode, "D309" in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_training_replaces_a_parser_and_nothing_beside_it(home, tmp_path):
    (tmp_path / "my.mrg").write_text(MANY, encoding="utf8")
    shutil.copytree(home, tmp_path / "mine")
    (tmp_path / "mine" / "notes.txt").write_text("kept")
    done = here("train-parser", "my.mrg", "-o", "mine", "--force", folder=tmp_path)
    assert done.returncode == 2 and "D906" in done.stderr
    assert (tmp_path / "mine" / "notes.txt").read_text() == "kept"
    (tmp_path / "mine" / "notes.txt").unlink()
    assert here("train-parser", "my.mrg", "-o", "mine", "--force", folder=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "my.mrg"]


def test_training_measures_on_trees_that_are_held_out(tmp_path):
    (tmp_path / "trees").mkdir()
    for number in range(3):
        (tmp_path / "trees" / f"{number}.mrg").write_text(PARSED, encoding="utf8")
    (tmp_path / "other.mrg").write_text(
        "(TOP (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (PRP it)))))", encoding="utf8"
    )
    done = here("train-parser", "trees", "-o", "a", "--horizontal", "1", "--vertical", "1", folder=tmp_path)
    assert "learned from 30 trees" in done.stderr and "10 trees of at most 40 words" in done.stderr
    header = json.loads((tmp_path / "a" / "header.json").read_text(encoding="utf8"))
    assert (header["horizontal"], header["vertical"], header["about"]["trees"]) == (1, 1, 30)
    done = here("train-parser", "trees", "--held-out", "other.mrg", "-o", "a", "--force", folder=tmp_path)
    assert "learned from 30 trees" in done.stderr and "on 1 tree" in done.stderr
    assert here("train-parser", "trees", "-o", "b", "-q", folder=tmp_path).stderr == ""


@pytest.fixture(scope="module")
def data():
    folder = os.environ.get("DISAMBIG_DATA")
    if not folder:
        pytest.skip("DISAMBIG_DATA is not set")
    return Path(folder)


def check(trees, settings):
    """Hold what must hold of every tree of a treebank."""
    for tree in trees:
        assert list(read_trees(format_one_line(tree))) == [tree]
        assert restore_tree(settings(tree)) == tree
        assert heads(tree).word in tree.words()
        for node in tree.preorder():
            assert "-NONE-" not in (node.label, node.word)
            assert node.label == node.label.strip("=0123456789")
    assert list(read_trees("\n".join(map(format_indented, trees)))) == list(trees)
    figures = Parseval.from_trees(trees, trees)
    assert (figures.f1, figures.exact, figures.tagging) == (1.0, 1.0, 1.0)


@pytest.mark.data
@pytest.mark.slow
def test_penn(data):
    sections = penn_sections(data)
    assert {section: len(files) for section, files in sections.items()} == {"00": 99, "01": 100}
    trees = [tree for files in sections.values() for file in files.values() for tree in file]
    assert len(trees) == 3914
    assert sum(len(tree.words()) for tree in trees) == 94084
    check(trees, Binarisation(2, 3))


@pytest.mark.data
@pytest.mark.slow
def test_craft(data):
    articles = craft_articles(data)
    assert len(articles) == 97
    trees = [tree for article in articles.values() for tree in article]
    assert len(trees) == 30830
    check(trees[::5], Binarisation())


@pytest.mark.data
@pytest.mark.slow
def test_pcfg_of_one_section(data):
    """A grammar that is broken loses much more than what lies between this and what was measured."""
    split = penn_split(data)
    test = filter_by_length(split.test)[::4]
    parser = TreebankParser(TreebankGrammar.from_trees([*split.train, *split.dev]))
    parses = parser.parses([tree.words() for tree in test])
    figures = Parseval.from_trees(test, [parse.best for parse in parses])
    assert figures.f1 > 0.74
    assert figures.tagging > 0.91
    assert figures.failed.sum() == 0
    for tree in test[:20]:
        derivation = parser.grammar.derivation(tree)
        assert derivation is None or parser.grammar.tree(tree.words(), derivation) == tree


EASY_DEPENDENCIES = {
    "The cat sat on the mat.": ([1, 2, -1, 5, 5, 2, 2], "det nsubj root case det obl punct"),
    "She gave him two old books.": ([1, -1, 1, 5, 5, 1, 1], "nsubj root iobj nummod amod obj punct"),
    "Where are the keys?": ([-1, 0, 3, 0, 0], "root cop det nsubj punct"),
    "He did not see it.": ([3, 3, 3, -1, 3, 3], "nsubj aux advmod root obj punct"),
}


def test_easy_sentences_have_their_dependencies():
    for text, expected in EASY_DEPENDENCIES.items():
        (parse,) = load_dependency_parser().parse(text)
        assert (parse.heads, " ".join(parse.relations)) == expected, text


def test_dependencies_work_behind_the_tagger():
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    nlp.add_pipe("disambig_dependencies")
    doc = nlp("The old men sleep. She reads.")
    assert [token.head.text for token in doc] == "men men sleep sleep sleep reads reads reads".split()
    assert [token.tag_ for token in doc][:4] == ["DT", "JJ", "NNS", "VBP"]
    assert [chunk.text for chunk in doc.noun_chunks] == ["The old men", "She"]


def test_it_runs_only_where_it_is_named():
    home = pack("disambig_en_dependencies")
    assert (home.language, home.models, home.counts) == ("en", {}, None)
    assert "dependencies" not in default_tasks()


def test_the_dependencies_pack_is_small_and_as_good_as_its_card_says():
    home = pack("disambig_en_dependencies").home
    assert sum(path.stat().st_size for path in (home / "models").rglob("*") if path.is_file()) <= 6e6
    figures = json.loads((home / "figures.json").read_text(encoding="utf8"))
    words = sum(row["words"] for row in figures["test"].values())
    uas, las = (
        sum(row["predicted"][key] for row in figures["test"].values()) / words
        for key in ("heads", "labelled")
    )
    assert uas >= 0.84 and las >= 0.805
    card = (home / "README.md").read_text(encoding="utf8")
    assert f"| **all** | {words:,} | {100 * uas:.2f} | {100 * las:.2f} |" in card
    assert "UD English EWT (CC BY-SA 4.0)" in card
    header = json.loads((home / "models" / "dependencies" / "header.json").read_text(encoding="utf8"))
    assert header["about"]["words"] == figures["about"]["words"]


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="needs DISAMBIG_DATA")
def test_the_card_has_the_figures_of_the_pack():
    from disambig_random_subspace.tagger import fill_in_tags

    from disambig.formats import read_conllu
    from disambig.models import load

    home = pack("disambig_en_dependencies").home
    row = json.loads((home / "figures.json").read_text(encoding="utf8"))["test"]["weblog"]
    path = Path(os.environ["DISAMBIG_DATA"]) / "labelled" / "ewt" / "weblog.test.conllu.xz"
    columns = [list(zip(*sentence.words, strict=True)) for sentence in read_conllu(path)]
    tagged = list(fill_in_tags(load("tag"), [(list(fields[1]), [()] * len(fields[1])) for fields in columns]))
    parses = load_dependency_parser().parse_tagged(tagged)
    right = sum(
        parsed + 1 == int(head)
        for parse, fields in zip(parses, columns, strict=True)
        for parsed, head in zip(parse.heads, fields[6], strict=True)
    )
    assert right == row["predicted"]["heads"]


ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "corpora" / "disambig_en_parser"
EASY = {
    "These results suggest that the gene is required for growth.": (
        "(TOP (S (NP (DT These) (NNS results)) (VP (VBP suggest) (SBAR (IN that) (S (NP (DT the) (NN gene)) "
        "(VP (VBZ is) (VP (VBN required) (PP (IN for) (NP (NN growth)))))))) (. .)))"
    ),
    "The cells were fixed and stained.": (
        "(TOP (S (NP (DT The) (NNS cells)) (VP (VBD were) (VP (VBN fixed) (CC and) (VBN stained))) (. .)))"
    ),
}


def test_without_the_pack_one_line_says_what_to_install():
    if "disambig_en_parser" in packs():
        pytest.skip("the pack is installed here")
    with pytest.raises(UserError, match=r"D901.*pip install ./corpora/disambig_en_parser"):
        load_parser()
    assert "D901" in here("parse", given="It slept.").stderr
    with pytest.raises(UserError, match="D901"):
        spacy.blank("en").add_pipe("disambig_parser")


def test_easy_sentences_are_converted_correctly(parser_pack):
    done = here("parse", "-q", given="\n".join(EASY) + "\n")
    assert done.stdout.splitlines() == list(EASY.values())
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_parser")
    (first, *_) = [next(doc.sents) for doc in nlp.pipe(EASY)]
    assert f"(TOP {first._.parse_string})" == next(iter(EASY.values()))


def test_the_pack_describes_itself(parser_pack, short_doctor):
    info = pack("disambig_en_parser")
    assert (info.language, info.counts, info.models) == ("en", None, {})
    assert "disambig_en_parser 0.1.0, language en" in here("doctor", "--quick").stdout
    card = (SOURCE / "README.md").read_text(encoding="utf8")
    for phrase in ("CRAFT", "CC BY 3.0", "EWT", "CC BY-SA 4.0", "biomedical", "Wall Street Journal"):
        assert phrase in card
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))
    assert figures["craft_some"]["f1"] >= 0.81
    assert figures["ewt_test"]["f1"] >= 0.76
    assert figures["wsj"]["f1"] >= 0.74
    assert figures["plain_english"]["words"]["right"] >= 84
    assert figures["megabytes"] <= 5
    header = json.loads((SOURCE / "models" / "parser" / "header.json").read_text(encoding="utf8"))
    assert header["about"]["trees"] == figures["trees"]["ewt"] + figures["trees"]["craft"]


def test_plain_english_is_parsed_as_well_as_the_card_says(parser_pack):
    """The table of sentences is in the pack's folder, with the module that checks their trees."""
    path = SOURCE / "plain_english.py"
    spec = importlib.util.spec_from_file_location("plain_english", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain_english"] = module
    spec.loader.exec_module(module)
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))["plain_english"]["words"]
    checked = module.check_trees(load_parser())
    assert len(checked) == 100
    assert {check.text: failures for check, _, failures in checked if failures} == figures["failures"]
    assert all(parsed.kind == "parsed" for _, parsed, _ in checked)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("Go!", "(TOP (S (VP (VB Go)) (. !)))"),
        (
            "I won; you lost.",
            "(TOP (S (S (NP (PRP I)) (VP (VBD won))) (: ;) (S (NP (PRP you)) (VP (VBD lost))) (. .)))",
        ),
    ],
)
def test_short_sentences_of_everyday_english(parser_pack, text, tree):
    assert [format_one_line(best) for best in load_parser().parse(text)] == [tree]


def test_a_missing_treebank_does_not_matter(parser_pack):
    """Unseen words, punctuation and tags: the clause around them stays a clause, and the marks are marks."""
    parser = load_parser()
    for end in ("!", "?!", "\N{INTERROBANG}", "\N{HORIZONTAL ELLIPSIS}", "\N{IDEOGRAPHIC FULL STOP}"):
        (sentence,) = parser.sentences([f"The zwork blicked {end}"], whole=True)[0]
        tree = parser.parses([sentence])[0].best
        assert tree.children[0].label == "S" and tree.tags()[-1] in (".", ":"), format_one_line(tree)
    words = "The dog barked ; it slept .".split()
    for tag in (":", ",", "NN", "NEW"):
        tags = ["DT", "NN", "VBD", tag, "PRP", "VBD", "."]
        (parsed,) = parser.parses([parser.cutter.from_words(words, tags)])
        assert (parsed.kind, parsed.best.tags()[3]) == ("parsed", ":"), tag


@pytest.mark.data
@pytest.mark.slow
def test_newspaper_text_is_parsed_as_well_as_the_card_says(parser_pack):
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    from disambig_exponentiated_gradient.parser import parse_again
    from disambig_exponentiated_gradient.treebank import Parseval, filter_by_length, penn_sections

    wsj = [tree for files in penn_sections(Path(data)).values() for trees in files.values() for tree in trees]
    some = filter_by_length(wsj)[::20]
    scores = Parseval.from_trees(some, parse_again(load_parser(), some))
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))
    assert scores.f1 == pytest.approx(figures["wsj"]["f1"], abs=0.03)
    assert not scores.failed.any()
