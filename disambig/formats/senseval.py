"""Read Senseval's English lexical sample: instances, keys and sense maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path

from disambig.errors import UserError
from disambig.files import (
    READ_ERRORS,
    ErrorCallback,
    decode_as,
    error_sink,
    nul_error,
    open_bytes,
    read_error,
)
from disambig.formats.examples import Labelled

Span = tuple[int, int]
_ENTITY = re.compile(r"&(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{0,31})(;?))")
_MARKUP = re.compile(r"<(/?)(head|sat)\b([^<>]*)>")
_ATTRIBUTE = re.compile(r"(?<![A-Za-z_])([A-Za-z_]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_GREEK = "a b g d e z ee th i k l m n x o p r s t u ph kh ps oh".split()
_LETTERS = "".join(map(chr, (*range(0x3B1, 0x3C2), *range(0x3C3, 0x3CA))))  # no final sigma
_SGML = {
    "bquo": "\u201c",
    "equo": "\u201d",
    "ft": "\u2032",
    "ins": "\u2033",
    "rehy": "-",
    "shilling": "/-",
    "frac17": "1/7",
    "frac19": "1/9",
    "frac47": "4/7",
}
"""Entities of the British National Corpus that HTML does not define."""
for _name, _letter in zip(_GREEK, _LETTERS, strict=True):
    _SGML[f"{_name}gr"], _SGML[f"{_name.upper()}gr"] = _letter, _letter.upper()


def without_comments(source: str) -> str:
    """Remove comments except for their line ends, so that line numbers stay; keep one that does not end."""
    kept: list[str] = []
    position = 0
    while (start := source.find("<!--", position)) >= 0 and (end := source.find("-->", start + 4)) >= 0:
        kept += [source[position:start], "\n" * source.count("\n", start, end)]
        position = end + 3
    return "".join([*kept, source[position:]])


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag, with entities replaced."""
    return {
        name.lower(): replace_entities(first or second, lambda name: None).strip()
        for name, first, second in _ATTRIBUTE.findall(tag)
    }


def replace_entities(text: str, unknown: Callable[[str], None]) -> str:
    """Replace entities by characters.

    Without a semicolon, only the corpus-specific entities are replaced (``AT&T`` stays). An unknown entity
    becomes its name in brackets, and `unknown` is called with it.
    """

    def replaced(match: re.Match[str]) -> str:
        number, name, closed = match.groups()
        if number:
            code = int(number[1:], 16) if number[0] in "xX" else int(number)
            is_valid = code < 0x110000 and not 0xD800 <= code < 0xE000 and (code >= 32 or code in (9, 10, 13))
            return chr(code) if is_valid else ""
        if name in _SGML:
            return _SGML[name]
        if not closed:
            return match[0]
        if f"{name};" in html5:
            return html5[f"{name};"]
        unknown(name)
        return f"[{name}]"

    return _ENTITY.sub(replaced, text) if "&" in text else text


@dataclass(slots=True)
class ContextBuilder:
    """Builds the text of a context, in which white space becomes one space or one line end.

    Attributes
    ----------
    heads : list of (start, end, names of satellites)
    satellites : dict of (start, end)
        Satellites by name.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    last: str = ""
    space: str = ""
    heads: list[tuple[int, int, list[str]]] = field(default_factory=list)
    satellites: dict[str, Span] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    def add(self, text: str, *, apart: bool) -> int:
        """Append text and return its start; `apart` inserts a space between letters that would touch."""
        words = text.split()
        if not words:
            self.space = _join_space(self.space, text)
            return self.length
        leading = text[: len(text) - len(text.lstrip())]
        space = _join_space(self.space, leading)
        if not space and apart and self.last.isalnum() and words[0][0].isalnum():
            space = " "
        if self.length:
            self._append(space)
        start = self.length
        self._append(_collapse_space(text.strip()))
        self.space = _join_space("", text[len(text.rstrip()) :])
        return start

    def _append(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)
            self.last = text[-1]


def read_context(source: str, unknown: Callable[[str], None]) -> ContextBuilder:
    """Parse the content of a ``<context>`` element."""
    context = ContextBuilder()
    position, open_tag = 0, None
    for match in [*_MARKUP.finditer(source), None]:
        piece = replace_entities(source[position : match.start() if match else len(source)], unknown)
        start = context.add(piece, apart=True)
        if open_tag is not None and (match is None or match[2] == open_tag[2]):
            if match is None or match[1]:
                _close(context, open_tag, start if piece.strip() else context.length)
            open_tag = None
        if match is None:
            break
        position = match.end()
        if not match[1]:
            open_tag = match
    return context


def _close(context: ContextBuilder, opened: re.Match[str], start: int) -> None:
    """Add the element that ends here, a head or a satellite, to the context."""
    tag_attributes = attributes(opened[3])
    if opened[2] == "head":
        context.heads.append((start, context.length, tag_attributes.get("sats", "").split()))
    elif start < context.length:
        context.satellites.setdefault(tag_attributes.get("id", ""), (start, context.length))


def _join_space(first: str, second: str) -> str:
    """Return one character for two adjacent runs of white space; empty if there is none."""
    both = first + second
    return "\n" if "\n" in both or "\r" in both else both and " "


def _collapse_space(text: str) -> str:
    return re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] or "\r" in run[0] else " ", text)


LARGEST = 400_000_000
"""Maximum bytes of a decompressed file (the largest of Senseval has 12 million)."""
_ELEMENT = re.compile(r"<(/?)(lexelt|instance)\b([^<>]*)>")
_ANSWER = re.compile(r"<answer\b([^<>]*)>")
_CONTEXT = re.compile(r"<context\b[^<>]*>")
_DECLARED = re.compile(rb"<\?xml[^<>]*?\bencoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_NUMBER = re.compile(r"\.[^.]*$")
"""Numbers of occurrence and satellite: ``call_for.159:0``."""
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
        The context with entities replaced, and white space as one space or line end.
    start, end : int
        Character offsets of the word (the head) in `text`.
    senses : tuple of str
        The annotators' senses, including ``"P"`` (a proper name) and ``"U"`` (none fits); empty in a file
        without answers.
    satellites : tuple of (start, end)
        Other parts of a phrasal verb or compound, in text order.
    document : str
        The source of the context if the file gives it, else the id.
    where : str
        File and line, for messages.
    multiword : str
        The multiword that it is part of according to its satellites, such as ``"call_for"``; empty if none.
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
        """Return the instance as a labelled example, for which all its senses are right."""
        label, *also = self.senses or ("",)
        return Labelled(
            self.text, self.start, self.end, label, self.document, self.where, self.word, also=tuple(also)
        )


def read_senseval(
    path: str | Path, *, encoding: str | None = None, strict: bool = False, tell: ErrorCallback | None = None
) -> list[SenseInstance]:
    """Read the instances of a file, compressed or not, with answers or without.

    Parameters
    ----------
    path : path
    encoding : str, optional
        Encoding, overriding the declared one.
    strict : bool
        Whether a malformed instance is an error; otherwise it is left out.
    tell : callable, optional
        Called with one line for each malformed or ambiguous instance.

    Raises
    ------
    UserError
        D488 for a malformed instance (strict), D490 if there is no instance, D493 for a file that is too
        large, D469 and D470 for a wrong or unknown encoding, D300 to D308 for a file that cannot be read.
    """
    source = read_xml(path, encoding=encoding, tell=tell)
    return parse_instances(source, str(path), strict=strict, tell=tell)


def read_xml(path: str | Path, *, encoding: str | None = None, tell: ErrorCallback | None = None) -> str:
    """Return the text of a file, in the given encoding or the one that it declares.

    A file that is not in its declared encoding (by default UTF-8) is read as iso-8859-1, with a message.

    Raises D493 for a file that is too large, D470 for an unknown encoding, D469 for bytes that are not in the
    given encoding, D300 to D308 for a file that cannot be read.
    """
    try:
        with open_bytes(str(path)) as stream:
            data: bytes = stream.read(LARGEST + 1)
    except READ_ERRORS as problem:
        raise read_error(str(path), problem) from problem
    if len(data) > LARGEST:
        raise UserError("D493", path=path, what="bytes", seen=f"more than {LARGEST:,}", most=LARGEST)
    if encoding:
        return decode_as(data, str(path), encoding)
    if b"\0" in data:
        raise nul_error(str(path), data)
    declared = _DECLARED.search(data, 0, 400)
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        return decode_as(data, str(path), name)
    except UserError as error:
        if error.code != "D469":
            raise
    if tell is not None:
        tell(str(UserError("D489", where=path, problem=f"not {name}: read as iso-8859-1")))
    return data.decode("iso-8859-1")


def parse_instances(
    source: str, path: str, *, strict: bool = False, tell: ErrorCallback | None = None
) -> list[SenseInstance]:
    """Parse the instances in the text of a file; parameters and errors are those of `read_senseval`."""
    source = without_comments(source)
    notify = tell or (lambda message: None)
    report_invalid = error_sink(strict=strict, tell=tell)
    instances: dict[str, SenseInstance] = {}
    unknown: set[str] = set()

    def report_entity(name: str) -> None:
        if name not in unknown:
            unknown.add(name)
            notify(str(UserError("D489", where=path, problem=f"the entity &{name}; is unknown: [{name}]")))

    for number, word, tag, body in _blocks(source):
        where = f"{path}, line {number}"
        read = _instance(attributes(tag), word, body, where, report_entity)
        if isinstance(read, SenseInstance) and read.id in instances:
            read = f"the instance {read.id!r} occurs twice"
        if isinstance(read, str):
            report_invalid(where, read)
            continue
        instance, note = (read, "") if isinstance(read, SenseInstance) else read
        if note:
            notify(str(UserError("D489", where=where, problem=note)))
        instances[instance.id] = instance
    if not instances:
        raise UserError("D490", path=path)
    return list(instances.values())


def _blocks(source: str) -> Iterator[tuple[int, str, str, str | None]]:
    """Yield line, word, tag and content of each instance; the content is None if it does not end."""
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


def _word(fields: dict[str, str]) -> str:
    """Return the word of a ``<lexelt>``, with its part of speech."""
    item, pos = fields.get("item", ""), fields.get("pos", "")
    return f"{item}.{pos}" if "." not in item and pos in ("n", "v", "a", "r") else item


def _instance(
    fields: dict[str, str], word: str, body: str | None, where: str, report_entity: ErrorCallback
) -> SenseInstance | tuple[SenseInstance, str] | str:
    """Return an instance, an instance with a note, or the reason why it is invalid."""
    name = fields.get("id", "")
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
    context = read_context(body[opened.end() : end], report_entity)
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
        tuple(sorted(context.satellites[name] for name in names if name in context.satellites)),
        _document(fields, name),
        where,
        _NUMBER.sub("", names[0]).lower() if names else "",
    )
    if len(heads) > 1:
        return instance, f"the instance {name!r} has {len(heads)} heads: the first is used"
    return instance


def _document(fields: dict[str, str], name: str) -> str:
    """Return the document of a context: its source without the number of the sentence."""
    source = fields.get("docsrc", "")
    document = _SENTENCE.sub("", source)
    return document if document and document != source else name


Weights = Mapping[str, float]
Sensemap = Mapping[str, frozenset[str]]
"""Each sense with all groups that contain it, including itself."""
_FORM = "a line is: word instance sense sense ..., a weight as sense/0.7"


def read_key(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the right senses of each instance.

    Raises
    ------
    UserError
        D492 for an invalid line; D300 to D308, D493 for the file.
    """
    return {instance: tuple(weights) for instance, weights in read_answers(path).items()}


def read_answers(path: str | Path) -> dict[str, dict[str, float]]:
    """Return a system's answer to each instance: senses with weights that sum to at most one.

    Raises D492 for an invalid line; D300 to D308, D493 for the file.
    """
    answers: dict[str, dict[str, float]] = {}
    for where, entries in _key_lines(path):
        if len(entries) < 3:
            raise UserError("D492", where=where, problem=f"{len(entries)} entries", form=_FORM)
        if entries[1] in answers:
            problem = f"the instance {entries[1]!r} occurs twice"
            raise UserError("D492", where=where, problem=problem, form="give each instance one line")
        answers[entries[1]] = _weights(entries[2:], where)
    return answers


def read_sensemap(path: str | Path) -> dict[str, frozenset[str]]:
    """Return each sense with the groups that contain it.

    A line is a group followed by its senses, or a sense followed by numbers and ever larger groups in turn.

    Raises
    ------
    UserError
        D300 to D308, D493 for the file.
    """
    above: dict[str, set[str]] = {}
    for _, entries in _key_lines(path):
        above.setdefault(entries[0], set())
        numbers, others = entries[1::2], entries[2::2]
        if len(entries) % 2 and all(n.isascii() and n.isdigit() and len(n) <= 3 for n in numbers):
            for lower, upper in zip([entries[0], *others], others, strict=False):
                above.setdefault(lower, set()).add(upper)
                above.setdefault(upper, set())
        else:
            for sense in entries[1:]:
                above.setdefault(sense, set()).add(entries[0])
    return {sense: frozenset(_ancestors(sense, above)) for sense in above}


def _ancestors(sense: str, above: Mapping[str, set[str]]) -> set[str]:
    """Return a sense with everything above it (the transitive closure)."""
    reached, waiting = {sense}, [sense]
    while waiting:
        new = above.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _weights(entries: list[str], where: str) -> dict[str, float]:
    """Return the senses of an answer with their weights, which may be written in per cent."""
    weights: dict[str, float] = {}
    with_weight = set()
    for entry in entries:
        sense, slash, number = entry.partition("/")
        try:
            weight = float(number) if slash else 1.0
        except ValueError:
            weight = -1.0
        if not sense or not 0.0 <= weight <= 100.0:
            raise UserError(
                "D492", where=where, problem=f"{entry!r} is not a sense with a weight", form=_FORM
            )
        weights[sense] = weight
        if slash:
            with_weight.add(sense)
    if max(weights.values()) > 1.0:
        for sense in with_weight:
            weights[sense] /= 100.0
    weights = {sense: weight for sense, weight in weights.items() if weight > 0.0}
    if not weights:
        raise UserError("D492", where=where, problem="no weight is above zero", form=_FORM)
    total = sum(weights.values())
    return {sense: weight / max(total, 1.0) for sense, weight in weights.items()}


def _key_lines(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the entries of each line, without comments, which begin with ``!!``."""
    for number, line in enumerate(read_xml(path).split("\n"), 1):
        if entries := line.partition("!!")[0].split():
            yield f"{path}, line {number}", entries
