"""Build the pack of English parsing: two grammars, their figures and the card.

    python corpora/disambig_en_parser/build.py DATA --output FOLDER

DATA is a directory with ``labelled/ewt``, ``labelled/craft`` and ``labelled/ptb-sample``. The general
grammar is read from the training part of UD English EWT, converted into phrase structure, and from tag
questions and quotations that are derived from it (``derived_trees.py``); its settings were chosen on the
development part (the last step measures them again). The grammar of articles is read from
CRAFT: its figures are measured on a fifth of the articles with a grammar that was not trained on them, and
the shipped one is trained on all articles. The sample of the Penn Treebank is used only for testing.
``models/``, ``figures.json`` and the card ``README.md`` are written to FOLDER: this folder, for a release.
Figures and card are written after each step.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from card import write_card
from derived_trees import derived_trees
from disambig_exponentiated_gradient.grammar import RuleCounts, TagLexicon, TreebankGrammar
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
    read_dependency_trees,
    unescape_word,
)
from plain_english import check_trees

from disambig.experiments import PackFigures, ewt_sentences, log_progress

PARSER = Path("models", "parser")
SPLITS = tuple(
    "auxiliary frequent_preposition alone base verb_form clause_form auxiliary_do wh_quantity".split()
)
"""Splits of the general grammar: those that are not the default were chosen on the development part."""
GENERAL = Binarisation(2, 2, splits=SPLITS, merge_questions=True)
"""Of the general grammar: the best of three orders on development sentences."""
SETTINGS = ((1, 2), (2, 2), (1, 3))
"""Horizontal and vertical orders that `choose` compares."""
ARTICLES = Binarisation(2, 3)
"""Of the grammar of articles: chosen from five orders on development articles for version 0.1.0."""
EVERY = 4
"""Every fourth tree is parsed where figures say so."""


def read_ewt(data: Path, part: str) -> list[Tree]:
    """Return the converted trees of a part of EWT."""
    sentences = ewt_sentences(data, [part])
    return list(
        read_dependency_trees(
            (sentence.forms, sentence.tags, sentence.heads, sentence.relations) for sentence in sentences
        )
    )


def general_grammar(train: Sequence[Tree], binarisation: Binarisation = GENERAL) -> TreebankGrammar:
    """Return the grammar of the trees and of those that are derived from them."""
    return TreebankGrammar.from_trees([*train, *derived_trees(train)], binarisation)


def choose(train: Sequence[Tree], dev: Sequence[Tree]) -> dict[str, float]:
    """Return the F1 of the general grammar with each setting on development sentences."""
    f1: dict[str, float] = {}
    for horizontal, vertical in SETTINGS:
        binarisation = replace(GENERAL, horizontal=horizontal, vertical=vertical)
        parser = Parser(general_grammar(train, binarisation))
        figures = parse_figures(Parseval.from_trees(dev, parse_again(parser, dev)))
        f1[f"h={horizontal}, v={vertical}"] = figures["f1"]
    return f1


def grammars_of_articles(split: CorpusSplit) -> tuple[TreebankGrammar, TreebankGrammar]:
    """Return the grammar of the training articles, and that of all articles; trees are binarised once."""
    binarised = [ARTICLES(tree) for tree in (*split.train, *split.dev, *split.test)]

    def grammar(trees: Sequence[Tree]) -> TreebankGrammar:
        sentences = ([(leaf.word or "", leaf.label) for leaf in tree.leaves()] for tree in trees)
        lexicon = TagLexicon.from_sentences(sentences)
        return TreebankGrammar.from_counts(ARTICLES, RuleCounts.from_trees(trees), lexicon)

    return grammar(binarised[: len(split.train)]), grammar(binarised)


def measured(parser: Parser, trees: Sequence[Tree]) -> dict[str, Any]:
    """Return the figures of a parser on trees."""
    counts = Parseval.from_trees(trees, parse_again(parser, trees))
    second = sum(parser.domain(tree.words()) for tree in trees)
    return {"trees": len(trees), "as_articles": second / len(trees), **parse_figures(counts)}


def measured_with_tags(parser: Parser, trees: Sequence[Tree]) -> dict[str, Any]:
    """Return the figures of a parser on trees whose words are tagged by the shipped tagger."""
    sentences = [parser.cutter.from_words([unescape_word(word) for word in tree.words()]) for tree in trees]
    parses = parser.parses(ParserTagger.load("tag")(sentences))
    parsed = [_of_words(parse.best, tree) for parse, tree in zip(parses, trees, strict=True)]
    return {"trees": len(trees), **parse_figures(Parseval.from_trees(trees, parsed))}


def _of_words(tree: Tree, gold: Tree) -> Tree:
    """Return a tree with the words of the gold tree, because the parser may write them differently."""
    words = iter(gold.words())

    def make(node: Tree, children: Sequence[Tree]) -> Tree:
        return Tree(node.label, tuple(children), None if node.word is None else next(words))

    return fold_tree(tree, make)


def plain_english(parser: Parser) -> dict[str, Any]:
    """Return how many of the 100 sentences have a tree as it should be, and how many conditions hold."""
    figures: dict[str, Any] = {}
    for name, tagger in (("words", None), ("tagged", ParserTagger.load("tag"))):
        checked = check_trees(parser, tagger)
        conditions = sum(1 + len(check.conditions) for check, _, _ in checked)
        failed = sum(len(failures) for _, _, failures in checked)
        right = sum(not failures for _, _, failures in checked)
        figures[name] = {"right": right, "conditions": conditions, "hold": conditions - failed}
        figures[name]["failures"] = {check.text: failures for check, _, failures in checked if failures}
    return {"sentences": len(checked), **figures}


def speed(folder: Path, trees: Sequence[Tree]) -> dict[str, float]:
    """Return loading time and speed of the shipped parser in processor time of one core."""
    started = time.process_time()
    parser = read_parser(folder)
    loaded = time.process_time()
    of_twenty = [tree.words() for tree in trees if 18 <= len(tree.words()) <= 22][:200]
    parser.parse_words(of_twenty[:2])  # compilation is not part of the measured time
    ready = time.process_time()
    parser.parse_words(of_twenty)
    done = time.process_time()
    return {"load": loaded - started, "sentences": len(of_twenty) / (done - ready), "n": len(of_twenty)}


def build(data: Path, output: Path) -> None:
    """Train the shipped grammars, measure, and write the card."""
    shutil.rmtree(output / "models", ignore_errors=True)
    log_progress("general grammar")
    train = read_ewt(data, "train")
    general = general_grammar(train)
    log_progress("grammars of articles")
    split = craft_split(data)
    held_out, articles = grammars_of_articles(split)
    every = (*split.train, *split.dev, *split.test)
    # `parser` has a grammar that was not trained on the articles by which it is measured
    shipped, parser = Parser(general, second=articles), Parser(general, second=held_out)
    folder = output / PARSER
    save_shipped(shipped, folder, len(train) + len(every))
    craft = filter_by_length(split.test)
    some_craft = craft[::EVERY]
    (output / "figures.json").unlink(missing_ok=True)
    PackFigures(output, write_card).add(
        {
            "trees": {"ewt": len(train), "craft": len(every), "craft_measured": len(split.train)},
            "words": {name: _count_words(trees) for name, trees in (("ewt", train), ("craft", every))},
            "chosen": f"h={GENERAL.horizontal}, v={GENERAL.vertical}",
            "megabytes": _megabytes(folder),
        }
    )
    steps = general_steps(shipped, folder, data)
    steps |= {
        "craft_some": lambda: measured(parser, some_craft),
        "craft_articles": lambda: measured(Parser(held_out), some_craft),
        "craft_tagged": lambda: measured_with_tags(parser, some_craft),
        "craft": lambda: measured(parser, craft),
        "choosing": lambda: choose(train, filter_by_length(read_ewt(data, "dev"))[::2]),
    }
    run_steps(output, steps)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def save_shipped(parser: Parser, folder: Path, n_trees: int) -> None:
    """Save the parser of the pack with what it was made from."""
    treebanks = "UD English EWT (CC BY-SA 4.0), CRAFT (CC BY 3.0)"
    save_parser(parser, folder, details={"treebanks": treebanks, "trees": n_trees})


def build_general(data: Path, output: Path) -> None:
    """Train the general grammar of a pack again; the grammar of articles stays as it is."""
    log_progress("general grammar")
    folder, figures = output / PARSER, PackFigures(output, write_card)
    articles = read_parser(folder).second
    general = general_grammar(read_ewt(data, "train"))
    trees = figures.read()["trees"]
    shutil.rmtree(folder)
    save_shipped(Parser(general, second=articles), folder, trees["ewt"] + trees["craft"])
    figures.add({"megabytes": _megabytes(folder)})


Steps = dict[str, Callable[[], dict[str, Any]]]


def general_steps(shipped: Parser, folder: Path, data: Path) -> Steps:
    """Return the measurements of the shipped parser on text that neither grammar was trained on."""
    wsj = [tree for files in penn_sections(data).values() for trees in files.values() for tree in trees]
    newspaper = filter_by_length(wsj)[::EVERY]
    web, dev = (filter_by_length(read_ewt(data, part)) for part in ("test", "dev"))
    return {
        "plain_english": lambda: plain_english(shipped),
        "speed": lambda: speed(folder, wsj),
        "ewt_test": lambda: measured(shipped, web),
        "wsj": lambda: measured(shipped, newspaper),
        "ewt_dev": lambda: measured(shipped, dev[::2]),
        "ewt_test_tagged": lambda: measured_with_tags(shipped, web),
        "wsj_tagged": lambda: measured_with_tags(shipped, newspaper),
    }


def run_steps(output: Path, steps: Steps) -> None:
    """Measure, and write figures and card after each step."""
    for name, step in steps.items():
        log_progress(name)
        PackFigures(output, write_card).add({name: step()})


def _count_words(trees: Sequence[Tree]) -> int:
    return sum(len(tree.words()) for tree in trees)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with labelled/")
    parser.add_argument("--output", type=Path, required=True, help="directory of the pack")
    parser.add_argument("--card", action="store_true", help="only write the card again, from figures.json")
    help_text = "only train the general grammar again: measure with --measure afterwards"
    parser.add_argument("--general", action="store_true", help=help_text)
    help_text = "only measure this again with the pack as it is: not CRAFT, whose articles it was trained on"
    parser.add_argument("--measure", nargs="+", metavar="STEP", help=help_text)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.card:
        PackFigures(options.output, write_card).add({})
    elif options.general:
        build_general(options.data, options.output)
    elif options.measure:
        folder = options.output / PARSER
        steps = general_steps(read_parser(folder), folder, options.data)
        run_steps(options.output, {name: steps[name] for name in options.measure})
    else:
        build(options.data, options.output)


if __name__ == "__main__":
    main()
