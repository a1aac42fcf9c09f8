"""Build the pack of English dependencies: train the parser, measure it and write the card.

    python corpora/disambig_en_dependencies/build.py DATA

DATA is a directory with ``labelled/ewt`` (UD English EWT by genre and split). The parser is trained on its
training part, whose tags come from taggers that have not seen the sentences (see `jackknife`); settings were
chosen on the development part, and the figures are those of the test part.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from card import write_card
from disambig_dependencies import DependencyParser, load_parser, save_parser, train_parser
from disambig_random_subspace.tagger import fill_in_tags, train_tagger

from disambig.experiments import EWT_GENRES, PackFigures, ewt_sentences, log_progress
from disambig.models import Model, load
from disambig.type_aliases import Progress

HOME = Path(__file__).parent
FIGURES = PackFigures(HOME, write_card)
FOLDER = HOME / "models" / "dependencies"
PASSES = 8
MAX_WEIGHTS = 1_500_000
"""Number of weights that are kept."""
FOLDS = 5
Sentence = tuple[list[str], list[str], list[int], list[str]]
"""Words, tags, heads (-1 for the root) and relations."""


def read_treebank(data: Path, split: str, genres: Sequence[str] = EWT_GENRES) -> Iterator[Sentence]:
    """Yield the sentences of a part of EWT, with gold tags; the root's head is -1."""
    for sentence in ewt_sentences(data, [split], genres):
        yield sentence.forms, sentence.tags, sentence.heads, sentence.relations


def retag(model: Model, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with the tags that a tagger predicts."""
    tagged = fill_in_tags(model, [(words, [()] * len(words)) for words, *_ in sentences])
    return [(words, tags, *rest) for (words, tags), (_, _, *rest) in zip(tagged, sentences, strict=True)]


def jackknife(train: Sequence[Sentence], dev: Sequence[Sentence], progress: Progress) -> list[Sentence]:
    """Return the training sentences, each tagged by a tagger trained on the other folds.

    The shipped tagger knows these sentences: its tags are better here than on new text, and a parser trained
    with them would trust them too much. Folds are runs of sentences, so that a document is in one fold.
    """
    classes = load("tag").extractors[0].classes  # type: ignore[attr-defined]
    n_blocks = 4 * FOLDS  # a fold has four runs of sentences
    blocks = [slice(*pair) for pair in pairwise(len(train) * i // n_blocks for i in range(n_blocks + 1))]
    retagged: list[Sentence] = list(train)
    calibration = [(words, tags) for words, tags, *_ in dev]
    for fold in range(FOLDS):
        progress("tagging", fold, FOLDS)
        fold_blocks = blocks[fold::FOLDS]
        others = (sentence for block in blocks if block not in fold_blocks for sentence in train[block])
        tagged = [(words, tags) for words, tags, *_ in others]
        model = train_tagger(tagged, calibration, name="fold", classes=classes)
        for block in fold_blocks:
            retagged[block] = retag(model, train[block])
    return retagged


def build(data: Path) -> None:
    """Train the parser of the pack."""
    dev = list(read_treebank(data, "dev"))
    train = jackknife(list(read_treebank(data, "train")), dev, log_progress)
    classes = load("tag").extractors[0].classes  # type: ignore[attr-defined]
    parser = train_parser(train, classes=classes, passes=PASSES, most=MAX_WEIGHTS, progress=log_progress)
    details = {
        "treebank": "UD English EWT (CC BY-SA 4.0), training part",
        "sentences": len(train),
        "words": sum(len(words) for words, *_ in train),
    }
    save_parser(parser, FOLDER, details=details)
    FIGURES.add({"about": {**details, "weights": len(parser.weights.weights)}})


def score(data: Path) -> None:
    """Measure the pack on EWT's development and test parts."""
    parser, tagger = load_parser(FOLDER), load("tag")
    for split in ("dev", "test"):
        rows = {}
        for genre in EWT_GENRES:
            gold = list(read_treebank(data, split, [genre]))
            rows[genre] = {
                "words": sum(len(words) for words, *_ in gold),
                "predicted": count_attachments(parse_all(parser, retag(tagger, gold)), gold),
                "gold": count_attachments(parse_all(parser, gold), gold),
            }
        FIGURES.add({split: rows})
    test = list(read_treebank(data, "test"))
    FIGURES.add({"relations": relation_f1(test, parse_all(parser, retag(tagger, test)))})
    FIGURES.add({"speed": speed(parser, data)})
    FIGURES.add({"megabytes": sum(path.stat().st_size for path in FOLDER.iterdir()) / 1e6})


def parse_all(parser: DependencyParser, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with the parser's heads and relations."""
    parses = parser.parse_tagged([(words, tags) for words, tags, *_ in sentences])
    return [(parse.words, parse.tags, parse.heads, parse.relations) for parse in parses]


def count_attachments(parsed: Sequence[Sentence], gold: Sequence[Sentence]) -> dict[str, int]:
    """Return the numbers of right heads, and of right heads with the right relation."""
    counts = Counter({"heads": 0, "labelled": 0})
    for (_, _, *parsed_columns), (_, _, *right) in zip(parsed, gold, strict=True):
        for head, label, right_head, right_label in zip(*parsed_columns, *right, strict=True):
            counts["heads"] += head == right_head
            counts["labelled"] += head == right_head and label == right_label
    return dict(counts)


def speed(parser: DependencyParser, data: Path) -> dict[str, float]:
    """Return words per second of one core: parsing, tagging and parsing, and the component on plain text."""
    import spacy

    from disambig.text import SpacyTokens

    test = list(read_treebank(data, "test"))
    tagger, tokens = load("tag"), SpacyTokens()
    view = tokens.of_sentences([words for words, *_ in test])
    n_words = sum(len(words) for words, *_ in test)
    texts = [" ".join(words) for words, *_ in test]
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_dependencies")
    given_tags = [(words, tags) for words, tags, *_ in test]
    systems = {
        "parsing": lambda: parser.parse_tagged(given_tags),
        "tagging": lambda: tagger.choose(view),
        "component": lambda: list(nlp.pipe(texts)),
    }
    seconds = {}
    for name, run in systems.items():
        run()  # compilation is not part of the measured time
        times = []
        for _ in range(3):
            started = time.process_time()
            run()
            times.append(time.process_time() - started)
        seconds[name] = min(times)
    return {
        "parsing": n_words / seconds["parsing"],
        "both": n_words / (seconds["parsing"] + seconds["tagging"]),
        "component": n_words / seconds["component"],
    }


COMPARED_RELATIONS = {
    "subject and verb": (("nsubj", "nsubj:pass"), ("nsubj", "nsubjpass")),
    "verb and object": (("obj",), ("dobj",)),
    "determiner and noun": (("det",), ("det",)),
    "auxiliary and verb": (("aux", "aux:pass"), ("aux", "auxpass")),
    "preposition and noun": (("case",), ("pobj",)),
}
"""Relations that treebanks of both kinds have: in Universal Dependencies, and in spaCy's English models."""


def relation_f1(gold: Sequence[Sentence], parsed: Sequence[Sentence], *, spacy_labels: bool = False) -> Any:
    """Return the F1 of some pairs of words, which does not depend on which word is called the head.

    The subject of a copula belongs to the copula in spaCy's models, and to the predicate in Universal
    Dependencies: pairs of both are those of the copula.
    """
    figures = {}
    for name, (universal, other) in COMPARED_RELATIONS.items():
        hits = n_gold = n_parsed = 0
        for gold_sentence, parsed_sentence in zip(gold, parsed, strict=True):
            gold_pairs = _pairs(gold_sentence, universal, name)
            parsed_pairs = _pairs(parsed_sentence, other if spacy_labels else universal, name)
            hits += len(gold_pairs & parsed_pairs)
            n_gold += len(gold_pairs)
            n_parsed += len(parsed_pairs)
        figures[name] = {"n": n_gold, "f1": 2 * hits / max(n_gold + n_parsed, 1)}
    return figures


def _pairs(sentence: Sentence, labels: Sequence[str], name: str) -> set[tuple[int, int]]:
    """Return the pairs of words, in order, that are joined by one of some relations."""
    _, _, heads, relations = sentence
    copulas = {head: child for child, head in enumerate(heads) if relations[child] == "cop"}
    pairs = set()
    for child, (head, label) in enumerate(zip(heads, relations, strict=True)):
        if label in labels:
            if name in ("subject and verb", "auxiliary and verb"):
                head = copulas.get(head, head)
            pairs.add((min(child, head), max(child, head)))
    return pairs


def score_peer(data: Path, folder: str, name: str, *, own_labels: bool) -> None:
    """Measure a spaCy pipeline on EWT's test part, with its own tags on the treebank's words.

    `folder` is the pipeline, and `name` its name in the card. With `own_labels` it has the relations of
    spaCy's models; otherwise it was trained on EWT.
    """
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.load(folder)
    gold = list(read_treebank(data, "test"))
    one_sentence = [(words, [i == 0 for i in range(len(words))]) for words, *_ in gold]
    docs = [Doc(nlp.vocab, words=words, sent_starts=starts) for words, starts in one_sentence]
    started = time.process_time()
    parsed = []
    for doc in nlp.pipe(docs, disable=["ner", "lemmatizer", "attribute_ruler"]):
        heads = [token.head.i if token.head.i != token.i else -1 for token in doc]
        labels = [{"ROOT": "root"}.get(token.dep_, token.dep_) for token in doc]
        parsed.append(([token.text for token in doc], [token.tag_ for token in doc], heads, labels))
    n_words = sum(len(words) for words, *_ in gold)
    figures: dict[str, Any] = {
        "speed": n_words / (time.process_time() - started),
        "relations": relation_f1(gold, parsed, spacy_labels=own_labels),
    }
    if not own_labels:
        figures |= count_attachments(parsed, gold)
    FIGURES.add({"peers": {**FIGURES.read().get("peers", {}), name: figures}})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with labelled/ewt")
    parser.add_argument("--score", action="store_true", help="score the pack as it is")
    parser.add_argument("--peer", metavar="FOLDER", help="score a pipeline of spaCy beside it")
    parser.add_argument("--name", default="spaCy", help="name of that pipeline in the card")
    parser.add_argument("--trained-here", action="store_true", help="that pipeline was trained on EWT")
    options = parser.parse_args()
    if options.peer:
        score_peer(options.data, options.peer, options.name, own_labels=not options.trained_here)
        return
    if not options.score:
        build(options.data)
    score(options.data)


if __name__ == "__main__":
    main()
