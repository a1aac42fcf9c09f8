"""Read HTML and XHTML, and the XML of DocBook, DITA and Mallard: the text that is shown as prose remains.

Tags within a sentence (``<em>``, ``<a>``, ``<span>``) become blank, and so does ``<br>``, unless another one
follows it. All other tags end a sentence. Scripts, styles, ``<pre>``, ``<textarea>`` and drawings are left
out; code (``<code> <kbd> <samp> <var>``), formulas and quotations (``<q> <blockquote>``) become `OPAQUE`, as
does everything with ``translate="no"`` and everything that a ``lang`` attribute marks as another language
than English or a class as code or mathematics. Cells of one word, which have no context, are hidden. A
character reference becomes its character; a word that contains one, except an apostrophe, or that a tag cuts,
becomes `OPAQUE`. Attributes that are shown, such as ``alt`` and ``title``, are texts of their own (see
`_attributes`).

Pages may be templates: ``{{ x }}``, ``{% x %}``, ``<% x %>``, ``<?php x ?>`` and ``@if (x) {`` are not text.
What prints something becomes `OPAQUE`; blocks and loops end a sentence, conditions do not.

The tags are found by patterns of this module. The parser of the standard library (`html.parser`) needs
quadratic time for tags that are not closed (40 KB of ``<a`` take 40 seconds), raises an error for ``<![``,
and gives positions as line and column. An unclosed tag, comment or script extends to the end of the text, as
in a browser. The running time is linear in the length of the text.

Of DocBook, DITA and Mallard, titles, paragraphs, lists, tables and notes remain. As in HTML, tags within a
sentence become blank, and all other tags end a sentence. Listings, screens, quoted blocks and metadata are
left out, apart from titles and abstracts; index entries, remarks and the like are invisible. Code, names of
files and commands, labels of user interfaces, quotations and formulas become `OPAQUE`, and so does what
stands for text of another file: entities, cross-references without a text, ``conref`` and ``keyref``.

A ``.xml`` file is read if its root shows that it is DocBook or DITA: by its namespace, its document type or
its name and the elements that follow.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from disambig.markup._attributes import find_values_of_html, is_text, keep_values
from disambig.markup._templates import (
    ALTERNATIVES,
    PRINTING,
    QUOTED_TEXT,
    TAG_ENDS,
    Alternatives,
    hidden_block_end,
    read_tag,
)
from disambig.markup.canvas import BLANK, BREAK, ENTITY, OPAQUE, Canvas, names, search

# Comments, tags, entities, tags of templates, formulas, and blocks of Angular (`@if (...) {`).
_MARKS = re.compile(
    r"<!--|<!\[CDATA\[|<%|<[!?]|</?(?=[A-Za-z])|&|\{\{\{?|\{%|\{#(?=[\s-])|\\[(\[]"
    r"|^[ \t]*(?:\}[ \t]*)?@(?:(?:if|else|for|switch|case|default|empty|defer|placeholder|loading|error)\b"
    r"[\w \t]*(?:\([^\n{}]*\)[ \t]*)?\{|let\b[^\n;]*;)",
    re.MULTILINE,
)
_IN_TAG = re.compile(r"[\s/]*(\{\{|\{%|<%|<\?)")
_MATH_ENDS = {r"\(": r"\)", r"\[": r"\]"}
_LONGEST_TEMPLATE = 4_000
_CODE_CLASSES = frozenset(
    "notranslate math katex mathjax code-header sig codehilite programlisting src code bold_code guilabel"
    " guimenu guimenuitem guisubmenu guibutton guiicon menuselection keycap keysym filename replaceable"
    " parameter varname computeroutput userinput envar func_signature member-signature command literal"
    " menuitem".split()
)
"""Classes with which Sphinx, rustdoc, Haddock, DocBook and others mark code and mathematics."""
_LONGEST_LETTER = 100
"""Maximum length of the markup around a link that is a letter."""
_CELL_ENDS = frozenset("td th tr table thead tbody tfoot caption".split())
_NAME = re.compile(r"[^\s/>]+")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>][^\s>]*)))?")
_QUOTED = (2, 3)
"""Groups of `_ATTRIBUTE` for values in quotes."""
_TAG_END = re.compile(r"[\s/]*>")
_SPACES = re.compile(r"[ \t\f]{2,}")

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ElementKinds:
    """What the elements of a vocabulary are to a reader of prose; all others are blocks of prose."""

    within: frozenset[str] = NOTHING  # elements within a sentence, whose tags are invisible
    # elements that stand for something that is not decided: code, quotations, struck-out text
    opaque: frozenset[str] = NOTHING
    left_out: frozenset[str] = NOTHING  # elements without prose; a sentence ends before and after them
    hidden: frozenset[str] = NOTHING  # elements without prose within a sentence, which goes on after them
    # elements that are prose directly inside the named ones although these are left out
    revealed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    raw: frozenset[str] = NOTHING  # elements that are left out and in which only their own end tag is markup
    empty: frozenset[str] = NOTHING  # elements without an end tag
    # elements that stand for an image, with an alternative text as attribute ``alt``
    images: frozenset[str] = NOTHING
    # elements that a start tag closes if they are the innermost ones: their end tags may be omitted
    closes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


HTML = ElementKinds(
    within=names(
        "a abbr acronym b bdi bdo big cite data dfn em font i ins label mark nobr output ruby small"
        " span strong sub sup time u wbr"
    ),
    opaque=names("code kbd samp var tt q del s strike rp rt"),
    left_out=names("head pre svg math template object audio video canvas select datalist blockquote"),
    revealed={"title": names("head")},
    raw=names("script style textarea xmp iframe noembed noframes plaintext"),
    empty=names(
        "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"
    ),
    images=names("img input"),
    closes={
        "p": ("p",),
        "li": ("p", "li"),
        **dict.fromkeys(("dt", "dd"), ("p", "dt", "dd")),
        **dict.fromkeys(("td", "th"), ("p", "td", "th")),
        "tr": ("p", "td", "th", "tr"),
        "option": ("option",),
        **dict.fromkeys(
            "address article aside details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header"
            " hr main nav ol pre section table ul".split(),
            ("p",),
        ),
        "body": ("head",),
    },
)


@dataclass(frozen=True, slots=True)
class _Element:
    """An open element."""

    name: str
    left_out: str  # the character that replaces its text, `BREAK` for none; empty if the text is prose
    foreign: str  # the same for its language

    @property
    def character(self) -> str:
        """The character that replaces the text of the element; empty if the text is prose."""
        return self.left_out or self.foreign


Attributes = dict[str, tuple[str, int]]
"""The value of each attribute of a tag, and its position; -1 for one that is not in quotes."""


def read_html(text: str, suffix: str = ".html") -> Canvas:
    """Paint over the markup of an HTML or XHTML page."""
    return TagReader(text).read()


class TagReader:
    """Reader of a text with tags, from left to right."""

    has_templates: ClassVar[bool] = True
    """Whether the text may be a template, or contain mathematics between backslashes."""

    def __init__(self, text: str, kinds: ElementKinds = HTML) -> None:
        self.text, self.kinds = text, kinds
        self.canvas = Canvas(text)
        self.elements: list[_Element] = []
        self.open: dict[str, int] = {}  # number of open elements by name
        self.at = 0  # everything before this position is painted
        self.line_end = -1  # end of the last ``<br>``
        self.cell = -1  # start of the text of the current table cell
        self.link = -1  # start of the text of the current link
        self.missing: set[str] = set()
        self.alternatives = Alternatives()

    def read(self) -> Canvas:
        """Paint over all markup and return the finished canvas."""
        at = 0
        while match := _MARKS.search(self.text, at):
            at = max(self._mark(match[0], match.start(), match.end()), match.start() + 1)
        self._text(len(self.text))
        self.canvas.finish()
        return self.canvas

    def _mark(self, mark: str, at: int, after: int) -> int:
        """Process one mark and return the position at which to continue."""
        if mark == "&":
            return self._entity(at)
        if mark[0] in "{<\\" and (stop := self._template(mark, at, after)):
            return stop
        if mark[0] in "{\\" or mark == "<%":
            return after
        if mark[0] != "<":  # a condition of Angular
            if self.has_templates and not self._cover:
                self._text(at)
                self.canvas.fill(at, after, BREAK)
                self.at = after
            return after
        self._text(at)
        if mark == "<!--":
            stop = self.find("-->", after)
            self.canvas.comment(at, stop)
        elif mark == "<![CDATA[":
            stop = self.find("]]>", after)
            cover = self._cover
            if cover or self.has_templates:
                self.canvas.fill(at, stop, BLANK if cover == BREAK else cover or OPAQUE)
            else:  # text of XML in which nothing is markup
                end = stop - len("]]>") if self.text.endswith("]]>", after, stop) else stop
                self.canvas.mark(at, after)
                self.canvas.mark(end, stop)
        elif mark in ("<!", "<?"):
            stop = self.declaration_end(mark, after)
            self.canvas.fill(at, stop, OPAQUE if self.text.startswith("<?=", at) else BLANK)
        else:
            stop = self._tag(at, after, closing=mark == "</")
        self.at = stop
        return stop

    def declaration_end(self, mark: str, at: int) -> int:
        """Return the end of what ``<!`` or ``<?`` begins: a declaration or a processing instruction."""
        is_code = mark == "<?" and self.text.startswith(("php", "=", "xml"), at)
        return self.find("?>" if is_code else ">", at)

    def is_placeholder(self, name: str, stop: int, attributes: Attributes) -> bool:
        """Return True if a start tag that ends at `stop` stands for text that is not in this file."""
        return False

    @property
    def _cover(self) -> str:
        """The character that replaces the text of the innermost element; empty if the text is prose."""
        return self.elements[-1].character if self.elements else ""

    def _template(self, mark: str, at: int, after: int) -> int:
        """Read a template's expression or statement, or mathematics; return its end, 0 if there is none."""
        closing = TAG_ENDS.get(mark) or _MATH_ENDS.get(mark)
        if closing is None or self._cover or not self.has_templates:
            return 0
        place = self.text.find(closing, after, after + _LONGEST_TEMPLATE)
        if place < 0:
            return 0
        stop = place + len(closing)
        inside = self.text[after:place]
        if "</" in inside or "{{" in inside or "{%" in inside:
            return 0
        if mark in _MATH_ENDS:
            self._paint(at, stop, OPAQUE)
            return stop
        name, character = read_tag(self.text, at, place, mark)
        if not character:
            self._text(at)
            self.canvas.comment(at, stop)
            self.at = stop
            return stop
        stop = hidden_block_end(self.text, name, mark, stop, self.missing)
        character = self.alternatives.character(self.text, at, name, character)
        beside = self.text[at - 1 : at].isalnum() and self.text[stop : stop + 1].isalnum()
        self._paint(at, stop, OPAQUE if name in ALTERNATIVES and beside else character)
        if name in PRINTING and (printed := QUOTED_TEXT.search(self.text, after, place)):
            self.canvas.fill(at, stop, OPAQUE)
            if is_text(printed["text"]):
                keep_values(self.canvas, [printed.span("text")])
        return stop

    def _paint(self, at: int, stop: int, character: str) -> None:
        """Paint over a mark in the text; a word that it cuts is hidden."""
        self._text(at)
        paint = self.canvas.fill if character == BREAK else self.canvas.mark
        paint(at, stop, character)
        self.at = stop

    def find(self, what: str, at: int) -> int:
        """Return the end of the next `what`, or the end of the text."""
        place = self.text.find(what, at)
        return len(self.text) if place < 0 else place + len(what)

    def _text(self, end: int) -> None:
        """Paint over the text up to `end` if the innermost element leaves it out."""
        if cover := self._cover:
            self.canvas.fill(self.at, end, BLANK if cover == BREAK else cover)
        else:
            for gap in _SPACES.finditer(self.text, self.at, end):
                self.canvas.fill(gap.start() + 1, gap.end())  # a browser shows one space
        self.at = max(self.at, end)

    def _entity(self, at: int) -> int:
        match = ENTITY.match(self.text, at)
        if not match:
            return at + 1
        if not self._cover:
            self._text(at)
            self._character(at, match.end(), html.unescape(match[0]))
            self.at = match.end()
        return match.end()

    def _character(self, at: int, end: int, meant: str) -> None:
        """Replace a character reference by its character, or hide the word of which it is a part."""
        text = self.text
        if self.canvas.shorten(at, end, meant):
            return
        beside = (at > 0 and text[at - 1].isalnum(), end < len(text) and text[end].isalnum())
        if meant.isalnum() or (all(beside) and not meant.isspace()) or len(meant) > 1 or meant == BREAK:
            self.canvas.fill(at, end, OPAQUE)
            self.canvas.hide_word(at, end)
        else:
            self.canvas.fill(at, end)
            self.canvas.put(at, " " if meant.isspace() else meant)

    def _tag(self, at: int, after: int, *, closing: bool) -> int:
        """Process a tag and return its end."""
        name_match = _NAME.match(self.text, after)
        if not name_match:
            return after
        kinds, name = self.kinds, name_match[0].lower().rpartition(":")[2]
        stop, attributes = self._attributes(name_match.end())
        if name in _CELL_ENDS:
            self._end_cell(at)
        if name == "a":
            self._end_link(at)
            self.link = -1 if closing else stop
        if closing:
            self._close(name)
        cover = self._cover
        if cover and name not in kinds.revealed:
            self.canvas.fill(at, stop, BLANK if cover == BREAK else cover)
        elif name in kinds.images:
            self._image(at, stop, attributes)
        elif not closing and self.is_placeholder(name, stop, attributes):
            self.canvas.fill(at, stop, OPAQUE)
        elif name in kinds.within:
            self.canvas.mark(at, stop)
        elif name in kinds.hidden:
            self.canvas.fill(at, stop)
        elif name == "br":
            is_repeated = self.line_end >= 0 and not self.text[self.line_end : at].strip()
            self.canvas.fill(at, stop)
            self.canvas.put(at, BREAK if is_repeated else " ")
            self.line_end = stop
        elif name not in kinds.opaque:
            self.canvas.leave_out(at, stop)
        else:
            self.canvas.fill(at, stop)
            if not closing:  # next to what it contains
                self.canvas.fill(stop - 1, stop, OPAQUE)
        if self.has_templates and attributes and not closing and (not cover or name == "meta"):
            self._keep_attributes(name, (at, stop), attributes)
        if not closing and name not in kinds.empty and not self.text.endswith("/>", at, stop):
            self._open(name, attributes)
            if name in ("td", "th"):
                self.cell = stop
            if name in kinds.raw:
                self.at = stop
                stop = self._raw(name, stop)
                self._text(stop)
        return stop

    def _keep_attributes(self, name: str, tag: tuple[int, int], attributes: Attributes) -> None:
        """Keep the attributes of a tag that are text, each as a text of its own."""
        language = (attributes.get("lang") or ("en", -1))[0]
        if not _is_english(language or "en") or attributes.get("translate", ("",))[0].lower() == "no":
            return
        within = name in self.kinds.within
        spans = find_values_of_html(name, attributes, within=within)
        keep_values(self.canvas, spans, within=tag if within else None)

    def _attributes(self, at: int) -> tuple[int, Attributes]:
        """Return the end of a tag, and its attributes."""
        attributes: Attributes = {}
        text = self.text
        while True:
            if end := _TAG_END.match(text, at):
                return end.end(), attributes
            if template := _IN_TAG.match(text, at):
                end_mark = TAG_ENDS.get(template[1], "?>")
                place = text.find(end_mark, template.end(), template.end() + _LONGEST_TEMPLATE)
                if place >= 0:
                    at = place + len(end_mark)
                    continue
            if not self._has_quote(text, at):
                return len(text), attributes
            match = _ATTRIBUTE.match(text, at)
            if not match:
                return self.find(">", at), attributes
            number = next((group for group in (2, 3, 4) if match[group] is not None), 0)
            value = match[number] if number else ""
            place = match.start(number) if number in _QUOTED else -1
            attributes.setdefault(match[1].lower(), (value, place))
            at = match.end()

    def _has_quote(self, text: str, at: int) -> bool:
        """Return False if a quoted value begins next and is not closed: the tag extends to the end."""
        opening = _OPENING.match(text, at)
        return opening is None or search(text, opening[1], opening.end(), self.missing) is not None

    def _image(self, at: int, stop: int, attributes: Attributes) -> None:
        """Hide an image but keep its alternative text."""
        value, place = attributes.pop("alt", ("", -1))
        if place < 0 or not value.strip() or "&" in value:
            self.canvas.fill(at, stop, OPAQUE)
            return
        self.canvas.fill(at, place, OPAQUE)
        self.canvas.fill(place + len(value), stop, OPAQUE)

    def _open(self, name: str, attributes: Attributes) -> None:
        """Push an element on the stack of open ones; close those that it ends implicitly."""
        kinds = self.kinds
        for inner in kinds.closes.get(name, ()):
            if self.elements and self.elements[-1].name == inner:
                self._pop()
        outer = self.elements[-1] if self.elements else _Element("", "", "")
        left_out = outer.left_out
        if not left_out:
            if attributes.get("translate", ("",))[0].lower() == "no":
                left_out = OPAQUE
            elif name in kinds.left_out or name in kinds.raw:
                left_out = BREAK
            elif name in kinds.hidden:
                left_out = BLANK
            elif name in kinds.opaque:
                left_out = OPAQUE
            elif not _CODE_CLASSES.isdisjoint(attributes.get("class", ("",))[0].lower().split()):
                left_out = OPAQUE if name in kinds.within else BREAK
        elif outer.name in kinds.revealed.get(name, NOTHING):
            left_out = ""
        foreign = outer.foreign
        language = attributes.get("lang") or attributes.get("xml:lang")
        if language is not None and language[0].strip():
            foreign = "" if _is_english(language[0]) else OPAQUE if name in kinds.within else BREAK
        self.elements.append(_Element(name, left_out, foreign))
        self.open[name] = self.open.get(name, 0) + 1

    def _end_cell(self, end: int) -> None:
        """Hide the word of a table cell that has no other."""
        if 0 <= self.cell < end:
            self._text(end)
            self.canvas.hide_single_word(self.cell, end, is_painted=True)
        self.cell = -1

    def _end_link(self, end: int) -> None:
        """Hide the text of a link that is one capital, as in an index; "I" may be a word."""
        if 0 <= self.link < end < self.link + _LONGEST_LETTER:
            painted = self.canvas.painted(self.link, end)
            letter = painted.replace(BLANK, " ").strip()
            if len(letter) == 1 and letter.isupper() and letter != "I":
                at = self.link + painted.index(letter)
                self.canvas.fill(at, at + 1, OPAQUE)

    def _close(self, name: str) -> None:
        if not self.open.get(name):
            return
        while self._pop() != name:
            pass

    def _pop(self) -> str:
        name = self.elements.pop().name
        self.open[name] -= 1
        return name

    def _raw(self, name: str, at: int) -> int:
        """Return the start of the end tag of an element that contains no markup."""
        end = search(self.text, rf"(?i)</{re.escape(name)}(?=[\s/>])", at, self.missing)
        return end.start() if end else len(self.text)


_OPENING = re.compile(r"[\s/]*[^\s/>=][^\s/>=]*\s*=\s*([\"'])")


def _is_english(language: str) -> bool:
    """Return True for English, and for an entity or a tag of a template: ``&language;``, ``{{ lang }}``."""
    name = re.split("[-_]", language.strip().lower())[0]
    return name in ("en", "eng") or not name.isalnum()


_INFO = names(
    "info bookinfo articleinfo chapterinfo sectioninfo sect1info sect2info sect3info sect4info"
    " sect5info partinfo prefaceinfo appendixinfo refentryinfo referenceinfo setinfo glossaryinfo"
    " bibliographyinfo"
)
DOCBOOK = ElementKinds(
    within=names(
        "abbrev acronym application author citetitle date editor emphasis firstname firstterm"
        " glossterm jobtitle lineannotation link olink orgname personname phrase productname"
        " productnumber subscript superscript surname trademark ulink xref"
    ),
    opaque=names(
        "accel action biblioref citation citebiblioid citerefentry classname code command"
        " computeroutput constant constructorname coref database email enumidentifier enumname"
        " enumvalue envar errorcode errorname errortext errortype exceptionname filename foreignphrase"
        " funcdef funcparams function guibutton guiicon guilabel guimenu guimenuitem guisubmenu"
        " hardware initializer inlineequation inlinemediaobject interface interfacename keycap keycode"
        " keycombo keysym literal macroname manvolnum markup menuchoice methodname modifier modulename"
        " mousebutton msgtext namespacename nonterminal ooclass ooexception oointerface option"
        " optional package parameter prompt property quote refentrytitle refname replaceable"
        " returnvalue sgmltag shortcut structfield structname symbol systemitem tag token type"
        " typename unionname uri userinput varname wordasword"
    ),
    left_out=names(
        "address biblioentry bibliomixed biblioset blockquote classsynopsis cmdsynopsis"
        " constructorsynopsis destructorsynopsis epigraph equation fieldsynopsis funcsynopsis graphic"
        " imageobject index informalequation literallayout lot math methodsynopsis productionset"
        " programlisting programlistingco refmeta screen screenco screenshot setindex svg synopsis toc"
    )
    | _INFO,
    hidden=names("anchor arc area areaset areaspec beginpage co footnoteref indexterm remark"),
    revealed=dict.fromkeys(("title", "subtitle", "abstract"), _INFO),
    images=names("inlinegraphic"),
)
_METADATA = names("prolog topicmeta bookmeta metadata")
DITA = ElementKinds(
    within=names(
        "abbreviated-form b cite i keyword line-through linktext overline ph sub sup synph term text"
        " tm u xref"
    ),
    opaque=names(
        "apiname cmdname codeph delim equation-inline equation-number filepath kwd markupname"
        " menucascade mathml msgnum msgph numcharref option oper parameterentity parmname q sep"
        " shortcut svg-container systemoutput textentity tt uicontrol userinput var varname wintitle"
        " xmlatt xmlelement xmlnsname xmlpi"
    ),
    left_out=names(
        "area audio codeblock coords data data-about draft-comment equation-block equation-figure"
        " foreign hazardsymbol imagemap lines lq msgblock object pre required-cleanup screen shape"
        " syntaxdiagram unknown video"
    )
    | _METADATA,
    hidden=names(
        "index-base index-see index-see-also index-sort-as indexterm no-topic-nesting sort-as state"
    ),
    revealed=dict.fromkeys(
        ("title", "navtitle", "searchtitle", "shortdesc", "abstract", "linktext"), _METADATA
    ),
    images=names("image"),
)
MALLARD = ElementKinds(
    within=names("app em link span sub sup"),
    opaque=names("cmd code file gui guiseq input key keyseq output q sys var"),
    left_out=names("cite comment credit email info license media name quote screen years"),
    revealed={"desc": names("info"), "title": names("info")},
)
_REFERENCES = names("conref conkeyref endterm href keyref linkend linkends xlink:href xref")
"""Attributes of an element without content that stands for text from elsewhere."""
_COMMENT_END, _INSTRUCTION_END, _DECLARATION_END = map(re.compile, ("-->", r"\?>", ">"))
_SUBSET = re.compile(r"[^\[>]*\[")
_SUBSET_END = re.compile(r"\]\s*>")
_ROOT = re.compile(r"<([A-Za-z_][^\s/<>]*)([^<>]*)")
_DOCBOOK_ROOTS = names(
    "appendix article bibliography book chapter colophon dedication glossary itemizedlist legalnotice"
    " orderedlist part partintro preface refentry reference refsection simplesect variablelist"
    " refsect1 sect1 sect2 sect3 section set"
)
_DOCBOOK_TEXT = re.compile("<(?:para|simpara|refmeta|refnamediv|sect1|chapter)[ >]")
_ANDROID_STRING = re.compile(r"<(?:string|plurals|string-array) ")
BEGINNING = 4_000
"""Number of characters at the beginning of a text that show what it is."""


class _XmlReader(TagReader):
    """Reader of a document in XML, in which no end tag may be omitted."""

    has_templates = False

    def declaration_end(self, mark: str, at: int) -> int:
        """Return the end of a declaration or a processing instruction."""
        return _declaration_end(self.text, at - len(mark))

    def is_placeholder(self, name: str, stop: int, attributes: Attributes) -> bool:
        """Return True for an element within a sentence that is empty and refers to something."""
        is_empty = self.text.endswith("/>", 0, stop) or self.text.startswith("</", stop)
        return name in self.kinds.within and is_empty and not _REFERENCES.isdisjoint(attributes)


def read_mallard(text: str, suffix: str = ".page") -> Canvas:
    """Paint over the markup of a page of Mallard, as GNOME writes its help."""
    return _XmlReader(text, MALLARD).read()


def read_docbook(text: str, suffix: str = ".docbook") -> Canvas:
    """Paint over the markup of a DocBook document."""
    return _XmlReader(text, DOCBOOK).read()


def read_dita(text: str, suffix: str = ".dita") -> Canvas:
    """Paint over the markup of a DITA topic or map."""
    return _XmlReader(text, DITA).read()


def read_xml(text: str, suffix: str = ".xml") -> Canvas:
    """Paint over the markup of a DocBook or DITA document, or of Android's strings; others are a problem."""
    language, root = xml_language(text)
    if language == "Android":
        from disambig.markup.localisation import read_android  # this module imports this one

        return read_android(text)
    if language == "DITA":
        return read_dita(text)
    if language == "DocBook":
        return read_docbook(text)
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    canvas.problem = f"its root is <{root[:60]}>" if root else "it has no root element"
    canvas.problem += "; convert other XML to .txt"
    return canvas


def xml_language(text: str) -> tuple[str, str]:
    """Return the language of an XML document and its root element.

    The language is ``"DocBook"``, ``"DITA"``, ``"Android"`` for resources of Android, or ``""``.

    `text` is the document, or its beginning.
    """
    at = _skip_space(text, 0)
    document_type = ""
    while text.startswith(("<?", "<!"), at):
        stop = _declaration_end(text, at)
        if text.startswith("<!DOCTYPE", at):
            document_type = text[at:stop]
        at = _skip_space(text, stop)
    root = _ROOT.match(text, at)
    if root is None:
        return "", ""
    name = root[1].rpartition(":")[2]
    signs = (document_type + root[2]).lower()
    if "docbook" in signs:
        return "DocBook", name
    if "dita" in signs:
        return "DITA", name
    has_namespace = re.search(r"\bxmlns\s*=", root[2]) is not None
    if not has_namespace and name in _DOCBOOK_ROOTS and _DOCBOOK_TEXT.search(text, at, at + BEGINNING):
        return "DocBook", name
    is_android = name == "resources" and _ANDROID_STRING.search(text, at, at + BEGINNING)
    return ("Android" if is_android else ""), name


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] == "\ufeff"):
        at += 1
    return at


def _declaration_end(text: str, at: int) -> int:
    """Return the end of a comment, processing instruction or document type; the text's end if it has none."""
    if text.startswith("<!--", at):
        end = _COMMENT_END.search(text, at)
    elif text.startswith("<?", at):
        end = _INSTRUCTION_END.search(text, at)
    else:
        subset = _SUBSET.match(text, at)
        end = _SUBSET_END.search(text, subset.end()) if subset else _DECLARATION_END.search(text, at)
    return end.end() if end else len(text)
