"""What the texts of candidates hold: how often each n-gram of words, or of characters, is in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.features.lists.as_rows import as_features, columns_named, own_lists
from disambig.features.rows.spellings import Spellings, spellings_of
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

UNITS = ("words", "characters")
MOST_ORDER = 5
_EDGE = ("<s>", "</s>")


@dataclass(frozen=True, slots=True, eq=False)
class TextNgrams:
    """Extractor of one sparse row a candidate: the counts of the n-grams of its text.

    Parameters
    ----------
    unit : str
        ``"words"``, between white space, or ``"characters"``.
    order : int
        N-grams of one to so many, 1 to 5; those of two or more may reach past the ends of the text.
    least : int
        N-grams that fewer lists have in training, in some of their candidates and not in all, are left out:
        what all candidates of a list share tells none of them from another.

    Raises
    ------
    UserError
        D452 or D601 for settings that make no sense.
    """

    unit: str = "words"
    order: int = 2
    least: int = 2
    names: Spellings | None = no_setting(None)
    describes: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UserError("D452", setting="TextNgrams.unit", value=self.unit)
        for name, value in (("order", self.order), ("least", self.least)):
            if not isinstance(value, int) or value < 1 or (name == "order" and value > MOST_ORDER):
                raise UserError("D452", setting=f"TextNgrams.{name}", value=value)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TextNgrams:
        """Keep the n-grams that tell candidates of enough lists from one another."""
        own = own_lists(instances, self)
        seen: Counter[str] = Counter()
        for i in range(len(own)):
            texts = [Counter(self._ngrams(text)) for text in own.of_instance(i)]
            every = set().union(*texts)
            seen.update(ngram for ngram in every if len({text[ngram] for text in texts}) > 1)
        kept = sorted(ngram for ngram, n in seen.items() if n >= self.least)
        return replace(self, names=Spellings.of(kept))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError where the extractor was not fitted."""
        from scipy.sparse import csr_array

        if self.names is None:
            raise ValueError("no n-gram is known yet: fit the extractor first")
        own = own_lists(instances, self)
        names = list(self.names)
        number = {name: i for i, name in enumerate(names)}
        columns: list[int] = []
        values: list[float] = []
        starts, asked = [0], []
        for text in own.texts:
            counted = Counter(self._ngrams(text))
            row = sorted((number[ngram], n) for ngram, n in counted.items() if ngram in number)
            columns += [column for column, _ in row]
            values += [float(n) for _, n in row]
            starts.append(len(columns))
            asked.append(len(counted))
        shape = len(own.texts), len(names)
        rows = csr_array((np.array(values, np.float64), np.array(columns, np.int64), np.array(starts)), shape)
        kinds = np.zeros(len(names), np.int32)
        what = columns_named(names, kinds, (f"n-grams of {self.unit}",))
        return as_features(rows, what, instances, group, np.array(asked, np.int64))

    def state(self) -> Arrays:
        """Return the n-grams."""
        if self.names is None:
            return {}
        return {"n": np.array([len(self.names)]), **self.names.state()}

    def from_state(self, arrays: Arrays) -> TextNgrams:
        """Return an extractor that knows the n-grams of `state`; ValueError where arrays do not fit."""
        names = spellings_of(arrays, int(arrays["n"][0])) if arrays else None
        return replace(self, names=names)

    def _ngrams(self, text: str) -> Iterator[str]:
        units = text.split() if self.unit == "words" else list(text)
        yield from units
        between = " " if self.unit == "words" else ""
        padded = [_EDGE[0], *units, _EDGE[1]]
        for n in range(2, self.order + 1):
            for start in range(len(padded) - n + 1):
                yield between.join(padded[start : start + n])
