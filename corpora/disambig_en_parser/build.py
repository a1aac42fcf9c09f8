"""Build the pack of English parsing: a treebank's grammar, its figures and the card.

    python corpora/disambig_en_parser/build.py DATA --output FOLDER

DATA is a directory with ``labelled/craft`` and ``labelled/ptb-sample``. The grammar is read from CRAFT: its
settings are chosen by F1 on development articles, its figures are measured on a fifth of the articles that
was used neither for training nor for tuning, and the shipped grammar is trained on all articles. The sample
of the Penn Treebank is used only for testing: it shows how good the parser is on text of another kind.
``models/``, ``figures.json`` and the card ``README.md`` are written to FOLDER: this folder, for a release.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from card import write_card
from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.parser import (
    Parser,
    ParserTagger,
    parse_again,
    parse_figures,
    read_parser,
    save_parser,
)
from disambig_exponentiated_gradient.treebank import (
    Binarisation,
    CorpusSplit,
    Parseval,
    Tree,
    craft_split,
    filter_by_length,
    fold_tree,
    penn_sections,
    penn_split,
    unescape_word,
)

PARSER = Path("models", "parser")
SETTINGS = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2))
"""Horizontal and vertical orders that the development articles choose between."""
ALL = 150


def choose(split: CorpusSplit) -> tuple[dict[str, float], Parser]:
    """Return the F1 of each setting on the development articles, and the parser with the best setting."""
    dev = filter_by_length(split.dev)
    f1: dict[str, float] = {}
    parsers: dict[str, Parser] = {}
    for horizontal, vertical in SETTINGS:
        name = f"h={horizontal}, v={vertical}"
        log_progress(name)
        parsers[name] = Parser(TreebankGrammar.from_trees(split.train, Binarisation(horizontal, vertical)))
        f1[name] = parse_figures(Parseval.from_trees(dev, parse_again(parsers[name], dev)))["f1"]
    return f1, parsers[max(f1, key=lambda name: f1[name])]


def measured(parser: Parser, trees: Sequence[Tree]) -> dict[str, Any]:
    """Return the figures of a parser on trees: short ones, all, and short ones with the tagger's tags."""
    short, every = filter_by_length(trees), filter_by_length(trees, ALL)
    log_progress(f"{len(every):,} trees")
    counts = Parseval.from_trees(every, parse_again(parser, every))
    tagged = Parseval.from_trees(short, _with_tags(parser, short))
    return {
        "short": {
            "trees": len(short),
            **parse_figures(Parseval.from_trees(short, parse_again(parser, short))),
        },
        "all": {"trees": len(every), **parse_figures(counts)},
        "tagged": {"trees": len(short), **parse_figures(tagged)},
    }


def _with_tags(parser: Parser, trees: Sequence[Tree]) -> list[Tree]:
    """Return the parses of sentences tagged by the shipped tagger."""
    sentences = [parser.cutter.from_words([unescape_word(word) for word in tree.words()]) for tree in trees]
    parses = parser.parses(ParserTagger.load("tag")(sentences))
    return [_of_words(parse.best, tree) for parse, tree in zip(parses, trees, strict=True)]


def _of_words(tree: Tree, gold: Tree) -> Tree:
    """Return a tree with the words of the gold tree, because the parser may write them differently."""
    words = iter(gold.words())

    def make(node: Tree, children: Sequence[Tree]) -> Tree:
        return Tree(node.label, tuple(children), None if node.word is None else next(words))

    return fold_tree(tree, make)


def of_a_newspaper(data: Path, shipped: Parser) -> dict[str, Any]:
    """Return F1 on one section of the sample: of the shipped grammar, and of one read from the other section.

    The second grammar is not shipped: it shows how much training text of the same kind helps.
    """
    split = penn_split(data)
    test = filter_by_length(split.test)
    own = Parser(TreebankGrammar.from_trees((*split.train, *split.dev), shipped.grammar.binarisation))
    f1 = {
        name: Parseval.from_trees(test, parse_again(parser, test)).f1
        for name, parser in (("shipped", shipped), ("own", own))
    }
    return {"trees": len(split.train) + len(split.dev), **f1}


def speed(folder: Path, trees: Sequence[Tree]) -> dict[str, float]:
    """Return the loading time and the speed of the shipped parser on one core."""
    started = time.perf_counter()
    parser = read_parser(folder)
    loaded = time.perf_counter()
    of_twenty = [tree.words() for tree in trees if 18 <= len(tree.words()) <= 22][:300]
    parser.parse_words(of_twenty[:2])  # compilation is not part of the measured time
    ready = time.perf_counter()
    parser.parse_words(of_twenty)
    done = time.perf_counter()
    return {"load": loaded - started, "sentences": len(of_twenty) / (done - ready), "n": len(of_twenty)}


def build(data: Path, output: Path) -> None:
    """Choose the settings, measure, train on all articles, and write the card."""
    shutil.rmtree(output / "models", ignore_errors=True)
    split = craft_split(data)
    choosing, parser = choose(split)
    craft = measured(parser, split.test)
    everything = (*split.train, *split.dev, *split.test)
    log_progress(f"all {len(everything):,} trees")
    shipped = Parser(TreebankGrammar.from_trees(everything, parser.grammar.binarisation))
    wsj = [tree for files in penn_sections(data).values() for trees in files.values() for tree in trees]
    figures = {
        "trees": len(everything),
        "words": sum(len(tree.words()) for tree in everything),
        "train": len(split.train),
        "chosen": max(choosing, key=lambda name: choosing[name]),
        "choosing": choosing,
        "craft": craft,
        "wsj": measured(shipped, wsj),
        "newspaper": of_a_newspaper(data, shipped),
    }
    folder = output / PARSER
    about = {"treebank": "CRAFT (CC BY 3.0)", "trees": len(everything), "f1_held_out": craft["short"]["f1"]}
    save_parser(shipped, folder, about=about)
    figures["speed"] = speed(folder, wsj)
    figures["megabytes"] = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    (output / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf8")
    write_card(output, figures)


def log_progress(line: str) -> None:
    """Print a time and the present step."""
    print(f"  {time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with labelled/")
    parser.add_argument("--output", type=Path, required=True, help="directory of the pack")
    parser.add_argument("--card", action="store_true", help="only write the card again, from figures.json")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.card:
        path = options.output / "figures.json"
        write_card(options.output, json.loads(path.read_text(encoding="utf8")))
    else:
        build(options.data, options.output)


if __name__ == "__main__":
    main()
