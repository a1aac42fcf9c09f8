"""Tables of n-gram counts: asking them, and building them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.counts.building.build import batches as batches
    from disambig.counts.building.write import write_table as write_table
    from disambig.counts.locate import open_table as open_table
    from disambig.features.counts.contexts import CONTEXTS as CONTEXTS
    from disambig.features.counts.contexts import room as _context_room
    from disambig.features.counts.ngram_counts import NgramCounts as NgramCounts
    from disambig.features.counts.ngram_counts import columns_of as columns_of

    context_room = _context_room
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
