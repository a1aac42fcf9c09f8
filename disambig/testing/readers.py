"""The contract of a reader of labelled examples."""

from __future__ import annotations

import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from disambig.errors import UserError
from disambig.fields import field_of
from disambig.files.opening import pack
from disambig.formats.labelled.contract import ExampleReader, ReaderOptions, Source
from disambig.formats.labelled.example import Labelled
from disambig.testing.checks import Check, checks_of, require


def check_reader(reader: ExampleReader, path: str | Path) -> list[Check]:
    """Return the checks of a reader of labelled examples.

    Parameters
    ----------
    reader : ExampleReader
    path : path
        A file that it reads, with one example at least.
    """
    return checks_of(_Checks(reader, str(path)))


@dataclass
class _Checks:
    _reader: ExampleReader
    _path: str

    def says_which_files_it_reads(self) -> None:
        suffixes, elements = (field_of(self._reader, ReaderOptions, n) for n in ("suffixes", "elements"))
        for name, said in (("suffixes", suffixes), ("elements", elements)):
            plain = isinstance(said, tuple) and all(isinstance(each, str) and each for each in said)
            require(plain, f"{name} is {said!r}: give a tuple of texts")
        require(bool(suffixes or elements), "it has neither suffixes nor elements: no file would reach it")
        wrong = [suffix for suffix in suffixes if not suffix.startswith(".")]
        require(not wrong, f"the suffixes {wrong} do not begin with a dot")

    def reads_examples(self) -> None:
        found = self._read()
        require(bool(found), f"no example in {self._path}")
        for each in found:
            require(isinstance(each, Labelled), f"it gave {type(each).__name__}, not Labelled")

    def marks_places_in_their_texts(self) -> None:
        for each in self._read():
            inside = 0 <= each.start <= each.end <= len(each.text)
            require(inside, f"{each.start} to {each.end} is no part of {len(each.text)} characters")

    def names_a_document_and_where_it_stands(self) -> None:
        for each in self._read():
            require(bool(each.document), "an example has no document: give its text, where there is none")
            require(bool(each.where), "an example does not say where it stands: name file and line")

    def is_repeatable(self) -> None:
        require(self._read() == self._read(), "a second reading gave other examples")

    def refuses_what_is_broken_as_a_user_can_mend_it(self) -> None:
        data = Source(self._path).data
        broken = {"cut short": data[: len(data) * 2 // 3], "binary": b"\0\xff" + data, "empty": b""}
        with tempfile.TemporaryDirectory() as home:
            for how, content in broken.items():
                path = os.path.join(home, os.path.basename(self._path))
                Path(path).write_bytes(_packed(path, content))
                try:
                    list(self._reader.read(Source(path)))
                except UserError:
                    pass
                except Exception as problem:
                    raise AssertionError(
                        f"a file that is {how}: {type(problem).__name__}: {problem}"
                    ) from problem

    def _read(self) -> list[Labelled]:
        return list(self._reader.read(Source(self._path)))


def _packed(path: str, content: bytes) -> bytes:
    sink = io.BytesIO()
    stream = pack(sink, path)
    stream.write(content)
    if stream is not sink:
        stream.close()
    return sink.getvalue()
