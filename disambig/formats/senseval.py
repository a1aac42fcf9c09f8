"""Read sense-tagged corpora: Senseval's English lexical sample, and NOAD-MASC."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path

from disambig.errors import UserError
from disambig.files import (
    ARCHIVES,
    ErrorCallback,
    ErrorSink,
    corpus_files,
    decode_as,
    error_sink,
    nul_error,
    open_bytes,
    reading,
    without_compression,
)
from disambig.formats.labelled import ExampleSource, Labelled
from disambig.formatting import pluralize

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
    """Builds the text of a context, in which white space becomes one space or one line end."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    last: str = ""
    space: str = ""
    # (start, end, names of satellites)
    heads: list[tuple[int, int, list[str]]] = field(default_factory=list)
    satellites: dict[str, Span] = field(default_factory=dict)  # dict of (start, end); satellites by name

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
    # `None` stands for the end, which closes an open element as its end tag does. An opening tag discards
    # the element that is open, and an end tag of another element is ignored.
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
    joined = first + second
    return "\n" if "\n" in joined or "\r" in joined else joined and " "


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
    with reading(path), open_bytes(str(path)) as stream:
        data: bytes = stream.read(LARGEST + 1)
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
    if "<lexelt" not in source:  # such as a corpus with the senses of all words
        raise UserError("D490", path=path)
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
        if not isinstance(read, str) and read[0].id in instances:
            read = f"the instance {read[0].id!r} occurs twice"
        if isinstance(read, str):
            report_invalid(where, read)
            continue
        instance, note = read
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
) -> tuple[SenseInstance, str] | str:
    """Return an instance with a note, which may be empty, or the reason why it is invalid."""
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
    note = f"the instance {name!r} has {len(heads)} heads: the first is used" if len(heads) > 1 else ""
    return instance, note


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


MAP = "manual_map.txt"


def _is_corpus_file(name: str) -> bool:
    return without_compression(name).lower().endswith(".xml") or os.path.basename(name) == MAP


BREAKS = {
    "NO_BREAK": "",
    "SPACE_BREAK": " ",
    "SENTENCE_BREAK": " ",
    "LINE_BREAK": "\n",
    "PARAGRAPH_BREAK": "\n\n",
}
_SENTENCE_BREAKS = frozenset({"SENTENCE_BREAK", "PARAGRAPH_BREAK"})
"""Breaks that end a sentence; line breaks also occur inside sentences."""
_QUOTES = {"``": '"', "''": '"'}
_POS_SUFFIXES = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
"""Suffixes for parts of speech: ``account.n``; others are ``account.x``."""
_SIGNS = re.compile(r"[\W_]+")
_ROOT = re.compile(r"<SimpleWsdDoc\b[^<>]*?\bname\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_WORD = re.compile(r"<word\b((?:\s+\w+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/?>|<word\b")


@dataclass(frozen=True, slots=True)
class NoadPlace:
    """A word with a sense: its character offsets, lemma, part of speech (``"NOUN"``) and sense."""

    start: int
    end: int
    lemma: str
    pos: str
    sense: str

    @property
    def word(self) -> str:
        """The lemma and its part of speech, such as ``"account.n"``."""
        return f"{self.lemma}.{_POS_SUFFIXES.get(self.pos, 'x')}"


@dataclass(frozen=True, slots=True)
class NoadDocument:
    """A document: its name (``"written/spam/ucb52.txt"``), text, and words with senses in text order.

    `sentences` are those of the corpus, each given by the character offsets of its words.
    """

    name: str
    text: str
    places: tuple[NoadPlace, ...]
    sentences: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def genre(self) -> str:
        """The folder of the document, such as ``"spam"``."""
        return self.name.split("/")[-2] if "/" in self.name else ""


@dataclass(frozen=True, slots=True)
class Noad:
    """The documents, and WordNet keys for the senses that have some."""

    documents: tuple[NoadDocument, ...]
    wordnet: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def labelled(self) -> list[Labelled]:
        """Return all words with a sense; the gloss contains the WordNet keys."""
        return [example for document in self.documents for example in labelled_words(document, self.wordnet)]


def labelled_words(document: NoadDocument, wordnet: dict[str, tuple[str, ...]]) -> Iterator[Labelled]:
    """Yield the words of a document that have a sense."""
    for place in document.places:
        gloss = ",".join(wordnet.get(place.sense, ()))
        where = f"{document.name}, character {place.start:,}"
        marked = document.text, place.start, place.end, place.sense
        yield Labelled(*marked, document.name, where, place.word, gloss, domain=document.genre)


def read_noad(path: str | Path, *, strict: bool = False, tell: ErrorCallback | None = None) -> Noad:
    """Read the corpus from its directory or its ``.tar.xz``, or a single file of it.

    Parameters
    ----------
    path : path
    strict : bool
        Whether a malformed word or file is an error; otherwise it is left out.
    tell : callable, optional
        Called with one line for each of them.

    Raises
    ------
    UserError
        D488 for malformed words or files (strict), D490 if there is no document, D493 for a corpus that is
        too large, D494 for a member of the archive that is not a regular file, D300 to D308 for a file that
        cannot be read.
    """
    documents, wordnet = [], {}
    report = error_sink(strict=strict, tell=tell)
    for file in sorted(corpus_files(str(path), _is_corpus_file)):
        if os.path.basename(file.name) == MAP:
            wordnet = read_map(file.text, file.where, report)
        elif (document := read_document(file.text, file.where, report)) is not None:
            documents.append(document)
    if not documents:
        raise UserError("D490", path=path)
    return Noad(tuple(documents), wordnet)


def read_document(source: str, path: str, report: ErrorSink) -> NoadDocument | None:
    """Return the document of a file; None if it is not a ``SimpleWsdDoc``."""
    root = _ROOT.search(source)
    if root is None:
        report(f"{path}, line 1", "no <SimpleWsdDoc name=...>")
        return None
    root_name = replace_entities(root[1] or root[2] or "", lambda entity: None)
    name = root_name.strip("/") or path
    words = list(_words(source, path, report))
    words = words[_name_from_path(words, root_name) :]  # some documents begin with the path of their file
    pieces: list[str] = []
    places = []
    sentences: list[list[tuple[int, int]]] = []
    length = 0
    for text, gap, lemma, pos, sense in words:
        space = BREAKS[gap] if length else ""
        start = length + len(space)
        length = start + len(text)
        pieces += [space, text]
        if gap in _SENTENCE_BREAKS or not sentences:
            sentences.append([])
        sentences[-1].append((start, length))
        if sense:
            places.append(NoadPlace(start, length, lemma, pos, sense))
    return NoadDocument(name, "".join(pieces), tuple(places), tuple(map(tuple, sentences)))


def read_map(source: str, path: str, report: ErrorSink) -> dict[str, tuple[str, ...]]:
    """Return the WordNet keys of each sense."""
    keys_by_sense = {}
    for number, line in enumerate(source.split("\n"), 1):
        sense, tab, keys = line.strip().partition("\t")
        if sense and tab and keys.strip():
            keys_by_sense[_sense_id(sense)] = tuple(dict.fromkeys(_split_keys(keys)))
        elif sense:
            report(f"{path}, line {number}", "not a sense and WordNet keys separated by a TAB")
    return keys_by_sense


Word = tuple[str, str, str, str, str]


def _words(source: str, path: str, report: ErrorSink) -> Iterator[Word]:
    """Yield text, the break before it, lemma, part of speech and sense of each word."""
    line, counted = 1, 0
    for match in _WORD.finditer(source):
        line, counted = line + source.count("\n", counted, match.start()), match.start()
        fields = attributes(match[1] or "")
        gap, text = fields.get("break_level", ""), fields.get("text", "")
        if match[1] is None or not text or gap not in BREAKS:
            problem = (
                "does not end" if match[1] is None else "has no text" if not text else "has no known break"
            )
            report(f"{path}, line {line}", f"a <word> that {problem}")
            continue
        sense, lemma = _sense_id(fields.get("sense", "")), fields.get("lemma", "")
        if sense and not lemma:
            report(f"{path}, line {line}", f"the word {text!r} has a sense and no lemma")
            sense = ""
        yield _QUOTES.get(text, text), gap, lemma, fields.get("pos", ""), sense


def _name_from_path(words: Sequence[Word], name: str) -> int:
    """Return how many leading words spell the path of the file, ignoring punctuation; 0 if they do not."""
    expected, spelt = _SIGNS.sub("", name), ""
    for number, word in enumerate(words):
        if spelt == expected:
            return number
        spelt += _SIGNS.sub("", word[0])
        if not expected.startswith(spelt):
            return 0
    return 0


def _sense_id(sense: str) -> str:
    """Return the id of a sense without the path of its dictionary."""
    return sense.rpartition("/")[2]


def _split_keys(keys: str) -> Iterator[str]:
    """Yield WordNet keys: ``be%2:42:00::;2:42:03::`` contains two keys of "be"."""
    for group in filter(None, map(str.strip, keys.split(","))):
        lemma, _, rest = group.partition("%")
        yield from (f"{lemma}%{key.strip()}" for key in rest.split(";"))


@dataclass(frozen=True, slots=True)
class Senseval:
    """Instances of Senseval that have a sense."""

    elements = ("corpus", "lexelt")

    def read(self, source: ExampleSource) -> Iterable[Labelled]:
        """Return the examples (errors: `read_senseval`)."""
        instances = parse_instances(source.xml, source.path, strict=source.strict, tell=source.tell)
        examples = [instance.labelled() for instance in instances if instance.senses]
        if examples and len(examples) < len(instances) and source.tell is not None:
            problem = f"left out: {pluralize(len(instances) - len(examples), 'instance')} without an answer"
            source.tell(str(UserError("D489", where=source.path, problem=problem)))
        return examples


@dataclass(frozen=True, slots=True)
class NoadMasc:
    """Words of NOAD-MASC that have a sense, from its archive or a single file."""

    suffixes = ARCHIVES
    elements = ("SimpleWsdDoc",)

    def read(self, source: ExampleSource) -> Iterable[Labelled]:
        """Return the examples (errors: `read_noad`)."""
        if source.path.endswith(ARCHIVES):
            return read_noad(source.path, strict=source.strict, tell=source.tell).labelled()
        report = error_sink(strict=source.strict, tell=source.tell)
        document = read_document(source.xml, source.path, report)
        return list(labelled_words(document, {})) if document else []
