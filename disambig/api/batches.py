"""Batches of candidates: columns, joining, converting and taking rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import CrossedColumns as CrossedColumns
    from disambig.data import DenseLists as DenseLists
    from disambig.data import JoinedRows as JoinedRows
    from disambig.data import PartRows as PartRows
    from disambig.data import SequenceRows as SequenceRows
    from disambig.data import convert as convert
    from disambig.data import has_own_labels as has_own_labels
    from disambig.data import normalised as normalised
    from disambig.data import own_columns as own_columns
    from disambig.data import restricted as restricted
    from disambig.data import segments as segments
    from disambig.data import used_columns as used_columns
    from disambig.features import join as join
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
