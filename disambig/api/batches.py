"""Batches of candidates: columns, joining, converting and taking rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import (
        LARGEST_NUMBER as LARGEST_NUMBER,
        CrossedColumns as CrossedColumns,
        DenseLists as DenseLists,
        JoinedRows as JoinedRows,
        PartRows as PartRows,
        SequenceRows as SequenceRows,
        canonical_rows as canonical_rows,
        check_finite as check_finite,
        check_numbers as check_numbers,
        convert as convert,
        has_own_labels as has_own_labels,
        normalised as normalised,
        own_columns as own_columns,
        restricted as restricted,
        segments as segments,
        used_columns as used_columns,
    )
    from disambig.features import join as join
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
