"""A page that leads to the parts of an HTML job: each with what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disambig.formats.html.escaping import escape
from disambig.formats.html.page import opening
from disambig.plural import many


@dataclass(frozen=True, slots=True)
class PartOfJob:
    """A page of a job: its file, what it was made of, and what is in it."""

    name: str
    source: str
    documents: int
    words: int
    flags: int


def parts_page(parts: Sequence[PartOfJob], *, left: int, language: str) -> str:
    """Return the page; `left` shards have no part (yet)."""
    documents, flags = sum(part.documents for part in parts), sum(part.flags for part in parts)
    title = f"{many(flags, 'flag')} in {many(documents, 'document')}"
    rows = "\n".join(
        f'<tr><td><a href="{escape(part.name)}">{escape(part.name)}</a></td><td>{escape(part.source)}</td>'
        f"<td>{part.documents:,}</td><td>{part.words:,}</td><td>{part.flags:,}</td></tr>"
        for part in parts
    )
    missing = f"<p>{many(left, 'part')} could not be made, or not yet.</p>\n" if left else ""
    return f"""{opening(title, language=language)}
<body>
<header lang="en">
<h1>{title}</h1>
{missing}<table>
<thead><tr><th>part</th><th>begins with</th><th>documents</th><th>words</th><th>flags</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</header>
</body>
</html>
"""
