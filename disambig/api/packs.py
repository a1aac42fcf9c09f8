"""Packs: installed packages that bring models, and folders with what else parts of plugins read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.packs import Pack as Pack
    from disambig.packs import home_of as home_of
    from disambig.packs import pack as pack
    from disambig.packs import packs as packs
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
