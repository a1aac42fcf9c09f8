"""Arrays: types, ragged arrays, mini-batches, look-up of keys, folders of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import (
        HashVocabulary as HashVocabulary,
        Ragged as Ragged,
        join_offsets as join_offsets,
        minibatch as minibatch,
        offsets_from_sizes as offsets_from_sizes,
        row_owners as row_owners,
        row_ranks as row_ranks,
        take_rows as take_rows,
    )
    from disambig.files import HEADER as HEADER, ArrayFolder as ArrayFolder, digest_arrays as digest_arrays
    from disambig.type_aliases import Bools as Bools, Floats as Floats, Hashes as Hashes, Ints as Ints
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
