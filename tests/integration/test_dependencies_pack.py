"""The dependency parser that ships: easy sentences, its size, and what its card says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import spacy
from disambig_dependencies import load_parser

from disambig.packs import default_tasks, pack

EASY = {
    "The cat sat on the mat.": ([1, 2, -1, 5, 5, 2, 2], "det nsubj root case det obl punct"),
    "She gave him two old books.": ([1, -1, 1, 5, 5, 1, 1], "nsubj root iobj nummod amod obj punct"),
    "Where are the keys?": ([-1, 0, 3, 0, 0], "root cop det nsubj punct"),
    "He did not see it.": ([3, 3, 3, -1, 3, 3], "nsubj aux advmod root obj punct"),
}


def test_easy_sentences_come_out_right():
    for text, (heads, relations) in EASY.items():
        (parse,) = load_parser().parse(text)
        assert (parse.heads, " ".join(parse.relations)) == (heads, relations), text


def test_it_works_behind_the_tagger():
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


def test_it_is_small_and_as_good_as_its_card_says():
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
    tagged = list(fill_in_tags(load("tag"), [(list(own[1]), [()] * len(own[1])) for own in columns]))
    parses = load_parser().parse_tagged(tagged)
    right = sum(
        parsed + 1 == int(head)
        for parse, own in zip(parses, columns, strict=True)
        for parsed, head in zip(parse.heads, own[6], strict=True)
    )
    assert right == row["predicted"]["heads"]
