"""Models as one checker: what `disambig check` would flag with them, at any rate of false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from disambig.batch.annotation import BATCH
from disambig.batch.sources import ModelSource
from disambig.checking.flags import flags_of
from disambig.data.decisions import Decisions
from disambig.errors import UserError
from disambig.evaluation.evaluate import MOST_FLAGS
from disambig.evaluation.mistakes.edits import Edit
from disambig.model.annotate import decide_each
from disambig.model.model import Model
from disambig.model.rates import Asked, rates_of
from disambig.packs import available
from disambig.text.markup import read_markup
from disambig.types import Flags

JOINS = "+"
"""Between the names of models that are one checker."""


@dataclass(frozen=True, slots=True)
class Models:
    """Models that correct words, each of a task of its own.

    Raises
    ------
    UserError
        D333 for two models of one task.
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        first: dict[str, str] = {}
        for model in self.models:
            task = model.task.name
            if task in first:
                raise UserError("D333", first=first[task], second=model.name, task=task)
            first[task] = model.name

    @classmethod
    def named(cls, name: str = "") -> Models:
        """Return the checker of the models that a name joins with ``+``; without one the installed ones.

        Raises
        ------
        UserError
            D323 where none is installed, D404 for an unknown one, D644 for one that chooses labels.
        """
        names = [name] if not name or name in available() else _joined(name)
        source = ModelSource(models=tuple(filter(None, names)))
        return cls(tuple(source.correcting_models()))

    @property
    def name(self) -> str:
        """The names and versions of the models."""
        return f" {JOINS} ".join(f"{model.name} {model.version}" for model in self.models)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks of the models."""
        return tuple(model.task.name for model in self.models)

    def limits(self, flags_per_1000: Asked = None) -> dict[str, float]:
        """Return the limit of each task at a rate of false alarms, or at one a task (see `rates`).

        Raises
        ------
        UserError
            D401 for an impossible rate, D950 for one of a task that is not there.
        """
        rates = self.rates(flags_per_1000)
        return {model.task.name: _judge(model).limit(rates[model.task.name]) for model in self.models}

    def rates(self, flags_per_1000: Asked = None) -> dict[str, float]:
        """Return the rate of false alarms of each task.

        Parameters
        ----------
        flags_per_1000 : float or mapping from task to float, optional
            Of all models together, or of some tasks; by default each model's own.
        """
        own = {model.task.name: _judge(model).flags_per_1000 for model in self.models}
        return own | rates_of(self.models, flags_per_1000)

    def edits(self, texts: Sequence[str]) -> list[list[Edit]]:
        """Return what could be flagged in each text, at the highest rate that the models know.

        Edits may overlap: which of them stands depends on the limits (see `Trial.at`).
        """
        found: list[list[Edit]] = []
        for stretch in stretches(texts):
            found += edits_of(decide_each(stretch, self.models, flags_per_1000=MOST_FLAGS), stretch)
        return found


def edits_of(decisions: Sequence[Decisions], texts: Sequence[str]) -> list[list[Edit]]:
    """Return the flags of each text as edits, as sure as their probabilities are.

    Parameters
    ----------
    decisions : sequence of Decisions
        Of each task, over all the texts.
    """
    found = []
    for i, text in enumerate(texts):
        of_text = [of_task.of_document(i) for of_task in decisions]
        checked = flags_of("", text, read_markup("", text), of_text)
        found.append([Edit(*flag.edit, flag.task, flag.probability) for flag in checked.flags])
    return found


def stretches(texts: Sequence[str], *, size: int = BATCH) -> Iterator[Sequence[str]]:
    """Yield the texts in order, so many together that they have about `size` characters."""
    first, held = 0, 0
    for index, text in enumerate(texts):
        held += len(text)
        if held >= size:
            yield texts[first : index + 1]
            first, held = index + 1, 0
    if first < len(texts):
        yield texts[first:]


def _joined(name: str) -> list[str]:
    """Return the names that ``+`` joins; a directory may have one in its name."""
    return [name] if Path(name).is_dir() else name.split(JOINS)


def _judge(model: Model) -> Flags:
    assert isinstance(model.judge, Flags)
    return model.judge
