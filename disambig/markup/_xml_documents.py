"""Read DocBook and DITA: titles, paragraphs, lists, tables and notes remain.

As in HTML, tags within a sentence become blank, and all other tags end a sentence. Listings, screens, quoted
blocks and metadata are left out, apart from titles and abstracts; index entries, remarks and the like are
invisible. Code, names of files and commands, labels of user interfaces, quotations and formulas become
`OPAQUE`, and so does what stands for text of another file: entities, cross-references without a text,
``conref`` and ``keyref``.

A ``.xml`` file is read if its root shows that it is one of the two: by its namespace, its document type or,
without both, its name and the elements that follow.
"""

from __future__ import annotations

import re
from typing import ClassVar

from disambig.markup.canvas import Canvas
from disambig.markup.html_pages import Attributes, ElementKinds, TagReader, names

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
_REFERENCES = names("conref conkeyref endterm href keyref linkend linkends xlink:href")
"""Attributes of an element without content that stands for text from elsewhere."""
_COMMENT_END, _INSTRUCTION_END, _DECLARATION_END = map(re.compile, ("-->", r"\?>", ">"))
_SUBSET = re.compile(r"[^\[>]*\[")
_SUBSET_END = re.compile(r"\]\s*>")
_ROOT = re.compile(r"<([A-Za-z_][^\s/<>]*)([^<>]*)")
_DOCBOOK_ROOTS = names(
    "appendix article bibliography book chapter dedication glossary part preface refentry reference"
    " refsect1 sect1 sect2 sect3 section set"
)
_DOCBOOK_TEXT = re.compile("<(?:para|simpara|refmeta|refnamediv|sect1|chapter)[ >]")
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


class _DocBookReader(_XmlReader):
    kinds: ClassVar[ElementKinds] = DOCBOOK


class _DitaReader(_XmlReader):
    kinds: ClassVar[ElementKinds] = DITA


def read_docbook(text: str, suffix: str = ".docbook") -> Canvas:
    """Paint over the markup of a DocBook document."""
    return _DocBookReader(text).read()


def read_dita(text: str, suffix: str = ".dita") -> Canvas:
    """Paint over the markup of a DITA topic or map."""
    return _DitaReader(text).read()


def read_xml(text: str, suffix: str = ".xml") -> Canvas:
    """Paint over the markup of a DocBook or DITA document; any other text is a problem."""
    language, root = xml_language(text)
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
    """Return the language of an XML document, ``"DocBook"``, ``"DITA"`` or ``""``, and its root element.

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
    is_plain = not document_type and not re.search(r"\bxmlns\s*=", root[2])
    if is_plain and name in _DOCBOOK_ROOTS and _DOCBOOK_TEXT.search(text, at, at + BEGINNING):
        return "DocBook", name
    return "", name


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
