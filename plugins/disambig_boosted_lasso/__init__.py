"""Lasso-type rerankers after Gao, Suzuki and Yu (COLING-ACL 2006), and kana-to-kanji conversion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kana.conversion import Conversion


def load_converter(
    name: str | Path = "disambig_ja",
    *,
    domain: str | None = None,
    rerank: bool = True,
    numbers: str | None = None,
) -> Conversion:
    """Return a kana-to-kanji converter: see `kana.conversion.Conversion.load`."""
    from .kana.conversion import Conversion

    return Conversion.load(name, domain=domain, rerank=rerank, numbers=numbers)
