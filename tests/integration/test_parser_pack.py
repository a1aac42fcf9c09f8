"""The pack of parsing: everyday use, what its card says, a distribution of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
from commands import here
from disambig_exponentiated_gradient import load_parser
from disambig_exponentiated_gradient.treebank import format_one_line

from disambig.errors import UserError
from disambig.packs import pack, packs

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
    known = pack("disambig_en_parser")
    assert (known.language, known.counts, known.models) == ("en", None, {})
    assert "disambig_en_parser 0.1.0, language en" in here("doctor", "--quick").stdout
    card = (SOURCE / "README.md").read_text(encoding="utf8")
    for said in ("CRAFT", "CC BY 3.0", "EWT", "CC BY-SA 4.0", "biomedical", "Wall Street Journal"):
        assert said in card
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
    found = Parseval.from_trees(some, parse_again(load_parser(), some))
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))
    assert found.f1 == pytest.approx(figures["wsj"]["f1"], abs=0.03)
    assert not found.failed.any()


@pytest.mark.slow
def test_the_pack_is_built_and_found_as_a_distribution(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w"]
    subprocess.run([*command, str(tmp_path), str(SOURCE)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("disambig_en_parser-*.whl")
    assert wheel.stat().st_size <= 5e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert "disambig_en_parser/models/parser/grammar.npz" in names
    assert not [name for name in names if name.endswith((".py", ".toml"))]
    paths = [str(tmp_path / "site"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sentence, tree = next(iter(EASY.items()))
    done = subprocess.run(
        [sys.executable, "-m", "disambig.cli.main", "parse", "-q"],
        input=sentence.encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == tree + "\n"
