"""Contract of models that are not models of a task, such as parsers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import is_plain
from disambig.models import StandaloneModel, stored_format
from disambig.testing.checks import Check, collect_checks, require


def check_standalone(model: StandaloneModel, texts: Sequence[str]) -> list[Check]:
    """Return the checks of a model that `disambig_register_models` registers.

    Parameters
    ----------
    model : StandaloneModel
    texts : sequence of str
        At least two different texts with results.
    """
    return collect_checks(_StandaloneChecks(model, list(texts)))


@dataclass
class _StandaloneChecks:
    _model: StandaloneModel
    _texts: list[str]

    def describes_itself(self) -> None:
        formats = self._model.formats
        are_texts = isinstance(formats, tuple) and all(isinstance(name, str) and name for name in formats)
        require(are_texts and bool(formats), f"formats is {formats!r}: give a tuple of names")
        language, description = self._model.language, self._model.describe()
        require(isinstance(language, str) and bool(language), f"language is {language!r}")
        one_line = isinstance(description, str) and bool(description) and "\n" not in description
        require(one_line, f"describe() returned {description!r}: expected a line of text")

    def returns_one_json_list_per_text(self) -> None:
        records = self._model.records(self._texts)
        require(len(records) == len(self._texts), f"{len(records)} lists for {len(self._texts)} texts")
        for text, results in zip(self._texts, records, strict=True):
            require(bool(results), f"no result for {text!r}")
            require(all(map(is_plain, results)), f"the results for {text!r} cannot be written as JSON")

    def texts_do_not_affect_each_other(self) -> None:
        together = self._model.records(self._texts)
        for text, results in zip(self._texts, together, strict=True):
            (alone,) = self._model.records([text])
            require(alone == results, f"{text!r} has other results alone than with other texts")

    def empty_texts_have_no_results(self) -> None:
        require(self._model.records([]) == [], "records([]) is not []")
        require(self._model.records([""]) == [[]], 'records([""]) is not [[]]')
        (_, empty, _) = self._model.records([self._texts[0], "", self._texts[1]])
        require(empty == [], "an empty text among others has results")

    def n_best_keeps_the_number_of_results(self) -> None:
        one, several = (self._model.records(self._texts, n_best=n) for n in (1, 3))
        sizes = [[len(results) for results in records] for records in (one, several)]
        require(sizes[0] == sizes[1], "n_best changes the number of sentences or lines")

    def saved_model_gives_the_same_results(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "model"
            self._model.save(folder)
            name = stored_format(folder)
            require(name in self._model.formats, f"the format in header.json, {name!r}, is not in formats")
            again = type(self._model).load(folder)
            require(again.describe() == self._model.describe(), "the loaded model has another description")
            same = again.records(self._texts) == self._model.records(self._texts)
            require(same, "the loaded model gives other results")

    def damaged_folders_raise_user_errors(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            whole = Path(home) / "model"
            self._model.save(whole)
            for number, path in enumerate(sorted(path for path in whole.rglob("*") if path.is_file())):
                damaged = Path(home) / str(number)
                self._model.save(damaged)
                copy = damaged / path.relative_to(whole)
                copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
                self._require_error(damaged, f"{path.relative_to(whole)} is cut short")
            self._require_error(Path(home) / "nothing", "the folder does not exist")

    def _require_error(self, folder: Path, problem: str) -> None:
        try:
            loaded: Any = type(self._model).load(folder)
        except UserError:
            return
        except Exception as error:
            raise AssertionError(f"{problem}: {type(error).__name__}: {error}") from error
        raise AssertionError(f"{problem}, but it was loaded as {loaded.describe()!r}")
