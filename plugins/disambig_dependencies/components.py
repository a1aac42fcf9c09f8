"""The spaCy component of this plugin (only spaCy imports this module, through its entry point)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from disambig.api.components import declared_factory

if TYPE_CHECKING:
    from .spacy._component import DependencyLabeller


def _create(nlp: Any, name: str, model: str | None, beam: float | None) -> DependencyLabeller:
    from disambig.api import load_model

    from .parser import PACK, load_parser
    from .spacy._component import DependencyLabeller

    parser = load_parser(model or PACK)
    if beam is not None:
        parser = parser.with_beam(beam)  # type: ignore[arg-type]  # D903 for a number that is not whole
    return DependencyLabeller(nlp, parser, load_model(parser.tagger), name=name)


make_dependencies = declared_factory(
    "disambig_dependencies",
    _create,
    defaults={"model": None, "beam": None},
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents"],
    scores={"dep_uas": 0.5, "dep_las": 0.5},
)
