"""Build the English pack: count, train, score and write the card (about three hours).

    python corpora/disambig_en/build.py DATA

Everything but the encoder is built. The encoder (`corpora/disambig_en_encoder`) must already be there: the
second looks need it. To train a new one, the order is: models, their proposals (`proposals.py`), the encoder,
which learns from these, and second looks (`second_looks.py`).

DATA is a directory with ``english/DOMAIN.train.txt.xz`` (counted) and ``english/DOMAIN.heldout.txt.xz`` (for
training, tuning and testing, split by document; never counted), one paragraph per line, ``labelled/qa-it``
and ``labelled/ewt`` for "it", and ``labelled/fixes`` with mistakes that people made.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from contexts import learn_words
from counting import MIN_COUNTS, count
from disambig_variance_svm import PACK_DOMAINS
from learning import learn, learn_it
from material import CORRECTING, HOME, TASKS, VERSION
from real_words import TASKS as REAL_WORDS, count_words, learn_real_words
from scoring import (
    all_counts,
    curve,
    leave_out,
    leave_out_kenlm,
    measure_rules,
    measure_trust,
    score_it,
    score_pack,
    score_people,
)
from second_looks import fit_second_looks

from disambig.models import save_model


def build(data: Path) -> None:
    """Build the pack in place."""
    # the counts, and the file that makes the folder a pack: models refer to it by its name
    table = HOME / "english.counts"
    count(data, PACK_DOMAINS, table, min_counts=MIN_COUNTS, with_it=True)
    pack = {
        "name": "disambig_en",
        "version": VERSION,
        "language": "en",
        "counts": table.name,
        "models": {task: f"models/{task}" for task in (*TASKS, *REAL_WORDS)},
        "folders": {"words": "words", "encoder": "encoder"},
    }
    (HOME / "pack.json").write_text(json.dumps(pack, indent=1) + "\n", encoding="utf8")

    # the models over counts, the model of words in context, and the models that use both
    for task in CORRECTING:
        save_model(learn(task, data, PACK_DOMAINS, "disambig_en"), HOME / "models" / task, force=True)
    build_it(data)
    learn_words(data, PACK_DOMAINS).save(HOME / "words")
    count_words(data)
    for task in REAL_WORDS:
        save_model(learn_real_words(task, data), HOME / "models" / task, force=True)

    # second looks at what the models propose in text that none was trained on; then the figures
    fit_second_looks(data)
    score_pack(data)
    score_people(data, ["dev"])
    measure_trust(data)
    measure_rules(data)


def build_it(data: Path) -> None:
    """Train and score the model of "it"; the table of counts and the encoder must be there."""
    save_model(learn_it(data, "disambig_en"), HOME / "models" / "it", force=True)
    score_it(data)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with english/*.txt.xz")
    parser.add_argument(
        "--leave-out", nargs="*", metavar="DOMAIN", help="score without these domains (all: none given)"
    )
    parser.add_argument(
        "--leave-out-kenlm", nargs="*", metavar="DOMAIN", help="score KenLM at the same places without these"
    )
    parser.add_argument("--it", action="store_true", help='train and score the model of "it" alone')
    parser.add_argument("--score", action="store_true", help="score the pack as it is")
    parser.add_argument("--people", nargs="+", metavar="PART", help="score on real mistakes: dev, test")
    parser.add_argument("--trust", action="store_true", help="measure how often flags are right")
    parser.add_argument("--rules", action="store_true", help="measure how often flags of each rule are right")
    parser.add_argument("--curve", action="store_true", help="score tables of other sizes")
    parser.add_argument("--all-counts", action="store_true", help="score with an unpruned table")
    options = parser.parse_args()
    if options.leave_out is not None:
        leave_out(options.data, options.leave_out or PACK_DOMAINS)
    elif options.leave_out_kenlm is not None:
        leave_out_kenlm(options.data, options.leave_out_kenlm or PACK_DOMAINS)
    elif options.all_counts:
        all_counts(options.data)
    elif options.people:
        score_people(options.data, options.people)
    elif options.trust:
        measure_trust(options.data)
    elif options.rules:
        measure_rules(options.data)
    elif options.it:
        build_it(options.data)
    elif options.score:
        score_pack(options.data)
        score_it(options.data)
    elif options.curve:
        curve(options.data)
    else:
        build(options.data)


if __name__ == "__main__":
    main()
