"""Arrays: types, ragged arrays, mini-batches, look-up of keys, folders of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import HashVocabulary as HashVocabulary
    from disambig.data import Ragged as Ragged
    from disambig.data import join_offsets as join_offsets
    from disambig.data import minibatch as minibatch
    from disambig.data import offsets_from_sizes as offsets_from_sizes
    from disambig.data import row_owners as row_owners
    from disambig.data import row_ranks as row_ranks
    from disambig.data import take_rows as take_rows
    from disambig.files import HEADER as HEADER
    from disambig.files import ArrayFolder as ArrayFolder
    from disambig.files import digest_arrays as digest_arrays
    from disambig.type_aliases import Bools as Bools
    from disambig.type_aliases import Floats as Floats
    from disambig.type_aliases import Hashes as Hashes
    from disambig.type_aliases import Ints as Ints
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
