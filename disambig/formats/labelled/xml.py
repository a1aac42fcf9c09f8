"""Labelled examples of corpora in XML: Senseval's lexical sample and NOAD-MASC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from disambig.files.telling import teller
from disambig.formats.labelled.contract import Source
from disambig.formats.labelled.example import Labelled
from disambig.formats.noad.files import ARCHIVES, is_archive
from disambig.formats.noad.reader import labelled_words, read_document, read_noad
from disambig.formats.senseval.reader import instances_of


@dataclass(frozen=True, slots=True)
class Senseval:
    """The instances of Senseval that have a sense."""

    elements = ("corpus", "lexelt")

    def read(self, source: Source) -> Iterable[Labelled]:
        """Return the examples (errors: `read_senseval`)."""
        found = instances_of(source.xml, source.path, strict=source.strict, tell=source.tell)
        return [instance.labelled() for instance in found if instance.senses]


@dataclass(frozen=True, slots=True)
class NoadMasc:
    """The words of NOAD-MASC that have a sense, of its archive or a single file."""

    suffixes = ARCHIVES
    elements = ("SimpleWsdDoc",)

    def read(self, source: Source) -> Iterable[Labelled]:
        """Return the examples (errors: `read_noad`)."""
        if is_archive(source.path):
            return read_noad(source.path, strict=source.strict, tell=source.tell).labelled()
        say = teller(strict=source.strict, tell=source.tell)
        document = read_document(source.xml, source.path, say)
        return list(labelled_words(document, {})) if document else []
