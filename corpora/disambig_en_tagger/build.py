"""Build the English tagger: train it (see `recipe`), compare it with other taggers and write the card.

    python corpora/disambig_en_tagger/build.py DATA

DATA is a directory with ``labelled/ewt`` (UD English EWT by genre and split), ``labelled/noad-masc``,
``labelled/craft`` and ``english/DOMAIN.train.txt.xz`` (plain text, one paragraph per line). The tagger is
trained on EWT's training part and the other corpora, calibrated on EWT's development part, and tested on its
test part. The packages onnx and onnxruntime are needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from operator import eq
from pathlib import Path
from typing import Any

from card import write_card
from disambig_random_subspace.experiments import ewt, train_baselines, with_penn_colons
from recipe import TaggerData, UntaggedSentences, load_data, read_untagged_sentences, train_tagger_by_recipe

from disambig.experiments import EWT_GENRES, PackFigures, ewt_sentences, log_progress
from disambig.models import Model, load, save_model
from disambig.packs import pack

HOME = Path(__file__).parent
FIGURES = PackFigures(HOME, write_card)
PARTS = ("train", "dev")
"""Parts of a left-out genre that are tested; its test part is reserved for the pack itself."""
VERSION = "0.3.0"
MIN_WEIGHT = 0.7
"""Smaller weights are dropped from the pack."""
Sentences = Sequence[tuple[Sequence[str], Sequence[str]]]


def sentences(
    data: Path,
    genres: Sequence[str] = EWT_GENRES,
    splits: Sequence[str] = ("train",),
    *,
    own_labels: bool = False,
) -> Sentences:
    """Return sentences of EWT with the Penn Treebank's tag of dashes and semicolons, or with EWT's own."""
    tagged = ewt(data, genres, splits)
    return tagged if own_labels else with_penn_colons(tagged)


def load_training_data(data: Path) -> tuple[TaggerData, UntaggedSentences]:
    """Return plain text, partially tagged corpora and the sentences for the teacher."""
    tagger_data, encoder = load_data(data, log_progress), pack("disambig_en").home / "encoder"
    return tagger_data, read_untagged_sentences(tagger_data, encoder, log_progress)


def build(data: Path, *, folder: Path, own_labels: bool) -> None:
    """Train the tagger of the pack; `own_labels`: with EWT's tag of dashes and semicolons."""
    train, dev = (sentences(data, splits=[split], own_labels=own_labels) for split in ("train", "dev"))
    options = {"name": "disambig_en_tagger/tag", "version": VERSION, "least": MIN_WEIGHT}
    model = train_tagger_by_recipe(train, dev, *load_training_data(data), progress=log_progress, **options)
    save_model(model, folder, force=True)


def held_out(data: Path, together: Sequence[Sequence[str]]) -> None:
    """Score the recipe on genres that were left out of training.

    `together` are the genres that are left out together.
    """
    training_data = load_training_data(data)
    by_genre = FIGURES.read().get("held_out", {})
    for genres in together:
        others = [other for other in EWT_GENRES if other not in genres]
        train, dev = (sentences(data, others, [split]) for split in PARTS)
        model = train_tagger_by_recipe(train, dev, *training_data, name="held out", progress=log_progress)
        for genre in genres:
            test = sentences(data, [genre], PARTS)
            shares = {**by_genre.get(genre, {}).get("accuracy", {}), VERSION: accuracy(model, test)}
            by_genre[genre] = {"n": n_words(test), "learned_from": others, "accuracy": shares}
        FIGURES.add({"held_out": by_genre})


def score(data: Path, *, peers: bool) -> None:
    """Score the pack on EWT's test part and, with `peers`, taggers trained on the same sentences."""
    model = load("tag")
    tests = {genre: sentences(data, [genre], ["test"]) for genre in EWT_GENRES}
    figures = {name: {"n": n_words(test), "accuracy": accuracy(model, test)} for name, test in tests.items()}
    FIGURES.add({"test": figures})
    FIGURES.add({"universal": parts_of_speech(data)})
    if not peers:
        return
    train, dev = (sentences(data, splits=[split]) for split in ("train", "dev"))
    runs = {}
    for run in train_baselines(train, dev, tests, progress=log_progress):
        right = {}
        for genre, tags in (run.tags or {}).items():
            golds = chain.from_iterable(golds for _, golds in tests[genre])
            right[genre] = sum(map(eq, chain.from_iterable(tags), golds))
        times = {name: getattr(run, name) for name in ("training_seconds", "words_per_second")}
        runs[run.system] = {"right": right, **times}
    FIGURES.add({"peers": runs})


def accuracy(model: Model, tagged: Sentences) -> float:
    """Return the share of words whose tag is right, after `with_penn_colons` of both."""
    view = model.tokenisation.of_sentences(words for words, _ in tagged)  # type: ignore[attr-defined]
    names = model.task.groups[0].candidates
    chosen = [names[number] for number in model.choose(view)[1].tolist()]
    words = [word for words, _ in tagged for word in words]
    ((_, predicted),) = with_penn_colons([(words, chosen)])
    ((_, gold),) = with_penn_colons([(words, [tag for _, tags in tagged for tag in tags])])
    return sum(tag == right for tag, right in zip(predicted, gold, strict=True)) / len(gold)


def parts_of_speech(data: Path) -> dict[str, Any]:
    """Return the accuracy of the component's universal parts of speech on EWT's test part."""
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger")
    right = total = 0
    for sentence in ewt_sentences(data, ["test"]):
        doc = next(nlp.pipe([Doc(nlp.vocab, words=sentence.forms)]))
        right += sum(token.pos_ == row[3] for token, row in zip(doc, sentence.words, strict=True))
        total += len(sentence.words)
    return {"n": total, "accuracy": right / total}


def n_words(tagged: Sentences) -> int:
    """Return the number of words in sentences."""
    return sum(len(words) for words, _ in tagged)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with labelled/ and english/")
    parser.add_argument("--score", action="store_true", help="score the pack as it is")
    parser.add_argument("--no-peers", action="store_true", help="build without training others again")
    parser.add_argument("--own-labels", type=Path, metavar="FOLDER", help="train with EWT's labels")
    parser.add_argument(
        "--held-out", nargs="+", metavar="GENRE[,GENRE]", help="score the recipe on genres left out"
    )
    options = parser.parse_args()
    if options.held_out:
        held_out(options.data, [genres.split(",") for genres in options.held_out])
    elif options.own_labels:
        build(options.data, folder=options.own_labels, own_labels=True)
    elif options.score:
        score(options.data, peers=False)
    else:
        build(options.data, folder=HOME / "models" / "tag", own_labels=False)
        score(options.data, peers=not options.no_peers)


if __name__ == "__main__":
    main()
