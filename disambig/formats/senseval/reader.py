"""Senseval's English lexical sample: instances of words with their senses, as XML that is none.

The files of Senseval-2 and -3 are declared and encoded iso-8859-1, use entities that nothing defines, leave
``&`` and ``<`` bare, and glue a head to its neighbour; so they are not parsed as XML but scanned for the few
elements that there are. Entities are never expanded into markup.

An instance that is broken is reported with its line and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from disambig.errors import UserError
from disambig.files.decoding import decoded, nul_error
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.files.telling import Tell, teller
from disambig.formats.labelled.example import Labelled
from disambig.formats.senseval.text import Span, attributes, read_context, without_comments

LARGEST = 400_000_000
"""Bytes of a file, unpacked, at most (the largest of Senseval has 12 million)."""
_ELEMENT = re.compile(r"<(/?)(lexelt|instance)\b([^<>]*)>")
_ANSWER = re.compile(r"<answer\b([^<>]*)>")
_CONTEXT = re.compile(r"<context\b[^<>]*>")
_DECLARED = re.compile(rb"<\?xml[^<>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_NUMBER = re.compile(r"\.[^.]*$")
"""Which occurrence and which satellite: ``call_for.159:0``."""
_SENTENCE = re.compile(r"(?:\.mrg)?_\d+$")


@dataclass(frozen=True, slots=True)
class SenseInstance:
    """A word in its context.

    Attributes
    ----------
    id : str
    word : str
        The word and its part of speech, such as ``"art.n"``.
    text : str
        The context, entities replaced, runs of white space as one space or line end.
    start, end : int
        Character offsets of the word, the head, in `text`.
    senses : tuple of str
        Those that the annotators gave, ``"P"`` (a proper name) and ``"U"`` (none fits) among them; empty in
        a file without answers.
    satellites : tuple of (start, end)
        Other parts of a phrasal verb or compound, in text order.
    document : str
        What the context comes from, as far as the file says; else the id.
    where : str
        File and line, for messages.
    multiword : str
        What its satellites say that it is part of, such as ``"call_for"``; empty where it has none.
    """

    id: str
    word: str
    text: str
    start: int
    end: int
    senses: tuple[str, ...] = ()
    satellites: tuple[Span, ...] = ()
    document: str = ""
    where: str = ""
    multiword: str = ""

    def labelled(self) -> Labelled:
        """Return the instance as a labelled example; all its senses are right."""
        label, *also = self.senses or ("",)
        return Labelled(
            self.text, self.start, self.end, label, self.document, self.where, self.word, also=tuple(also)
        )


def read_senseval(
    path: str | Path, *, encoding: str | None = None, strict: bool = False, tell: Tell | None = None
) -> list[SenseInstance]:
    """Read the instances of a file, packed or not, with answers or without.

    Parameters
    ----------
    path : path
    encoding : str, optional
        In place of what the file declares.
    strict : bool
        Whether a broken instance is an error; else it is left out.
    tell : callable, optional
        Gets a line for each broken instance and for what was taken one way of several.

    Raises
    ------
    UserError
        D488 for a broken instance (strict), D490 where there is no instance, D493 for too large a file,
        D469 and D470 for an encoding that it is not of or that is unknown, D300 to D308 for what cannot be
        read.
    """
    source = read_xml(path, encoding=encoding, tell=tell)
    return instances_of(source, str(path), strict=strict, tell=tell)


def read_xml(path: str | Path, *, encoding: str | None = None, tell: Tell | None = None) -> str:
    """Return a file as text, of the encoding that is named or that it declares.

    A file of another one than it declares (UTF-8, where it is silent) is read as iso-8859-1, and told of.

    Raises
    ------
    UserError
        D493 for too large a file, D470 for an unknown encoding, D469 for bytes that are not of the one that
        is named, D300 to D308 for what cannot be read.
    """
    try:
        with open_bytes(str(path)) as stream:
            data: bytes = stream.read(LARGEST + 1)
    except READ_ERRORS as problem:
        raise read_error(str(path), problem) from problem
    if len(data) > LARGEST:
        raise UserError("D493", path=path, what="bytes", seen=f"more than {LARGEST:,}", most=LARGEST)
    if encoding:
        return decoded(data, str(path), encoding)
    if b"\0" in data:
        raise nul_error(str(path), data)
    declared = _DECLARED.search(data, 0, 400)
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        return decoded(data, str(path), name)
    except UserError as error:
        if error.code != "D469":
            raise
    if tell is not None:
        tell(str(UserError("D489", where=path, problem=f"not {name}: read as iso-8859-1")))
    return data.decode("iso-8859-1")


def instances_of(
    source: str, path: str, *, strict: bool = False, tell: Tell | None = None
) -> list[SenseInstance]:
    """Return the instances in the text of a file; parameters and errors are those of `read_senseval`."""
    source = without_comments(source)
    say = tell or (lambda message: None)
    broken = teller(strict=strict, tell=tell)
    found: dict[str, SenseInstance] = {}
    unknown: set[str] = set()

    def unheard(name: str) -> None:
        if name not in unknown:
            unknown.add(name)
            say(str(UserError("D489", where=path, problem=f"the entity &{name}; is unknown: [{name}]")))

    for number, word, tag, body in _blocks(source):
        where = f"{path}, line {number}"
        read = _instance(attributes(tag), word, body, where, unheard)
        if isinstance(read, SenseInstance) and read.id in found:
            read = f"the instance {read.id!r} stands there twice"
        if isinstance(read, str):
            broken(where, read)
            continue
        instance, note = (read, "") if isinstance(read, SenseInstance) else read
        if note:
            say(str(UserError("D489", where=where, problem=note)))
        found[instance.id] = instance
    if not found:
        raise UserError("D490", path=path)
    return list(found.values())


def _blocks(source: str) -> Iterator[tuple[int, str, str, str | None]]:
    """Yield line, word, tag and what stands inside of each instance; None for one that does not end."""
    word, line, counted = "", 1, 0
    opened: tuple[int, str, int] | None = None
    for match in _ELEMENT.finditer(source):
        line, counted = line + source.count("\n", counted, match.start()), match.start()
        if opened is not None:
            ends = bool(match[1]) and match[2] == "instance"
            yield opened[0], word, opened[1], source[opened[2] : match.start()] if ends else None
            opened = None
        if match[2] == "lexelt":
            word = "" if match[1] else _word(attributes(match[3]))
        elif not match[1]:
            opened = line, match[3], match.end()
    if opened is not None:
        yield opened[0], word, opened[1], None


def _word(said: dict[str, str]) -> str:
    item, pos = said.get("item", ""), said.get("pos", "")
    return f"{item}.{pos}" if "." not in item and pos in ("n", "v", "a", "r") else item


def _instance(
    said: dict[str, str], word: str, body: str | None, where: str, unheard: Tell
) -> SenseInstance | tuple[SenseInstance, str] | str:
    """Return an instance, one with what is to be said of it, or why it is none."""
    name = said.get("id", "")
    if not name:
        return "an instance without an id"
    if not word:
        return f"the instance {name!r} belongs to no word: there is no <lexelt item=...> around it"
    if body is None:
        return f"the instance {name!r} does not end: </instance> is missing"
    answers = [attributes(tag) for tag in _ANSWER.findall(body)]
    if other := [answer["instance"] for answer in answers if answer.get("instance", name) != name]:
        return f"the instance {name!r} has an answer for {other[0]!r}"
    opened = _CONTEXT.search(body)
    end = body.find("</context", opened.end()) if opened else -1
    if opened is None or end < 0:
        return f"the instance {name!r} has no <context> that ends"
    context = read_context(body[opened.end() : end], unheard)
    heads = [head for head in context.heads if head[0] < head[1]]
    if not heads:
        return f"the target of {name!r} is not in its context: there is no <head> with a word in it"
    start, end, names = heads[0]
    instance = SenseInstance(
        name,
        word,
        context.text,
        start,
        end,
        tuple(dict.fromkeys(sense for answer in answers for sense in answer.get("senseid", "").split())),
        tuple(sorted(context.satellites[each] for each in names if each in context.satellites)),
        _document(said, name),
        where,
        _NUMBER.sub("", names[0]).lower() if names else "",
    )
    if len(heads) > 1:
        return instance, f"the instance {name!r} has {len(heads)} heads: the first counts"
    return instance


def _document(said: dict[str, str], name: str) -> str:
    """Return the document that a context was taken from: its source without the sentence's number."""
    source = said.get("docsrc", "")
    cut = _SENTENCE.sub("", source)
    return cut if cut and cut != source else name
