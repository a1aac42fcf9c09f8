"""Labelled examples in XML: which corpus it is, its first element says."""

from __future__ import annotations

import re

from disambig.corpora.labelled_example import Labelled
from disambig.corpora.noad import labelled_words, read_document, read_noad
from disambig.corpora.noad_files import is_archive
from disambig.corpora.opening import without_compression
from disambig.corpora.senseval import instances_of, read_xml
from disambig.corpora.senseval_text import without_comments
from disambig.corpora.telling import Tell, teller
from disambig.errors import UserError

_FIRST = re.compile(r"<([A-Za-z][^<>\s]{0,40})")
_SENSEVAL = ("corpus", "lexelt")


def is_xml(path: str) -> bool:
    """Tell whether a file is read here, by its name."""
    return without_compression(path).lower().endswith(".xml") or is_archive(path)


def read_labelled_xml(
    path: str, *, encoding: str | None = None, strict: bool = False, tell: Tell | None = None
) -> list[Labelled]:
    """Read the instances of Senseval that have a sense, or the words of NOAD-MASC that do.

    Raises
    ------
    UserError
        D488 for what is broken (strict), D490 where nothing is found, D491 for XML of another kind, D493 and
        D494 for what is no such corpus, D469 for bytes that are not of the encoding that is named, D300 to
        D308 for what cannot be read.
    """
    if is_archive(path):
        return read_noad(path, strict=strict, tell=tell).labelled()
    source = without_comments(read_xml(path, encoding=encoding, tell=tell))
    first = _FIRST.search(source)
    root = first[1] if first else ""
    if root == "SimpleWsdDoc":
        document = read_document(source, path, teller(strict=strict, tell=tell))
        return list(labelled_words(document, {})) if document else []
    if root not in _SENSEVAL:
        raise UserError("D491", path=path, seen=f"<{root}>" if root else "no element")
    found = instances_of(source, path, strict=strict, tell=tell)
    return [instance.labelled() for instance in found if instance.senses]
