"""Packs: installed packages that bring models, and folders with what else parts of plugins read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.files.folders import saved_folder as saved_folder
    from disambig.files.saving import writing as writing
    from disambig.files.swapping import restore as restore
    from disambig.packs import Pack as Pack
    from disambig.packs import home_of as home_of
    from disambig.packs import pack as pack
    from disambig.packs import packs as packs
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
