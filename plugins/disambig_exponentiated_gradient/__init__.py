"""Exponentiated-gradient training of global linear models, after Collins, and a parser trained with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .parser.parser import Parser


def load_parser(name: str | Path = "disambig_en_parser", *, max_length: int = 150) -> Parser:
    """Return a parser for text: see `parser.Parser`."""
    from .parser.parser import Parser

    return Parser.load(name, max_length=max_length)
