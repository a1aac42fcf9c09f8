"""HTML tags in Markdown, and marks of its dialects (MkDocs, Obsidian, MyST, Quarto, Jekyll, Hugo)."""

from __future__ import annotations

import re

VERBATIM_TAGS = frozenset(
    ("code", "kbd", "samp", "pre", "script", "style", "math", "svg", "textarea", "tt", "var")
)
QUOTING_TAGS = frozenset(("q", "blockquote", "del", "s", "strike"))
INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite em font i ins label mark nobr small span strong sub sup time u".split()
)
# A tag of Liquid or a shortcode of Hugo around code or formulas.
CODE_TAG = re.compile(
    r"\{%-?[ \t]*(highlight|raw|comment|codeblock|mermaid|math)\b"
    r"|\{\{[<%][ \t]*(highlight|raw|mermaid|math|katex|code|chart)\b"
)
ROLE = re.compile(r"\{[a-z][\w:.+-]{0,60}\}")
# `[[target]]` or `[[target|shown]]`; the bar is escaped in a table. Not the text of a link.
WIKI_LINK = re.compile(
    r"!?\[\[(?P<target>[^\[\]|\r\n\u2029\\]{1,200})(?P<bar>\\?\|(?P<shown>[^\[\]\r\n\u2029]{0,200}))?\]\]"
    r"(?![(\[])"
)
# `!!! note "Title"` and `??? note "Title"` of MkDocs, `=== "Title"` of its tabs.
ADMONITION = re.compile(
    r"(?:(?:!!!|\?\?\?\+?)[ \t]+[A-Za-z][\w-]*(?:[ \t]+[A-Za-z][\w-]*)*|===[!+]?(?=[ \t]+\"))"
    r"(?:[ \t]+\"(?P<title>[^\"]*)\")?[ \t]*"
)
DIRECTIVE = re.compile(r"[ \t]*\{(?P<name>[A-Za-z][\w:.-]*)\}[ \t]*")
CONTAINER = re.compile(r"[ \t]*(?:[A-Za-z][\w-]*)?(?:[ \t]*\{[^{}]*\})?[ \t]*\[?")
COMPONENT = re.compile(
    r"::(?P<name>[A-Za-z][\w.-]*(?::[\w.-]+)*)?(?:\[(?P<title>[^\[\]\n]*)\])?(?:\{[^\n]*\})?[ \t]*"
)
"""A line that begins or ends a component of MDC, as in Nuxt: ``::card{icon="a"}``, ``::``."""
_END = r"(?:\r\n|\r|\n)"
INDENTED = re.compile(rf"{_END}([ ]+)(?=\S)")
COMPONENT_OPTIONS = re.compile(
    rf"{_END}(?P<begin>[ \t]*---[ \t]*{_END})(?P<yaml>(?:(?![ \t]*---[ \t]*[\r\n])[ \t]*\S[^\r\n]*{_END})*)"
    r"[ \t]*---[ \t]*(?=[\r\n]|\Z)"
)
"""YAML directly below the line that begins a component."""
# `:name[text]{attributes}`, an inline directive of MDC and remark.
INLINE_COMPONENT = re.compile(
    r":[A-Za-z][\w-]{1,40}(?:\[(?P<text>[^\[\]\n]{0,300})\](?:\{[^{}\n]{0,300}\})?|\{[^{}\n]{0,300}\})"
)
BLOCK = re.compile(r"/{3,}(?:[ \t]*(?P<name>[A-Za-z][\w-]*)(?:[ \t]*\|[ \t]*(?P<title>[^\n]*[^\s]))?)?[ \t]*")
"""A line that begins or ends a block of PyMdown: ``/// note | A title``, ``///``."""
UNTITLED_BLOCKS = frozenset("html define fancylists".split())
"""Blocks of PyMdown whose arguments are not text."""
TARGET = re.compile(r"\([\w.:/-]+\)=[ \t]*")
"""A target of MyST: ``(label)=``."""
SLOT = re.compile(r"#[a-z][\w-]*[ \t]*")
"""A line that begins a slot of a component: ``#title``."""
_ATTRIBUTE = r"[#.:\w-][\w.:-]*(?:=(?:\"[^\"{}\n]*\"|'[^'{}\n]*'|[^\s{}\"']+))?"
LINK_ATTRIBUTES = re.compile(rf"\{{(?=[^{{}}\n]*[#.=]){_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*\}}")
"""Attributes directly after a link, an image or a text in brackets."""
CHUNK_CAPTION = re.compile(
    r"(?<=[\s,{])(?:fig|tbl|tab)\.(?:cap|scap|alt)\s{0,3}=\s{0,3}"
    r"(?:\"(?P<double>[^\"\n]{1,2000})\"|'(?P<single>[^'\n]{1,2000})')(?=[ \t]*[,}])"
)
"""A caption in the first line of a cell of R Markdown."""
DIRECTIVE_OPTION = re.compile(r":[\w-]+:(?=\s|$)")
SHOWN_OPTION = re.compile(r":(?:alt|caption|title|subtitle|header|footer|summary|description):[ \t]+(?=\S)")
"""An option of a directive whose value is text."""
MDX_BLOCK = "mdx-code-block"
"""Language of code blocks with Markdown and JSX, which Docusaurus shows as text."""
RST_BLOCK = "eval-rst"
"""Name of the directive of MyST whose body is reStructuredText."""
SHORTCODES = re.compile(r"(?:(?:\{%[^{}%]*%\}|\{\{[<%][^{}]*[>%]\}\}|\{\{[#/^][^{}]*\}\})[ \t]*)+")
PROSE_DIRECTIVES = frozenset(
    "note tip hint important warning caution danger error attention seealso todo admonition dropdown details "
    "card card-header card-footer tab-item tab-set tabs tab grid grid-item grid-item-card sidebar topic "
    "margin aside figure glossary exercise solution proof theorem lemma corollary definition remark example "
    "property deprecated versionadded versionchanged div image table list-table callout-note callout-tip "
    "callout-warning callout-important callout-caution only hlist".split()
)
"""Directives whose body is text."""
UNTITLED = frozenset("figure image grid tab-set tabs div glossary exercise solution only hlist".split())
"""Directives whose arguments are not text."""
CODE_DIRECTIVES = frozenset(
    "code code-block code-cell sourcecode math eval-rst toctree mermaid raw include literalinclude "
    "csv-table plot bibliography tableofcontents contents autosummary automodule "
    "autoclass".split()
)
"""Directives in colons whose body is not text."""


def code_tag_end(tag: re.Match[str]) -> str:
    """Return the pattern of the tag that ends the code of a shortcode."""
    if tag[1]:
        return rf"\{{%-?[ \t]*end{tag[1].lower()}[ \t]*-?%\}}"
    return rf"\{{\{{[<%][ \t]*/[ \t]*{tag[2].lower()}[ \t]*[>%]\}}\}}"
