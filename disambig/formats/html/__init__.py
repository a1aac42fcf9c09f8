"""Annotated texts as one HTML page, complete in itself: no script, nothing from elsewhere.

`passages` turns a document into paragraphs with marks, `page` puts a page together, `format` is the
door to the other formats. Nothing is decided here.
"""

from disambig.formats.html.format import HtmlFormat

__all__ = ["HtmlFormat"]
