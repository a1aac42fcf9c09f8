"""Packs (installed packages with models), and folders of data that entries of plugins read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.files import restore as restore, saved_folder as saved_folder, writing as writing
    from disambig.models import (
        StandaloneModel as StandaloneModel,
        load_standalone as load_standalone,
        standalone_card as standalone_card,
    )
    from disambig.packs import (
        Pack as Pack,
        PackFolder as PackFolder,
        find_pack as find_pack,
        model_folder as model_folder,
        pack as pack,
        packs as packs,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
