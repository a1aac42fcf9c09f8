"""Models and settings of a server: what is decided, at which rates, and which words are left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from disambig.checking.directives import plain_word
from disambig.checking.loading import Checker as Loaded
from disambig.checking.loading import load_checker
from disambig.configuration.settings import Settings
from disambig.server.worker import Rates

if TYPE_CHECKING:
    from disambig.batch.sources import Annotate
    from disambig.model.model import Model

PICKY = 3.0
"""So many times as many false alarms are accepted where a client asks for more."""


@dataclass(frozen=True, slots=True)
class Checker:
    """What a server checks with.

    Attributes
    ----------
    loaded : Loaded
        The models that correct words, and what was measured of them.
    rates : mapping from task to float
        Flags per 1,000 correct words that hold where a request asks for none.
    ignore : frozenset of str
        Words that are left alone, as `plain_word` returns them.
    max_flags_per_1000 : float or None
        Most flags for 1,000 words of a text.
    """

    loaded: Loaded
    rates: Rates
    ignore: frozenset[str] = frozenset()
    max_flags_per_1000: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Checker:
        """Load the models that settings ask for.

        Raises
        ------
        UserError
            As for `disambig.checking.loading.load_checker`, and for the files of words to leave alone.
        """
        from disambig.model.rates import rates_of

        loaded = load_checker(settings)
        assert isinstance(loaded, Loaded)
        asked = rates_of(loaded.models, loaded.rates)
        rates = {each.task.name: asked.get(each.task.name, each.flags_per_1000) for each in loaded.models}
        ignore = frozenset(map(plain_word, settings.words_to_ignore()))
        return cls(loaded, rates, ignore, settings.max_flags_per_1000)

    @property
    def models(self) -> Mapping[str, Model]:
        """The models by task."""
        return {each.task.name: each for each in self.loaded.models}

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the models, such as ``"en"``, each once."""
        return tuple(dict.fromkeys(each.language or "en" for each in self.models.values()))

    @property
    def flags_per_1000(self) -> float:
        """All rates together."""
        return sum(self.rates.values())

    def rates_for(self, flags_per_1000: float | None = None, *, picky: bool = False) -> Rates:
        """Return the rates of a request.

        Parameters
        ----------
        flags_per_1000 : float, optional
            Of all tasks together; by default what the settings say.
        picky : bool
            Whether more is to be shown; nothing where the settings say how many flags are to be right, which
            a rate would take the place of.

        Raises
        ------
        UserError
            D401 for a number that is no rate.
        """
        from disambig.model.rates import rates_of

        rates = self.rates
        if flags_per_1000 is not None:
            rates = rates_of(list(self.models.values()), flags_per_1000)
        elif self.loaded.least is not None:
            return rates
        return {task: PICKY * rate for task, rate in rates.items()} if picky else rates

    def annotate(self, rates: Rates) -> Annotate:
        """Return the function that decides texts at some rates.

        How many flags are to be right, where settings say so, holds at the rates of the settings alone: a
        request that asks for others asks for them in its place.
        """
        return replace(self.loaded, rates=rates, least=self.loaded.least if rates == self.rates else None)

    def warm_up(self, texts: Sequence[str]) -> None:
        """Decide some texts, so that nobody waits for what is compiled or opened on first use."""
        decide = self.annotate(self.rates)
        decide(texts[:1])
        decide(texts)
