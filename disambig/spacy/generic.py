"""The component ``disambig``: any model, of whatever task, by the directory it was saved in."""

from __future__ import annotations

from typing import Any

from spacy.language import Language

from disambig.errors import UserError
from disambig.fields import decides
from disambig.model.loading import load
from disambig.spacy.component import Disambiguator
from disambig.spacy.documents import DocumentLabeller
from disambig.spacy.factory import require_distribution
from disambig.spacy.settings import checked

FACTORY = "disambig"
DEFAULTS: dict[str, Any] = {
    "model": None,
    "spans_key": None,
    "flags_per_1000": None,
    "ignore": [],
    "protect": True,
}


def make_any(
    nlp: Language,
    name: str,
    model: str | None,
    spans_key: str | None,
    flags_per_1000: float | None,
    ignore: list[str],
    protect: bool,
) -> Disambiguator:
    """Make a component of a model that the config names; one that labels documents writes ``doc.cats``.

    Parameters
    ----------
    nlp : Language
    name : str
        Name of the component in the pipeline; give each its own where there are several.
    model : str
        A model directory, a task or PACK/TASK.
    spans_key : str, optional
        Key of ``doc.spans``; the name of the model's task if not given.
    flags_per_1000, ignore, protect
        As for `Disambiguator`; the labels of documents do not need them.

    Raises
    ------
    UserError
        D480 where no model is named, D404 where there is none of that name.
    """
    if not model:
        raise UserError("D480", name=name, factory=FACTORY)
    require_distribution(nlp, FACTORY)
    loaded = load(model)
    if decides(loaded.task).where == "documents":
        return DocumentLabeller(nlp, loaded, name=name)
    return Disambiguator(
        nlp,
        loaded,
        name=name,
        spans_key=spans_key or loaded.task.name,
        flags_per_1000=flags_per_1000,
        ignore=ignore,
        protect=protect,
    )


Language.factory(
    FACTORY,
    default_config=DEFAULTS,
    assigns=["doc.spans", "doc.user_data", "span._.disambig", "doc.cats"],
    func=checked(make_any),
)
