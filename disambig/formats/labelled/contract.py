"""What a reader of labelled examples is, and the file that it gets. No format lives here.

A reader says which files it reads: those whose names end in one of its `suffixes`, or XML whose first element
is one of its `elements`. It yields a `Labelled` for each example; what is broken it tells `Source.broken`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from disambig.files.decoding import decoded
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.files.telling import Tell, teller
from disambig.formats.labelled.example import Labelled
from disambig.formats.senseval.reader import read_xml
from disambig.formats.senseval.text import without_comments

UTF_8 = "utf-8"
_FIRST = re.compile(r"<([A-Za-z][^<>\s]{0,40})")


class Source:
    """A file of labelled examples, and how it is to be read.

    Attributes
    ----------
    path : str
    encoding : str or None
        The one that the user named, if any.
    strict : bool
        Whether what is broken is an error; else it is left out.
    tell : callable or None
        Gets a line for the user.
    """

    def __init__(
        self, path: str, *, encoding: str | None = None, strict: bool = False, tell: Tell | None = None
    ) -> None:
        self.path, self.encoding, self.strict, self.tell = path, encoding, strict, tell

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file, unpacked as its name says.

        Raises
        ------
        UserError
            D300 to D308 for what cannot be read.
        """
        try:
            with open_bytes(self.path) as stream:
                data: bytes = stream.read()
        except READ_ERRORS as problem:
            raise read_error(self.path, problem) from problem
        return data

    @cached_property
    def text(self) -> str:
        """The text of the file, without a byte order mark; UTF-8 unless the user named another encoding.

        Raises
        ------
        UserError
            D469 for bytes that are no text, D303 for what is binary, and those of `data`.
        """
        return decoded(self.data, self.path, self.encoding or UTF_8)

    @cached_property
    def xml(self) -> str:
        """The text of an XML file without its comments, in the encoding that is named or that it declares.

        Raises
        ------
        UserError
            D493 for too large a file, D469 for bytes that are not of the encoding that is named, D300 to D308
            for what cannot be read.
        """
        return without_comments(read_xml(self.path, encoding=self.encoding, tell=self.tell))

    @property
    def element(self) -> str:
        """The name of the first element of an XML file; empty where there is none."""
        first = _FIRST.search(self.xml)
        return first[1] if first else ""

    def broken(self, where: str, problem: str) -> None:
        """Tell of a broken example, which is left out, or raise.

        Parameters
        ----------
        where : str
            File and line.
        problem : str
            What is broken, without a full stop.

        Raises
        ------
        UserError
            D488, where the user wants what is broken to be an error.
        """
        teller(strict=self.strict, tell=self.tell)(where, problem)


class ReaderOptions:
    """Fields that a reader of examples may declare; the values here stand where it does not."""

    suffixes: tuple[str, ...] = ()
    """How the names of its files end, such as ``".jsonl"``, without that of a compression."""
    elements: tuple[str, ...] = ()
    """XML that it reads: names of the first element."""


class ExampleReader(Protocol):
    """A reader of labelled examples; see also `ReaderOptions`."""

    def read(self, source: Source) -> Iterable[Labelled]:
        """Yield the examples of a file."""
