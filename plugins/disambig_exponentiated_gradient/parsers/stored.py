"""Parsers in folders, read without trust.

parser/
    header.json     format, language, settings, what it learned from, digest
    grammar.npz     what was counted in the treebank
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.features import read_stored, write_stored
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar

from .parser import LONGEST, Parser

FORMAT = "disambig.treebank_parser.v1"
FILE, HEADER = "grammar.npz", "header.json"
_TEXTS = ("symbols", "labels", "words", "words_names", "looks", "looks_names")
_NAMES = (
    *("settings", "binary", "chains", "unchanged", "lexical", "words_counts", "looks_counts"),
    *(name + ending for name in _TEXTS for ending in ("", "_sizes")),
)


def save_parser(parser: Parser, folder: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a parser into a folder, which is made.

    Parameters
    ----------
    parser : Parser
    folder : path
        What lies there of another parser is replaced.
    about : mapping, optional
        What people want to know of it, such as its sentences and its F1; plain values.
    """
    arrays = parser.grammar.state()
    header = {
        "format": FORMAT,
        "language": parser.language,
        "threshold": parser.threshold,
        "horizontal": parser.grammar.binarisation.horizontal,
        "vertical": parser.grammar.binarisation.vertical,
        "about": dict(about or {}),
        "digest": _digest(arrays),
    }
    write_stored(Path(folder), FILE, header, **arrays)


def read_parser(folder: str | Path, *, max_length: int = LONGEST) -> Parser:
    """Read the parser in a folder.

    Raises
    ------
    UserError
        D900 where a file is missing, is damaged or is none of ours; D635 for arrays that hold no grammar.
    """
    folder = Path(folder)
    header, found = read_stored(folder, FILE, _NAMES, code="D900")
    arrays = dict(zip(_NAMES, found, strict=True))
    try:
        if not isinstance(header, Mapping) or header.get("format") != FORMAT:
            raise ValueError(f"it says no format {FORMAT}")
        if header.get("digest") != _digest(arrays):
            raise ValueError("header and arrays do not belong together, or are damaged")
        language, threshold = header["language"], header["threshold"]
        if not isinstance(language, str) or not isinstance(threshold, float) or not 0 <= threshold < 1:
            raise ValueError("its language or its threshold cannot be")
    except (ValueError, LookupError, TypeError) as problem:
        raise UserError("D900", path=folder, problem=problem) from None
    return Parser(TreebankGrammar.from_state(arrays), language, threshold, max_length)


def is_parser(folder: str | Path) -> bool:
    """Return whether a folder holds a parser, or what looks like one."""
    return (Path(folder) / FILE).is_file() and (Path(folder) / HEADER).is_file()


def is_parser_alone(folder: str | Path) -> bool:
    """Return whether a folder holds what looks like a parser, and nothing else."""
    return is_parser(folder) and {path.name for path in Path(folder).iterdir()} == {FILE, HEADER}


def digest_of(parser: Parser) -> str:
    """Return what tells the grammar of a parser from any other one."""
    return _digest(parser.grammar.state())


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of arrays with their names, kinds and shapes."""
    found = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
