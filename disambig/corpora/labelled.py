"""Labelled examples: places of a text with the right candidate for each. What a task is is not known here.

JSON Lines
    ``{"text": ..., "start": 3, "end": 5, "label": "referential", "document": "a.txt"}``; several places of a
    text under ``"places": [{"start": ..., "end": ..., "label": ...}, ...]``. Offsets are in characters;
    without any the label is that of the whole text, or of the place marked in it (see below). Beside a label
    there may be a ``"word"``, the group that decides (``"bank.n"``), and a ``"gloss"``.
Two or three columns (.tsv)
    the text with the place marked ``[[it]]`` (``[[]]`` for an empty place), the label, and the document.
Tables (.csv, or .tsv whose first line names its columns)
    of columns ``text``, ``label`` and, if there is one, ``document``; the label is that of the whole text, or
    of the place marked in it (see below). With a column ``word`` it is that of a place, marked as above, and
    the column names its group.
Directories
    with a folder a label, and in it a file a document.
XML (.xml)
    Senseval's lexical sample and NOAD-MASC (also its .tar.xz): see
    `disambig.corpora.senseval` and `disambig.corpora.noad`. What is broken in these is reported and left out;
    in all other forms it is an error.

Marks in whole texts are kept here, since documents may hold ``[[`` of their own: tasks that decide at places
take them for marks, tasks of documents for text (`disambig.training.places.as_decided`).

Without a document each text is one of its own: parts to learn from and to test on are cut by documents.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from disambig.corpora.decoding import decoded
from disambig.corpora.documents import can_be_encoded
from disambig.corpora.labelled_documents import LABEL, Row, folder_documents, is_table, table_documents
from disambig.corpora.labelled_example import Labelled as Labelled
from disambig.corpora.labelled_marks import OPEN, unmarked
from disambig.corpora.labelled_xml import is_xml, read_labelled_xml
from disambig.corpora.opening import READ_ERRORS, open_bytes, read_error, without_compression
from disambig.corpora.telling import Tell
from disambig.errors import UserError

JSON_ENDINGS = (".jsonl", ".ndjson")
UTF_8 = "utf-8"


def read_labelled(
    paths: str | Path | Sequence[str | Path],
    *,
    encoding: str | None = None,
    strict: bool = False,
    tell: Tell | None = None,
) -> list[Labelled]:
    """Read labelled examples: directories, and files by their endings (see the module).

    Examples of whole texts keep the marks in them: `disambig.training.places.as_decided`.

    Parameters
    ----------
    paths : path or sequence of path
    encoding : str, optional
        Of all files; UTF-8 if not given, of XML what it declares.
    strict : bool
        Whether a broken instance in XML is an error; else it is left out.
    tell : callable, optional
        Gets a line for each of these.

    Raises
    ------
    UserError
        D460 for a line that is no example, D461 where there is none (of a label, in a directory), D468 for
        a directory without folders, D469 for bytes that are no text, D470 for an unknown encoding, D471
        for a table without its columns, D488 to D494 for XML; D300 to D308 for the file.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    name = _known(encoding or UTF_8)
    found: list[Labelled] = []
    for file in map(str, files):
        if os.path.isdir(file):
            read = partial(_read, encoding=name)
            found.extend(_whole(*each) for each in folder_documents(file, read))
            continue
        if is_xml(file):
            found.extend(read_labelled_xml(file, encoding=encoding, strict=strict, tell=tell))
            continue
        text = _read(file, encoding=name)
        if is_table(file, text):
            found.extend(_of_row(row) for row in table_documents(file, text))
            continue
        is_json = without_compression(file).endswith(JSON_ENDINGS)
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                where = f"{file}, line {number}"
                found.extend(_of_json(line, where) if is_json else _of_columns(line, where))
    if not found:
        hint = "; answers to Senseval's XML that are in a file of their own: disambig evaluate --key FILE"
        names = list(map(str, files))
        raise UserError("D461", path=", ".join(names), hint=hint if any(map(is_xml, names)) else "")
    return found


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
    except (LookupError, ValueError):  # unknown, or one that encodes nothing, or no name at all
        raise UserError("D470", name=encoding) from None
    return encoding


def _read(path: str, *, encoding: str) -> str:
    """Return a file as text, without a byte order mark."""
    try:
        with open_bytes(path) as stream:
            data: bytes = stream.read()
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem
    return decoded(data, path, encoding)


def _whole(text: str, label: str, document: str, where: str, word: str = "", gloss: str = "") -> Labelled:
    """Return the example of a whole text; a mark in it is text here (see `read_labelled`)."""
    label = label.strip()
    if not label:
        raise UserError("D460", where=where, problem="an empty label")
    if not can_be_encoded(label):
        raise UserError("D460", where=where, problem="half a surrogate pair in its label")
    return Labelled(text, 0, len(text), label, document, where, word.strip(), gloss)


def _of_json(line: str, where: str) -> Iterator[Labelled]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise UserError("D460", where=where, problem=f"no JSON: {problem}") from problem
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        raise UserError("D460", where=where, problem='no object with a "text"')
    document = said["text"] if said.get("document") in (None, "") else str(said["document"])
    if not {"start", "end", "places"} & said.keys():
        if not isinstance(said.get(LABEL), str):
            raise UserError("D460", where=where, problem='no "label" that is a string')
        of_mark = [said.get(name) if OPEN in said["text"] else "" for name in ("word", "gloss")]
        about = (each if isinstance(each, str) else "" for each in of_mark)
        yield _whole(said["text"], said[LABEL], document, where, *about)
        return
    places = said.get("places", [said])
    if not isinstance(places, list):
        raise UserError("D460", where=where, problem='"places" is no list')
    for place in places:
        yield _checked(place, said["text"], document, where)


def _checked(place: Any, text: str, document: str, where: str) -> Labelled:
    start, end, label = (
        (place.get("start"), place.get("end"), place.get("label")) if isinstance(place, dict) else (None,) * 3
    )
    if not isinstance(label, str) or type(start) is not int or type(end) is not int:
        raise UserError("D460", where=where, problem='a place needs whole "start" and "end", and a "label"')
    if not 0 <= start <= end <= len(text):
        raise UserError("D460", where=where, problem=f"{start} to {end} is no part of {len(text)} characters")
    word, gloss = place.get("word") or "", place.get("gloss") or ""
    if not isinstance(word, str) or not isinstance(gloss, str):
        raise UserError("D460", where=where, problem='"word" and "gloss" must be strings')
    return Labelled(text, start, end, label.strip(), document, where, word.strip(), gloss)


def _of_row(row: Row) -> Labelled:
    """Return the example in a row: a whole text, or where the table has words a marked place."""
    if row.word is None:
        return _whole(row.text, row.label, row.document or row.text, row.where)
    text, start, end = unmarked(row.text, row.where)
    return Labelled(text, start, end, row.label.strip(), row.document or text, row.where, row.word.strip())


def _of_columns(line: str, where: str) -> Iterator[Labelled]:
    columns = line.rstrip("\r").split("\t")
    if len(columns) not in (2, 3):
        n = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        problem = f"{n}, not two or three (text, label, document) with TABs between"
        raise UserError("D460", where=where, problem=problem)
    text, start, end = unmarked(columns[0], where)
    document = "".join(columns[2:]) or text
    yield Labelled(text, start, end, columns[1].strip(), document, where)
