"""Components that label whole documents: ``doc.cats`` holds the probability of each label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from disambig.data.decisions import Decisions
from disambig.errors import UserError
from disambig.fields import decides
from disambig.model.loading import load
from disambig.model.model import Model
from disambig.spacy.component import Disambiguator
from disambig.spacy.factory import require_distribution
from disambig.spacy.settings import checked

SCORE_WEIGHTS = {
    "cats_score": 1.0,
    "cats_score_desc": None,
    "cats_micro_p": None,
    "cats_micro_r": None,
    "cats_micro_f": None,
    "cats_macro_p": None,
    "cats_macro_r": None,
    "cats_macro_f": None,
    "cats_macro_auc": None,
    "cats_f_per_type": None,
}
"""As those of spaCy's ``textcat``."""


class DocumentLabeller(Disambiguator):
    """Label Docs as a whole: the probabilities in ``doc.cats`` sum to one.

    A Doc without words keeps the ``doc.cats`` that it has; so do others the labels that the model does
    not know.

    Parameters
    ----------
    nlp : Language
        The pipeline; its language must be the model's, if that has one.
    model : Model
        Of a task that labels documents.
    name : str
        Name of the component in the pipeline.

    Raises
    ------
    UserError
        D504 for a model that decides inside of documents, D500 for a pipeline of another language.
    """

    def __init__(self, nlp: Language, model: Model, *, name: str) -> None:
        if decides(model.task).where != "documents":
            raise UserError("D504", name=name, model=model.name, task=model.task.name)
        super().__init__(nlp, model, name=name, spans_key=model.task.name, protect=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of ``doc.cats``."""
        return self.model.task.groups[0].candidates

    def set_annotations(self, docs: Sequence[Doc], decisions: Decisions) -> None:
        """Write the probabilities of `predict` to the Docs."""
        shares = self.model.candidate_probabilities(decisions)
        if shares is None:
            return
        rows = shares.reshape(len(decisions), len(self.labels)).tolist()
        for document, row in zip(decisions.documents.tolist(), rows, strict=True):
            docs[document].cats.update(zip(self.labels, row, strict=True))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scores of spaCy's ``textcat``: one label a document is right."""
        told = {"labels": self.labels, "multi_label": False, **kwargs}
        scores: dict[str, Any] = Scorer.score_cats(examples, "cats", **told)
        return scores


def document_factory(name: str) -> Callable[..., DocumentLabeller]:
    """Register a component factory for models that label documents with spaCy and return it.

    The component's config has ``model``, the directory of one.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_topic"``.
    """
    factory = name

    def create(nlp: Language, name: str, model: str | None) -> DocumentLabeller:
        if not model:
            raise UserError("D480", name=name, factory=factory)
        require_distribution(nlp, factory)
        return DocumentLabeller(nlp, load(model), name=name)

    Language.factory(
        name,
        default_config={"model": None},
        assigns=["doc.cats"],
        default_score_weights=SCORE_WEIGHTS,
        func=checked(create),
    )
    return create
