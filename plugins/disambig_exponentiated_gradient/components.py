"""The spaCy component of this plugin (only spaCy imports this module, through its entry point)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from disambig.api.components import declared_factory

if TYPE_CHECKING:
    from .spacy._component import ConstituentParser


def _create(
    nlp: Any, name: str, model: str | None, spans_key: str, tags: bool, max_length: float
) -> ConstituentParser:
    from .parser.parser import PACK, Parser
    from .spacy._component import ConstituentParser

    parser = Parser.load(model or PACK, max_length=max_length)  # type: ignore[arg-type]  # D903 for another
    return ConstituentParser(nlp, parser, name=name, spans_key=spans_key, tags=tags)


make_parser = declared_factory(
    "disambig_parser",
    _create,
    defaults={"model": None, "spans_key": "constituents", "tags": False, "max_length": 150},
    assigns=["doc.spans", "token.sent_start", "token.tag", "span._.parse_string", "span._.labels"],
    scores={"spans_constituents_f": 1.0, "spans_constituents_p": 0.0, "spans_constituents_r": 0.0},
)
