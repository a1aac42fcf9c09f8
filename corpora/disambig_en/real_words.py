"""Train the models of articles, forms, slips and doubled words, and count the n-grams of all words for them.

    python corpora/disambig_en/real_words.py DATA [--count] [TASK ...]

With ``--count``, `words/ngrams.counts` is counted first. The model of words in context must already exist.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from disambig_real_words import ENGLISH_SOUNDS, read_sounds
from disambig_variance_svm import PACK_DOMAINS
from material import HOME, VERSION, read_people, without_dialect_paragraphs

from disambig.config import read_config, resolve
from disambig.counts import NgramCounter, batches, write_table
from disambig.experiments import log_progress
from disambig.formats import Clean, Fix
from disambig.models import Model, save_model
from disambig.text import Words
from disambig.training import split, train

TASKS = {"article": "Article", "form": "Form", "slip": "Slip", "doubled": "Doubled"}
"""The task of each model."""
SOUND_EXTRACTOR = {"sound": {"@disambig_extractors": "real_words.Sound.v1"}}
"""Additional extractor of the model of articles."""
TABLE = HOME / "words" / "ngrams.counts"
MIN_COUNTS = {1: 4, 2: 5, 3: 6, 4: 8, 5: 12}
"""Minimum count of the n-grams of all words, by order."""
EVERY = 6
"""Weights are trained on every `EVERY`-th paragraph of held-out text: there are only sixteen."""
CERTAIN_ODDS = 4.0
"""Log-odds of a sound above which "a" for "an", or the reverse, is certainly a mistake."""
_ARTICLE = re.compile(r"(?<![\w'`/.-])([Aa]n?)(?= )")
FLAGS_PER_1000 = {"article": 0.17, "form": 0.3, "slip": 0.1, "doubled": 0.05}
"""Default rates (see the card)."""


def count_words(data: Path) -> None:
    """Count the n-grams of all words in the training text."""
    tokenisation = Words()
    with NgramCounter(tokenisation.name, orders=5, memory=6 << 30) as counter:
        for batch in batches(without_dialect_paragraphs(data, "train", PACK_DOMAINS)):
            counter.add(tokenisation(batch))
        write_table(
            TABLE,
            [part[:2] for part in counter.partitions(min_counts=MIN_COUNTS)],
            tokenisations=[tokenisation.name],
            record="small",
            info={
                "licence": "figures derived from text under the licences named in the pack's card",
                "sources": [{"name": f"english/{domain}.train.txt.xz"} for domain in PACK_DOMAINS],
                "least": {str(n): minimum for n, minimum in MIN_COUNTS.items()},
            },
            force=True,
        )


def sounds_right(text: str) -> bool:
    """Return True if no article of a text certainly contradicts the sound of the next word."""
    sounds = read_sounds(ENGLISH_SOUNDS)
    for match in _ARTICLE.finditer(text):
        odds = sounds.article_log_odds(text, match.end())  # of "an"
        if not (odds > -CERTAIN_ODDS if match[1].lower() == "an" else odds < CERTAIN_ODDS):
            return False
    return True


def learn_real_words(name: str, data: Path, people: tuple[list[Fix], list[Clean]] | None = None) -> Model:
    """Train the model of one task on held-out text and on the mistakes that people made.

    `people` are the mistakes and clean paragraphs; by default those of both training parts.
    """
    config = dict(read_config(HOME / "real_words.cfg"))
    config["task"]["@disambig_tasks"] = f"real_words.{TASKS[name]}.v1"
    if name == "article":
        config["extractors"] = {**config["extractors"], **SOUND_EXTRACTOR}
    texts = [
        text
        for number, text in enumerate(without_dialect_paragraphs(data, "heldout", PACK_DOMAINS))
        if number % EVERY == 0
    ]
    mistakes, clean = people or read_people(data, "train")
    if name == "article":  # an uncorrected mistake would be taken as correct
        clean = [paragraph for paragraph in clean if sounds_right(paragraph.text)]
    return train(
        resolve(config),
        split(texts),
        name=f"disambig_en/{name}",
        version=VERSION,
        config=config,
        flags_per_1000=FLAGS_PER_1000[name],
        max_examples=20_000,
        mistakes=mistakes,
        clean=clean,
        progress=log_progress,
    )


def main(
    data: Path, tasks: Annotated[list[str] | None, typer.Argument()] = None, count: bool = False
) -> None:
    """Train the models of some tasks, by default all; with --count the n-grams of all words are counted."""
    if count:
        count_words(data)
    for name in tasks or TASKS:
        save_model(learn_real_words(name, data), HOME / "models" / name, force=True)


if __name__ == "__main__":
    typer.run(main)
