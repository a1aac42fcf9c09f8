"""Texts with markup: documents and code become plain text of the same length.

Markup, and code apart from its comments, is replaced by blanks. Code in prose, mathematics, references and
addresses are replaced by a character that is a word in no count table. Headings, list items and table cells
end their sentences. An offset into the plain text is therefore also an offset into the file, except in a word
with a reference to an apostrophe (``it&#39;s``): see `PlainText.file_offset`. The supported subset of each
format is documented in its module.

Text without markup, such as notes and e-mail, has code between backticks and comments, too. Lines that begin
with ``>`` are the words of somebody else, and a signature below a line of two hyphens and a blank (RFC 3676)
is a list of names: both are left out. A short line above an indented one is a term above its description.

Behind "a" and "an" the sound of a hidden word decides. Where it can be told from the letters, the word is
replaced by `SPOKEN_VOWEL` or `SPOKEN_CONSONANT` in place of `OPAQUE` (see `spoken_words`).

A format that is added to the table `FORMATS` is read by all commands; suppression comments that an editor
inserts are written in its syntax.
"""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

from disambig.errors import UserError
from disambig.markup.canvas import BLANK, BREAK, OPAQUE, Canvas, Layout, ShortenedWord, Span, iterate_lines
from disambig.text import SPOKEN_CONSONANT, SPOKEN_VOWEL

HTML_COMMENT = "<!-- ", " -->"
JSX_COMMENT = "{/* ", " */}"
CSS_COMMENT, ML_COMMENT = ("/* ", " */"), ("(* ", " *)")
SEMICOLONS = ("; ", "")
HASH, SLASHES, DASHES, PERCENT = ("# ", ""), ("// ", ""), ("-- ", ""), ("% ", "")
NO_COMMENT = "", ""
RST_COMMENT = ".. ", ""
POD_COMMENT = "=for comment ", ""
TEXINFO_COMMENT = "@c ", ""
ROFF = '.\\" ', ""
_MANUAL_SECTION = re.compile(r"\.(?:[1-9](?!(?:st|nd|rd|th|z|gp)\Z)[a-z]{0,10}|n)")

# Opened as in `like this' of old texts, an apostrophe closes it; "it`s" has a backtick for an apostrophe.
_INLINE_CODE = re.compile(r"(?<![`\w])(`{1,2})(?![\s`])[^`\r\n]*(?<!\s)\1(?![`\w])")
_QUOTED_LINE = re.compile(r"^>[^\r\n]*", re.MULTILINE)
_BRACED_LINES = re.compile(
    r"^(?P<indent>[ \t]*)(?![ \t])[^\r\n]{0,200}\{[ \t]*\r?\n"
    r"(?:(?:(?P=indent)[ \t][^\r\n]*|[ \t]*)\r?\n){1,200}?(?P=indent)\}[^\r\n]{0,200}(?=[\r\n]|\Z)",
    re.MULTILINE,
)
"""A line that ends in "{", indented lines, and one that begins with "}": code, of C or Tcl for example."""
_LETTER_BULLET = re.compile(r"^[ \t]*o(?=[ \t]+\S)", re.MULTILINE)
"""The letter "o" as the mark of a list item, as in news of releases."""
_TERM = re.compile(
    r"^(?P<indent>[ \t]*)(?![-*+\u2022] |\d+[.)] )[^\s.!?;:,](?:[^\r\n]{0,30}[^\s.!?;:,])?[ \t]*\r?\n"
    r"(?P<more>(?P=indent)(?: {2,8}|\t))(?=[A-Z][a-z])",
    re.MULTILINE,
)
"""A short line without a stop above an indented one that begins with a capital: a term and a description."""
_INDENTED_LINE = re.compile(r"^([ \t]+)(\S[^\r\n]*)", re.MULTILINE)
_LOG_ITEM = re.compile(r"[a-z][\w./-]{1,24}: \S")
"""The subject of a commit with the part of the program before it, as in news that git's shortlog made."""
_MIN_LOG_ITEMS = 3
_SIGNATURE = re.compile(r"^-- (?:\r?\n[^\n]*){0,12}\Z", re.MULTILINE)
"""The mark of a signature and the lines below it, up to the end of the text; a longer text is none."""
_SCISSORS = re.compile(r"#[ \t]*-{8,}[ \t]*>8[ \t]*-{8,}[ \t]*")
# A line at the end of a message of a commit: `Signed-off-by: Ann`.
_TRAILER = re.compile(
    r"(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|Fixes|Closes|Resolves|Refs?|See|Cc|Link|Bug|Issue):[ \t]+\S.*"
    r"|\(cherry picked from commit [0-9a-f]+\)"
)


@dataclass(frozen=True, slots=True)
class MarkupFormat:
    """A format of text files."""

    name: str  # name for people
    suffixes: tuple[str, ...]  # suffixes of file names, in lower case
    # ``module:function``. The function is called with the text, the suffix, and the options in `options` by
    # name, and returns a `Canvas`
    reader: str
    # what is written before and after the text of a comment; `NO_COMMENT` if the format has none
    comment: tuple[str, str]
    languages: tuple[str, ...] = ()  # names of the format in the language server protocol
    # pygments lexer of a programming language, or a name in `_comments.SYNTAXES`; empty for other formats
    lexer: str = ""
    options: tuple[str, ...] = ()  # names of the options of `read_markup` that the reader takes
    # ``module:function`` of the function that returns the `Layout` of a text; empty if corrections never have
    # to change more than the word
    layout: str = ""
    names: tuple[str, ...] = ()  # names of files without a suffix, in lower case
    # whether such files are read when a folder is given; if not, the user names them
    in_folders: bool = False
    incremental: bool = False  # whether `IncrementalMarkdown` reads texts that are being edited
    # where a comment may be inserted: also at the end of a line of text; as a line of its own; as a line
    # between paragraphs; between paragraphs, followed by a blank line
    comment_place: Literal["any", "line", "paragraph", "block"] = "any"

    @property
    def read(self) -> Callable[..., Canvas]:
        """The function that reads the format; its module is imported when it is first needed."""
        reader: Any = _function(self.reader)
        return reader

    def read_layout(self, text: str) -> Layout:
        """Return the layout of a text in this format."""
        layout: Any = _function(self.layout)(text) if self.layout else Layout(text)
        return layout


def _function(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _format(
    name: str, suffixes: str, reader: str, comment: tuple[str, str], languages: str = "", **more: Any
) -> MarkupFormat:
    suffix_list, language_list = tuple(suffixes.split()), tuple(languages.split())
    return MarkupFormat(name, suffix_list, f"disambig.markup.{reader}", comment, language_list, **more)


_prose = partial(_format, in_folders=True)


def _code(
    name: str, suffixes: str, lexer: str, comment: tuple[str, str], languages: str, **more: Any
) -> MarkupFormat:
    return _format(name, suffixes, "code:read_code", comment, languages, lexer=lexer, **more)


XML_DOCUMENT = "DocBook or DITA document, or file of Android's strings"
"""Name of the format of ``.xml`` files."""
FORMATS = (
    _prose(
        "Markdown",
        ".md .markdown .qmd .rmd",
        "markdown:read_markdown",
        HTML_COMMENT,
        "markdown quarto rmd",
        layout="disambig.markup.markdown:markdown_layout",
        incremental=True,
    ),
    _prose("MDX", ".mdx", "_mdx:read_mdx", JSX_COMMENT, "mdx"),
    _prose(
        "reStructuredText",
        ".rst .rest",
        "restructured_text:read_rst",
        RST_COMMENT,
        "restructuredtext",
        layout="disambig.markup.restructured_text:rst_layout",
        comment_place="block",
    ),
    _prose("HTML", ".html .htm .xhtml", "html_pages:read_html", HTML_COMMENT, "html"),
    _format(
        "template",
        ".jinja .jinja2 .j2 .njk .twig .liquid .hbs .mustache .erb .ejs .tmpl .gotmpl .tpl",
        "html_pages:read_html",
        HTML_COMMENT,
        "jinja jinja2 jinja-html nunjucks twig liquid handlebars mustache erb ejs gotmpl smarty",
    ),
    _prose("DocBook", ".docbook .dbk", "html_pages:read_docbook", HTML_COMMENT, "docbook docbk"),
    _prose("DITA", ".dita .ditamap", "html_pages:read_dita", HTML_COMMENT, "dita"),
    _prose("Mallard", ".page", "html_pages:read_mallard", HTML_COMMENT, "mallard"),
    _format(XML_DOCUMENT, ".xml", "html_pages:read_xml", HTML_COMMENT),
    _prose("Jupyter notebook", ".ipynb", "translations:read_notebook", HTML_COMMENT, "jupyter"),
    _prose(
        "AsciiDoc",
        ".adoc .asciidoc .asc",
        "asciidoc:read_asciidoc",
        SLASHES,
        "asciidoc",
        layout="disambig.markup.asciidoc:asciidoc_layout",
        comment_place="line",
    ),
    _prose("Org", ".org", "org_mode:read_org", HASH, "org", comment_place="paragraph"),
    _prose(
        "manual page", ".man .mdoc", "man_pages:read_man", ROFF, "troff groff nroff man", comment_place="line"
    ),
    _format(
        "manual page by section",
        ".1 .2 .3 .4 .5 .6 .7 .8 .9",
        "man_pages:read_man",
        ROFF,
        comment_place="line",
    ),
    _prose("POD", ".pod", "pod:read_pod", POD_COMMENT, "pod perlpod", comment_place="block"),
    _prose(
        "Texinfo",
        ".texi .texinfo .txi",
        "texinfo:read_texinfo",
        TEXINFO_COMMENT,
        "texinfo",
        comment_place="line",
    ),
    _prose(
        "R documentation",
        ".rd",
        "r_documentation:read_rd",
        PERCENT,
        "rd rhelp",
        comment_place="line",
    ),
    _prose(
        "LaTeX", ".tex .latex .rnw .dtx", "_latex:read_latex", PERCENT, "latex tex plaintex rnoweb rsweave"
    ),
    _prose("Typst", ".typ", "typst:read_typst", SLASHES, "typst"),
    _prose("subtitles", ".srt .vtt", "subtitles:read_subtitles", NO_COMMENT, "srt subrip vtt webvtt"),
    _format("mail", ".eml .mbox", "mail:read_mail", NO_COMMENT, "eml mbox"),
    _format(
        "translation file", ".po .pot", "translations:read_po", HASH, "po pot gettext", comment_place="line"
    ),
    _format(".NET resources", ".resx .resw", "localisation:read_resx", HTML_COMMENT, "resx"),
    _format("XLIFF", ".xliff .xlf", "localisation:read_xliff", HTML_COMMENT, "xliff"),
    _format(
        "Apple strings",
        ".strings",
        "localisation:read_apple_strings",
        SLASHES,
        "strings",
        lexer="Apple strings",
    ),
    _format(
        "properties",
        ".properties",
        "localisation:read_properties",
        HASH,
        "properties java-properties jproperties",
        lexer="properties",
        comment_place="line",
    ),
    _format(
        "JSON file with text",
        ".json .jsonc .json5 .arb .xcstrings",
        "localisation:read_json",
        NO_COMMENT,
        "",  # most files of data in JSON have no text
        options=("yaml_fields",),
    ),
    _format(
        "commit message",
        ".gitcommit",
        "reading:read_commit_message",
        HASH,
        "git-commit gitcommit",
        names=("commit_editmsg", "merge_msg", "squash_msg", "tag_editmsg", "pullreq_editmsg"),
        comment_place="line",
    ),
    _code("Python", ".py .pyi .pyx .pxd .bzl .bazel .star", "PythonLexer", HASH, "python starlark cython"),
    _code("Rust", ".rs", "RustLexer", SLASHES, "rust"),
    _code("JavaScript", ".js .mjs .cjs", "JavascriptLexer", SLASHES, "javascript"),
    _code("JavaScript with JSX", ".jsx", "JavascriptLexer", SLASHES, "javascriptreact"),
    _code("TypeScript", ".ts .mts .cts", "TypeScriptLexer", SLASHES, "typescript"),
    _code("TypeScript with JSX", ".tsx", "TypeScriptLexer", SLASHES, "typescriptreact"),
    _code("Go", ".go", "GoLexer", SLASHES, "go"),
    _code("C", ".c .h", "CLexer", SLASHES, "c"),
    _code(
        "C++",
        ".cpp .cc .cxx .cppm .hpp .hh .hxx .tcc .tpp .ipp .inl .cu .cuh .ino .mm .dox",
        "C++",
        SLASHES,
        "cpp cuda-cpp objective-cpp",
    ),
    _code("C#", ".cs", "C#", SLASHES, "csharp"),
    _code("Java", ".java", "Java", SLASHES, "java"),
    _code("Kotlin", ".kt .kts", "Kotlin", SLASHES, "kotlin"),
    _code("Scala", ".scala .sc", "Scala", SLASHES, "scala"),
    _code("Swift", ".swift", "Swift", SLASHES, "swift"),
    _code("PHP", ".php", "PHP", SLASHES, "php"),
    _code(
        "Ruby",
        ".rb .rake .gemspec .cr",
        "Ruby",
        HASH,
        "ruby crystal",
        names=("rakefile", "gemfile", "vagrantfile"),
    ),
    _code("R", ".r", "R", HASH, "r"),
    _code("Lua", ".lua", "Lua", DASHES, "lua"),
    _code("SQL", ".sql", "SQL", DASHES, "sql"),
    _code(
        "Haskell", ".hs .hsc .agda .idr .elm .purs .dhall", "Haskell", DASHES, "haskell agda elm purescript"
    ),
    _code("YAML", ".yml .yaml", "YAML", HASH, "yaml dockercompose", options=("yaml_fields",)),
    _code(
        "shell",
        ".sh .bash .zsh .ksh .bats .fish",
        "BashLexer",
        HASH,
        "shellscript sh bash zsh fish",
        names=(".bashrc", ".bash_profile", ".zshrc", ".profile", "pkgbuild"),
    ),
    _code("TOML", ".toml", "TOML", HASH, "toml"),
    _code("PowerShell", ".ps1 .psm1 .psd1", "PowerShell", HASH, "powershell ps1"),
    _code(
        "Dockerfile",
        ".dockerfile",
        "Dockerfile",
        HASH,
        "dockerfile",
        names=("dockerfile", "containerfile"),
        comment_place="line",
    ),
    _code("Makefile", ".mk .mak", "Makefile", HASH, "makefile make", names=("makefile", "gnumakefile")),
    _code("Vue", ".vue", "Vue", SLASHES, "vue"),
    _code("Svelte", ".svelte", "Vue", SLASHES, "svelte"),
    _code("CSS", ".css", "CSS", CSS_COMMENT, "css"),
    _code("SCSS", ".scss .less", "SCSS", SLASHES, "scss less"),
    _code("Dart", ".dart", "Dart", SLASHES, "dart"),
    _code("Groovy", ".groovy .gradle", "Groovy", SLASHES, "groovy"),
    _code("Protocol Buffers", ".proto", "Protocol Buffers", SLASHES, "proto proto3"),
    _code("Terraform", ".tf .tfvars .hcl", "Terraform", HASH, "terraform hcl"),
    _code("Zig", ".zig", "Zig", SLASHES, "zig"),
    _code("F#", ".fs .fsi .fsx", "F#", SLASHES, "fsharp"),
    _code("OCaml", ".ml .mli .sml", "OCaml", ML_COMMENT, "ocaml"),
    _code("Elixir", ".ex .exs", "Elixir", HASH, "elixir"),
    _code("Erlang", ".erl .hrl", "Erlang", PERCENT, "erlang"),
    _code("LaTeX package", ".sty .clo .ltx", "TeX", PERCENT, ""),
    _code("Perl", ".pl .pm .t", "Perl", HASH, "perl"),
    _code("Julia", ".jl", "Julia", HASH, "julia"),
    _code("MATLAB, Octave or Objective-C", ".m", "MATLAB", PERCENT, "matlab octave objective-c"),
    _code("CMake", ".cmake", "CMake", HASH, "cmake", names=("cmakelists.txt",)),
    _code(
        "Lisp", ".lisp .el .scm .rkt .clj .cljs .cljc", "Lisp", SEMICOLONS, "lisp clojure scheme racket elisp"
    ),
    _code("Nix", ".nix", "Nix", HASH, "nix"),
    _code("GraphQL", ".graphql .gql .graphqls", "GraphQL", HASH, "graphql"),
    _code("batch file", ".bat .cmd", "Batch", ("REM ", ""), "bat batch", comment_place="line"),
    _code("Vim script", ".vim", "Vim", ('" ', ""), "vim viml", comment_place="line"),
    _code("Fortran", ".f90 .f95 .f03 .f08", "Fortran", ("! ", ""), "fortran fortranfreeform fortran-modern"),
    _code("Fortran in columns", ".f .f77 .for", "Fortran in columns", ("! ", ""), "fortranfixedform"),
    _code("include file", ".inc", "include file", SLASHES, ""),
    _code("M4", ".m4", "M4", ("dnl ", ""), "m4"),
    _code("Basic", ".vb .vbs .bas", "Basic", ("' ", ""), "vb vbscript"),
    _code("Ada or VHDL", ".ada .adb .ads .vhd .vhdl", "Ada", DASHES, "ada vhdl"),
    _code("Verilog", ".v .sv .svh", "Verilog", SLASHES, "verilog systemverilog"),
    _code(
        "code like C",
        ".sol .glsl .vert .frag .hlsl .wgsl .metal .qml .thrift .fbs .jsonnet .libsonnet .cue .td .vala .vapi"
        " .hx .scad .bicep .prisma .kdl .ron",
        "C-like",
        SLASHES,
        "solidity glsl hlsl wgsl metal qml vala haxe bicep prisma",
    ),
    _code("D", ".d .di", "D", SLASHES, "d"),
    _code("Nim", ".nim .nims", "Nim", HASH, "nim"),
    _code("Pascal", ".pas .pp .dpr .lpr", "Pascal", SLASHES, "pascal objectpascal"),
    _code("assembly", ".asm", "Assembly", SEMICOLONS, "asm nasm masm"),
    _code(
        "configuration file",
        ".ini .cfg .conf .desktop .service .timer .socket",
        "INI",
        HASH,
        "ini conf",
        names=(".editorconfig", ".gitignore", ".gitattributes", ".gitconfig", ".env", ".npmrc"),
        comment_place="line",
    ),
    _code("GDScript", ".gd", "GDScript", HASH, "gdscript"),
    _code("CoffeeScript", ".coffee", "CoffeeScript", HASH, "coffeescript"),
    _code("Tcl", ".tcl", "Tcl", HASH, "tcl", comment_place="line"),
    _code("AWK", ".awk", "AWK", HASH, "awk"),
)
"""All formats; a text with another suffix has no markup."""
_BY_SUFFIX = {suffix: entry for entry in FORMATS for suffix in entry.suffixes}
_MANUAL_PAGE = _BY_SUFFIX[".1"]
_BY_NAME = {name: entry for entry in FORMATS for name in entry.names}
_TEMPLATE = _BY_SUFFIX[".j2"]
_BY_LANGUAGE = {language: entry for entry in FORMATS for language in entry.languages}


def path_format(path: str) -> MarkupFormat | None:
    """Return the format of a file by its suffix or name, in any case; None if it is not in the table.

    A template has the format of the text that is made from it: ``README.md.j2`` is Markdown. Without another
    suffix or a name in the table it is HTML; `read_markup` reads it as text if it has no elements.
    """
    name = os.path.basename(path).lower()
    stem, suffix = os.path.splitext(name)
    entry = _BY_NAME.get(name) or _BY_SUFFIX.get(suffix) or (_MANUAL_PAGE if is_section(suffix) else None)
    if entry is not _TEMPLATE:
        return entry
    entry = path_format(stem)
    return _BY_SUFFIX[".html"] if entry is None and "." not in stem[1:] else entry


def is_template(path: str) -> bool:
    """Return True if a file is a template by its suffix."""
    return path.lower().endswith(_TEMPLATE.suffixes)


def without_template(path: str) -> str:
    """Return a path without the suffix of a template: ``a.json`` for ``a.json.j2``."""
    return os.path.splitext(path)[0] if is_template(path) else path


def is_section(suffix: str) -> bool:
    """Return True for the suffix of a manual section, such as ``.1``, ``.3pm`` or ``.n``.

    Other files have such suffixes as well: a text is a manual page only if it begins like roff.
    """
    return _MANUAL_SECTION.fullmatch(suffix) is not None


def language_suffix(language: str) -> str:
    """Return the suffix of texts in a language of the language server protocol; ``.txt`` if it is unknown."""
    entry = _BY_LANGUAGE.get(language.lower())
    return entry.suffixes[0] if entry else ".txt"


SUFFIXES = tuple(suffix for entry in FORMATS if entry.in_folders for suffix in entry.suffixes)
"""Suffixes of prose, which are read when a directory is given."""
CODE = tuple(suffix for entry in FORMATS if entry.lexer for suffix in entry.suffixes)
"""Suffixes of code, whose comments and docstrings are text."""
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
_COMMENT = re.compile("<!--|-->")
_ELEMENTS = re.compile("</[A-Za-z]|/>|<!|<p>|<br>", re.IGNORECASE)
"""What a template of HTML contains, and a template of text hardly ever."""
_WITH_TAGS = frozenset((".rst", ".rest", ".adoc", ".asciidoc", ".org"))
"""Suffixes of formats that Jinja or Liquid may write, and whose readers do not know their tags."""
_HOOGLE = re.compile(r"-- Hoogle documentation\b")
"""The beginning of what Haddock writes for Hoogle: declarations of Haskell in a file such as ``base.txt``."""
_STATEMENT = re.compile(r"\{%[-+]?\s*(?:end[a-z]+|(?:if|for|include|set)\s[^{}%]+)\s*[-+]?%\}")
_AFTER_ARTICLE = re.compile(rf"(?<![^\W_])an?\s+({OPAQUE}+)", re.IGNORECASE)
_QUALIFIER = r"'(?:[A-Z]\w*\.)+(?![A-Z]\w*\.)"  # modules before a quoted name in Haskell: 'Data.Map.Map'
_TAG = r"</?(?:a|b|code|em|i|kbd|samp|span|strong|tt|u|var)\b[^<>]*>"
_TAGS = rf">?(?:{_TAG})*(?!{_TAG})"
"""Tags within hidden code: ``<em class="replaceable"><code>action</code></em>``."""
_FIRST_WORD = re.compile(rf"{_TAGS}(?:{_QUALIFIER}|(?!{_QUALIFIER})[`'\"<]*)([A-Za-z][a-z]{{2,}})")
"""The word that is read first; of an identifier in Haskell only the last part is shown."""
# tried in this order
_SPOKEN = (
    (SPOKEN_VOWEL, re.compile("hour|honest|honou?r|heir|euler")),
    (
        SPOKEN_CONSONANT,
        re.compile(
            "(?:[b-df-hj-np-tvwyz]|[bcfgp]l|[bcdfgkpt]r|[cgpstw]h|sch|[st]w|s[ckmnp]|s?qu|sc?l|st|s[cpt]r|spl|thr|shr|kn|wr)"
            "[aeiouy]|json|uni|us[aeiu]|uti|eu|onc?e(?![a-z])"
        ),
    ),
    (SPOKEN_VOWEL, re.compile("[aeio]|u[nlp]")),
)
_JSON_SUFFIXES = (".json", ".jsonc", ".json5")
_BEGINNING = 8_000
"""Number of bytes at the beginning of a file that show what it is."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text between the markup."""

    text: str  # text of the same length as the original, with line ends only at the original's line ends
    # offsets of the comments in the original, including their marks, in text order
    comments: tuple[tuple[int, int], ...] = ()
    problem: str = ""  # Why the text is not in its format: nothing of it was read. Empty for other texts
    shortened: tuple[ShortenedWord, ...] = ()  # the words in which letters have moved, in text order
    # spans in which an apostrophe is written in another way, and how, in text order
    apostrophes: tuple[tuple[int, int, str], ...] = ()

    def file_offset(self, offset: int) -> int:
        """Return the offset into the file for an offset into the text; they differ in shortened words."""
        number = bisect_left(self.shortened, offset, key=lambda word: word.start) - 1
        word = self.shortened[number] if number >= 0 else None
        return offset if word is None or offset > word.painted_end else offset - word.painted_end + word.end

    def apostrophe_at(self, offset: int) -> str:
        """Return how an apostrophe is written at an offset into the file."""
        number = bisect_right(self.apostrophes, offset, key=lambda span: span[0]) - 1
        start, end, written = self.apostrophes[number] if number >= 0 else (0, 0, "'")
        return written if start <= offset <= end else "'"

    def reference_in(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span of the first reference to an apostrophe between two offsets into the file."""
        number = bisect_left(self.shortened, start, key=lambda word: word.start)
        words = self.shortened[number : number + 1]
        return words[0].reference if words and words[0].start < end else None


def plain_text(path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS) -> str:
    """Return `text` with its markup painted over; the suffix of `path` determines the format.

    In text with any other suffix, code between backticks, quoted lines and a signature are painted over. The
    length stays the same.

    Raises D344 for a text that is not in its format, such as a notebook that is not valid JSON.
    """
    plain = read_markup(path, text, options)
    if plain.problem:
        raise invalid_markup(path, plain)
    return plain.text


def invalid_markup(path: str, plain: PlainText) -> UserError:
    """Return the error (D344) for a text that is not in the format of its suffix."""
    entry = path_format(path)
    return UserError("D344", path=path, what=entry.name if entry else "", problem=plain.problem)


def has_markup(path: str) -> bool:
    """Return True if the suffix of `path` is that of a format with markup."""
    return path_format(path) is not None or is_template(path)


def read_markup(path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS) -> PlainText:
    """Return the plain text and the comments of `text`; the suffix of `path` determines the format.

    In text with any other suffix, or with that of a manual section but no roff, HTML comments are found, and
    code between backticks of one line, quoted lines (``> ...``) and a signature are painted over.

    `options`: settings of formats; a format takes those that its entry in the table names.
    """
    entry, suffix = path_format(path), os.path.splitext(path)[1].lower()
    if entry is None and _HOOGLE.match(text):
        entry, suffix = _BY_SUFFIX[".hs"], ".hs"
    tags: list[Span] = []
    if is_template(path):
        from disambig.markup._templates import hide_tags

        if entry is _BY_SUFFIX[".html"] and "." not in os.path.basename(path)[1 : -len(suffix)]:
            entry = entry if _ELEMENTS.search(text) else None  # perhaps a mail, or notes of a release
        text, tags = hide_tags(text, suffix, keep_printed=entry is _BY_SUFFIX[".html"])
        suffix = os.path.splitext(path[: -len(suffix)])[1].lower()
    elif (entry is None or suffix in _WITH_TAGS) and _STATEMENT.search(text):
        from disambig.markup._templates import hide_tags

        text, tags = hide_tags(text, _TEMPLATE.suffixes[0])
    if entry is None or (is_section(suffix) and not _is_roff(text)):
        plain = without_code_and_quotations(text)
        return PlainText(spoken_words(plain, text), tuple(sorted([*tags, *_html_comments(text)])))
    taken = {name: options[name] for name in entry.options if name in options}
    canvas = entry.read(text, suffix if suffix in entry.suffixes else entry.suffixes[0], **taken)
    plain = spoken_words(canvas.text, text)
    shortened = sorted(canvas.shortened, key=lambda word: word.start)
    comments, apostrophes = sorted([*tags, *canvas.comments]), sorted(canvas.apostrophes)
    return PlainText(plain, tuple(comments), canvas.problem, tuple(shortened), tuple(apostrophes))


def read_layout(path: str, text: str) -> Layout:
    """Return the layout of `text`, which corrections keep; the suffix of `path` determines the format."""
    entry = path_format(path)
    return Layout(text) if entry is None else entry.read_layout(text)


def begins_like_document(path: str, *, is_named: bool = True) -> bool:
    """Return True if a file has a suffix that other files have as well, but begins like a document.

    These are manual pages (``.1``, ``.3pm``), which begin like roff, DocBook and DITA in ``.xml``, and, if
    the user names the file (`is_named`), strings of programs in ``.xml`` and ``.json``.
    """
    name = without_template(path.lower())
    is_json = name.endswith(_JSON_SUFFIXES) and is_named
    if not name.endswith(".xml") and not is_json and not is_section(os.path.splitext(name)[1]):
        return False
    try:
        with open(path, "rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError:
        return False
    encoding = "utf-16" if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = beginning.decode(encoding, "replace")
    if is_json:
        from disambig.markup.localisation import json_kind

        return bool(json_kind(text))
    if not name.endswith(".xml"):
        return _is_roff(text)
    from disambig.markup.html_pages import xml_language

    language, _ = xml_language(text)
    return bool(language) and (is_named or language != "Android")


def _is_roff(text: str) -> bool:
    from disambig.markup.man_pages import is_roff

    return is_roff(text)


def spoken_words(plain: str, text: str) -> str:
    """Return the plain text with the sound of the hidden words after articles.

    The words are those that are read as they are written: names of three letters and more with a vowel among
    the first four, such as ``int`` and ``string``, but not ``str`` or ``html``.

    `plain`: text with hidden words as `OPAQUE`.
    `text`: the same text before anything was hidden.
    """

    def with_sound(match: re.Match[str]) -> str:
        word = _FIRST_WORD.match(text, *match.span(1))
        if word is None:
            return match[0]
        name = word[1].lower()
        sound = next((sound for sound, pattern in _SPOKEN if pattern.match(name)), OPAQUE)
        return match[0].replace(OPAQUE, sound)

    return _AFTER_ARTICLE.sub(with_sound, plain) if OPAQUE in plain else plain


def _html_comments(text: str) -> list[tuple[int, int]]:
    comments, start = [], -1
    for match in _COMMENT.finditer(text):
        if match[0] == "<!--":
            start = match.start() if start < 0 else start
        elif start >= 0:
            comments.append((start, match.end()))
            start = -1
    return comments


def without_code_and_quotations(text: str) -> str:
    """Return a text without markup with its code, quoted lines and signature painted over."""
    if "`" in text:
        text = _INLINE_CODE.sub(lambda match: OPAQUE * len(match[0]), text)
    if "{" in text:
        text = _BRACED_LINES.sub(lambda match: BREAK + BLANK * (len(match[0]) - 1), text)
    if ">" in text:
        text = _QUOTED_LINE.sub(lambda match: BREAK + BLANK * (len(match[0]) - 1), text)
    if "o " in text or "o\t" in text:
        text = _LETTER_BULLET.sub(lambda match: match[0][:-1] + BREAK, text)
    if "\n  " in text or "\n\t" in text:
        text = _TERM.sub(lambda match: match[0][:-1] + BREAK, text)
    if ": " in text and (starts := _log_items(text)):
        pieces = [text[start + 1 : end] for start, end in pairwise([*starts, len(text)])]
        text = BREAK.join([text[: starts[0]], *pieces])
    if "-- " in text and (signature := _SIGNATURE.search(text)):
        canvas = Canvas(text)
        canvas.leave_out(*signature.span())
        return canvas.text
    return text


def _log_items(text: str) -> list[int]:
    """Return the starts of the indented lines that are subjects of commits ("docs: add a word").

    They are in blocks of lines with one indentation, of which at least half begin with a part of the program.
    """
    starts: list[int] = []
    block: list[re.Match[str]] = []
    for line in [*_INDENTED_LINE.finditer(text), None]:
        if line and block and line[1] == block[-1][1] and line.start() - block[-1].end() <= len("\r\n"):
            block.append(line)
            continue
        n_items = sum(_LOG_ITEM.match(item[2]) is not None for item in block)
        if n_items >= max(_MIN_LOG_ITEMS, len(block) / 2):
            starts += [item.start() for item in block]
        block = [line] if line else []
    return starts


def read_commit_message(text: str, suffix: str = ".gitcommit") -> Canvas:
    """Paint over everything in a commit message of git but the words of its author.

    Left out are trailers (``Signed-off-by: Ann``), and the lines that git writes and removes again: comments,
    and everything below the scissors line, such as the diff of ``git commit --verbose``.
    """
    canvas = Canvas(text)
    canvas.put(0, without_code_and_quotations(text))
    for start, end, _ in iterate_lines(text):
        line = text[start:end]
        if _SCISSORS.fullmatch(line):
            canvas.leave_out(start, len(text))
            break
        if line.startswith("#"):
            canvas.comment(start, end)
            canvas.put(start, BREAK)
        elif _TRAILER.fullmatch(line):
            canvas.leave_out(start, end)
    return canvas
