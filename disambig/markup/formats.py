"""The formats whose markup is read: one table, by the suffix of the file name.

A format that is added here is read by all commands; suppression comments that an editor inserts are written
in its syntax.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from disambig.markup.canvas import Canvas
from disambig.markup.layout import Layout

HTML_COMMENT = "<!-- ", " -->"
JSX_COMMENT = "{/* ", " */}"
CSS_COMMENT, ML_COMMENT = ("/* ", " */"), ("(* ", " *)")
SEMICOLONS = ("; ", "")
HASH, SLASHES, DASHES, PERCENT = ("# ", ""), ("// ", ""), ("-- ", ""), ("% ", "")
RST_COMMENT = ".. ", ""
POD_COMMENT = "=for comment ", ""
TEXINFO_COMMENT = "@c ", ""
ROFF = '.\\" ', ""
_MANUAL_SECTION = re.compile(r"\.(?:[1-9](?!(?:st|nd|rd|th|z|gp)\Z)[a-z]{0,10}|n)")


@dataclass(frozen=True, slots=True)
class MarkupFormat:
    """A format of text files."""

    name: str  # name for people
    suffixes: tuple[str, ...]  # suffixes of file names, in lower case
    # ``module:function``. The function is called with the text, the suffix, and the options in `options` by
    # name, and returns a `Canvas`
    reader: str
    comment: tuple[str, str]  # what is written before and after the text of a comment
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


def _prose(
    name: str, suffixes: str, reader: str, comment: tuple[str, str], languages: str, **more: Any
) -> MarkupFormat:
    return MarkupFormat(
        name,
        tuple(suffixes.split()),
        f"disambig.markup.{reader}",
        comment,
        tuple(languages.split()),
        in_folders=True,
        **more,
    )


def _code(
    name: str, suffixes: str, lexer: str, comment: tuple[str, str], languages: str, **more: Any
) -> MarkupFormat:
    reader = "disambig.markup.code:read_code"
    return MarkupFormat(
        name, tuple(suffixes.split()), reader, comment, tuple(languages.split()), lexer, **more
    )


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
    _prose("DocBook", ".docbook .dbk", "_xml_documents:read_docbook", HTML_COMMENT, "docbook docbk"),
    _prose("DITA", ".dita .ditamap", "_xml_documents:read_dita", HTML_COMMENT, "dita"),
    MarkupFormat(
        "DocBook or DITA document", (".xml",), "disambig.markup._xml_documents:read_xml", HTML_COMMENT
    ),
    _prose("Jupyter notebook", ".ipynb", "notebooks:read_notebook", HTML_COMMENT, "jupyter"),
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
    MarkupFormat(
        "manual page by section",
        tuple(f".{section}" for section in range(1, 10)),
        "disambig.markup.man_pages:read_man",
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
    _prose("LaTeX", ".tex .latex .rnw", "_latex:read_latex", PERCENT, "latex tex plaintex rnoweb rsweave"),
    MarkupFormat(
        "translation file",
        (".po", ".pot"),
        "disambig.markup.translations:read_po",
        HASH,
        ("po", "pot", "gettext"),
        comment_place="line",
    ),
    MarkupFormat(
        "commit message",
        (".gitcommit",),
        "disambig.markup.plain_texts:read_commit_message",
        HASH,
        ("git-commit", "gitcommit"),
        names=("commit_editmsg", "merge_msg", "squash_msg", "tag_editmsg", "pullreq_editmsg"),
        comment_place="line",
    ),
    _code("Python", ".py .pyi", "PythonLexer", HASH, "python"),
    _code("Rust", ".rs", "RustLexer", SLASHES, "rust"),
    _code("JavaScript", ".js .mjs .cjs", "JavascriptLexer", SLASHES, "javascript"),
    _code("JavaScript with JSX", ".jsx", "JavascriptLexer", SLASHES, "javascriptreact"),
    _code("TypeScript", ".ts .mts .cts", "TypeScriptLexer", SLASHES, "typescript"),
    _code("TypeScript with JSX", ".tsx", "TypeScriptLexer", SLASHES, "typescriptreact"),
    _code("Go", ".go", "GoLexer", SLASHES, "go"),
    _code("C", ".c .h", "CLexer", SLASHES, "c"),
    _code(
        "C++",
        ".cpp .cc .cxx .hpp .hh .hxx .cu .cuh .ino .mm .dox",
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
    _code("Ruby", ".rb .rake .gemspec", "Ruby", HASH, "ruby"),
    _code("R", ".r", "R", HASH, "r"),
    _code("Lua", ".lua", "Lua", DASHES, "lua"),
    _code("SQL", ".sql", "SQL", DASHES, "sql"),
    _code("Haskell", ".hs", "Haskell", DASHES, "haskell"),
    _code("YAML", ".yml .yaml", "YAML", HASH, "yaml dockercompose", options=("yaml_fields",)),
    _code("shell", ".sh .bash", "BashLexer", HASH, "shellscript sh bash"),
    _code("TOML", ".toml", "TOML", HASH, "toml"),
    _code("PowerShell", ".ps1 .psm1 .psd1", "PowerShell", HASH, "powershell ps1"),
    _code(
        "properties",
        ".properties",
        "properties",
        HASH,
        "properties java-properties jproperties",
        comment_place="line",
    ),
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
    _code("OCaml", ".ml .mli", "OCaml", ML_COMMENT, "ocaml"),
    _code("Elixir", ".ex .exs", "Elixir", HASH, "elixir"),
    _code("Erlang", ".erl .hrl", "Erlang", PERCENT, "erlang"),
    _code("Perl", ".pl .pm", "Perl", HASH, "perl"),
    _code("Julia", ".jl", "Julia", HASH, "julia"),
    _code("CMake", ".cmake", "CMake", HASH, "cmake", names=("cmakelists.txt",)),
    _code("Lisp", ".lisp .el .scm .rkt .clj .cljs .cljc", "Lisp", SEMICOLONS, "lisp clojure scheme racket"),
)
"""All formats; a text with another suffix has no markup."""
_BY_SUFFIX = {suffix: entry for entry in FORMATS for suffix in entry.suffixes}
_MANUAL_PAGE = _BY_SUFFIX[".1"]
_BY_NAME = {name: entry for entry in FORMATS for name in entry.names}
_BY_LANGUAGE = {language: entry for entry in FORMATS for language in entry.languages}


def path_format(path: str) -> MarkupFormat | None:
    """Return the format of a file by its suffix or name, in any case; None if it is not in the table."""
    name = os.path.basename(path).lower()
    suffix = os.path.splitext(name)[1]
    return _BY_NAME.get(name) or _BY_SUFFIX.get(suffix) or (_MANUAL_PAGE if is_section(suffix) else None)


def is_section(suffix: str) -> bool:
    """Return True for the suffix of a manual section, such as ``.1``, ``.3pm`` or ``.n``.

    Other files have such suffixes as well: a text is a manual page only if it begins like roff.
    """
    return _MANUAL_SECTION.fullmatch(suffix) is not None


def language_suffix(language: str) -> str:
    """Return the suffix of texts in a language of the language server protocol; ``.txt`` if it is unknown."""
    language_format = _BY_LANGUAGE.get(language.lower())
    return language_format.suffixes[0] if language_format else ".txt"
