"""From scores of rows to the rows that win, beyond plain lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode.chain import Chain as Chain
    from disambig.decode.chain_scorer import ChainScorer as ChainScorer
    from disambig.decode.objectives import from_the_least as from_the_least
    from disambig.decode.objectives import structures_of as structures_of
    from disambig.decode.online import averaged_perceptron as averaged_perceptron
    from disambig.decode.online import subgradient as subgradient
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
