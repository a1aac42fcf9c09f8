"""Batches of candidates: their columns, how they are joined, converted and cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import segments as segments
    from disambig.data.batches.conversions import convert as convert
    from disambig.data.batches.crossed_columns import CrossedColumns as CrossedColumns
    from disambig.data.batches.crossed_columns import own_columns as own_columns
    from disambig.data.batches.crossed_lists import CrossedLists as CrossedLists
    from disambig.data.batches.dense_lists import DenseLists as DenseLists
    from disambig.data.batches.feature_groups import normalised as normalised
    from disambig.data.batches.feature_groups import restricted as restricted
    from disambig.data.batches.feature_groups import used_columns as used_columns
    from disambig.data.batches.joined import JoinedRows as JoinedRows
    from disambig.data.batches.parts import PartRows as PartRows
    from disambig.data.batches.sequences import SequenceRows as SequenceRows
    from disambig.features.joining import join as join
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
