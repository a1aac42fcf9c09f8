"""Builds the English pack: count, train, score, write the card.

    python corpora/disambig_en/build.py DATA

DATA is a directory with ``english/DOMAIN.train.txt.xz`` (counted) and ``english/DOMAIN.heldout.txt.xz``
(learned from, tuned on and tested on, by document; never counted), one paragraph a line.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from card import write_card

from disambig.config import read_config, resolve
from disambig.counts.build import count_texts
from disambig.counts.counter import NgramCounter
from disambig.counts.table import CountTable
from disambig.counts.write import write_table
from disambig.evaluation.evaluate import evaluate
from disambig.model.model import Model
from disambig.model.store import save_model
from disambig.text.hashing import hash_word
from disambig.text.words import Words
from disambig.training.splits import split
from disambig.training.trainer import train

HOME = Path(__file__).parent
DOMAINS = ("fiction", "science", "speeches", "textbooks", "health", "technical", "government", "mixed")
TASKS = ("preposition", "spelling")
VERSION = "0.1.0"
GiB = 1 << 30

AROUND_CANDIDATES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 6}
"""Least count, by order, of an n-gram that contains a candidate."""
ELSEWHERE = {1: 20, 2: 30, 3: 60}
"""Least count of the others: what users' own confusion sets are decided by."""
FLAGS_PER_1000 = {"preposition": 0.4, "spelling": 0.2}
"""Default rates; together they stay below one flag in 1,000 words."""
RATES = (0.3, 1.0, 4.0)


def read(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of some domains."""
    for domain in domains:
        with lzma.open(data / "english" / f"{domain}.{part}.txt.xz", "rt", encoding="utf8") as lines:
            yield from (line.rstrip("\n") for line in lines)


def candidates() -> tuple[list[int], list[tuple[int, int]]]:
    """Return the hashes of all candidates of one word, and of those of two."""
    words, pairs = set(), set()
    for task in TASKS:
        built = resolve({"task": read_config(HOME / f"{task}.cfg")["task"]})["task"]
        for group in built.groups:
            for candidate in group.candidates:
                split_candidate = [hash_word(word) for word in candidate.split(" ")]
                if len(split_candidate) == 1:
                    words.add(split_candidate[0])
                else:
                    pairs.add((split_candidate[0], split_candidate[1]))
    return sorted(words), sorted(pairs)


def count(data: Path, domains: Sequence[str], path: Path, *, everything: bool = False) -> None:
    """Count the training text of `domains` and write the pruned table."""
    tokenisation = Words()
    words, pairs = candidates()
    least = {n: 1 for n in range(1, 6)} if everything else AROUND_CANDIDATES
    near = NgramCounter(tokenisation.name, keep_words=words, keep_pairs=pairs, memory=6 * GiB)
    far = NgramCounter(tokenisation.name, orders=3, memory=4 * GiB)
    with near, far:
        count_texts(near, read(data, "train", domains), tokenisation)
        chunks = [part[:2] for part in near.partitions(min_counts=least)]
        if not everything:
            count_texts(far, read(data, "train", domains), tokenisation)
            chunks += [part[:2] for part in far.partitions(min_counts=ELSEWHERE)]
    keys, first = np.unique(np.concatenate([keys for keys, _ in chunks]), return_index=True)
    counts = np.concatenate([counts for _, counts in chunks])[first]
    write_table(
        path,
        [(keys, counts)],
        tokenisation=tokenisation.name,
        record="compact",
        info={
            "licence": "figures derived from text under the licences named in the pack's card",
            "sources": [{"domain": domain, "file": f"english/{domain}.train.txt.xz"} for domain in domains],
            "min_counts": {
                "around candidates": {str(n): c for n, c in least.items()},
                "elsewhere": {str(n): c for n, c in ELSEWHERE.items()},
            },
            "ngrams": {"seen": near.totals, "distinct around candidates": near.distinct},
        },
        force=True,
    )


def learn(
    task: str, data: Path, domains: Sequence[str], counts: str, *, examples: int | None = None
) -> Model:
    """Train the model of one task on the held-out text of `domains`."""
    config = {name: section for name, section in read_config(HOME / f"{task}.cfg").items()}
    config["extractors"]["counts"]["counts"] = counts
    if examples is not None and "words" in config["extractors"]:
        config["extractors"]["words"]["examples"] = examples
    texts = split(read(data, "heldout", domains))
    if "words" in config["extractors"]:
        texts["background"] = list(read(data, "train", domains))
    return train(
        resolve(config),
        texts,
        name=f"disambig_en/{task}",
        version=VERSION,
        config=config,
        flags_per_1000=FLAGS_PER_1000[task],
        progress=_say,
    )


def _say(stage: str, done: int, total: int) -> None:
    if done == 0 or done + 1 == total:
        print(f"  {time.strftime('%H:%M:%S')} {stage} {done + 1}/{total}", file=sys.stderr, flush=True)


def score(model: Model, data: Path, domains: Sequence[str]) -> dict[str, Any]:
    """Score a model on the test part of the held-out text of `domains`, and of each."""
    figures = {}
    for name, chosen in [("all", tuple(domains)), *((domain, (domain,)) for domain in domains)]:
        texts = split(read(data, "heldout", chosen))["test"]
        figures[name] = evaluate(model, texts, rates=RATES)
    return figures


def build(data: Path) -> None:
    """Build the pack in place."""
    table = HOME / "english.counts"
    count(data, DOMAINS, table)
    (HOME / "pack.json").write_text(
        json.dumps(
            {
                "name": "disambig_en",
                "version": VERSION,
                "language": "en",
                "counts": table.name,
                "models": {task: f"models/{task}" for task in TASKS},
            },
            indent=1,
        )
        + "\n",
        encoding="utf8",
    )
    figures: dict[str, Any] = {"scores": {}}
    for task in TASKS:
        model = learn(task, data, DOMAINS, "disambig_en")
        save_model(model, HOME / "models" / task, force=True)
        figures["scores"][task] = score(model, data, DOMAINS)
        _save(figures)


def leave_out(data: Path, domains: Sequence[str]) -> None:
    """Score on each of `domains` a pack that was counted, trained and tuned without it."""
    figures = _figures()
    with tempfile.TemporaryDirectory() as directory:
        for domain in domains:
            others = [other for other in DOMAINS if other != domain]
            table = Path(directory) / "others.counts"
            count(data, others, table)
            for task in TASKS:
                model = learn(task, data, others, str(table), around=4000)
                texts = split(read(data, "heldout", [domain]))["test"]
                left_out = figures.setdefault("left_out", {}).setdefault(task, {})
                left_out[domain] = evaluate(model, texts, rates=RATES)
                _save(figures)


def all_counts(data: Path) -> None:
    """Score the models with every n-gram around candidates in the table, as the bound of any pruning."""
    figures = _figures()
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "all.counts"
        count(data, DOMAINS, table, everything=True)
        figures["all_counts"] = {"bytes": table.stat().st_size, "n_ngrams": CountTable.open(table).n_ngrams}
        for task in TASKS:
            model = learn(task, data, DOMAINS, str(table))
            figures["all_counts"][task] = score(model, data, DOMAINS)
            _save(figures)
        for name, counts in (("pack", "disambig_en"), ("all counts", str(table))):
            model = learn("preposition", data, DOMAINS, counts, everywhere=True)
            figures.setdefault("every_occurrence", {})[name] = score(model, data, DOMAINS)
            _save(figures)


def _figures() -> dict[str, Any]:
    path = HOME / "figures.json"
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def _save(figures: dict[str, Any]) -> None:
    (HOME / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf8")
    write_card(HOME, figures)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with english/*.txt.xz")
    parser.add_argument(
        "--leave-out", nargs="*", metavar="DOMAIN", help="score without these domains (all: none given)"
    )
    parser.add_argument("--all-counts", action="store_true", help="score with an unpruned table")
    options = parser.parse_args()
    if options.leave_out is not None:
        leave_out(options.data, options.leave_out or DOMAINS)
    elif options.all_counts:
        all_counts(options.data)
    else:
        build(options.data)


if __name__ == "__main__":
    main()
