"""Tables of n-gram counts: looking up counts and building tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.counts import batches as batches, open_table as open_table, write_table as write_table
    from disambig.features import (
        CONTEXTS as CONTEXTS,
        NgramCounts as NgramCounts,
        context_room as _context_room,
        ngram_columns as ngram_columns,
    )

    context_room = _context_room
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
