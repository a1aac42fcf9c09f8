"""Components that label documents or tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import POS, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from disambig.data import Decisions, HashVocabulary
from disambig.errors import UserError
from disambig.models import Model
from disambig.spacy.component import Disambiguator, check_settings_of_factory, load_for_component
from disambig.spacy.factory import load_task_model, require_distribution
from disambig.text import ReadsDocs, hash_word, view_of_docs
from disambig.types import decides

_UNWEIGHTED = "score_desc micro_p micro_r micro_f macro_p macro_r macro_f macro_auc f_per_type"
SCORE_WEIGHTS = {"cats_score": 1.0, **{f"cats_{name}": None for name in _UNWEIGHTED.split()}}
"""The same weights as in spaCy's ``textcat``."""


class Labeller(Disambiguator):
    """A component that writes labels and no spans."""

    @property
    def span_tasks(self) -> tuple[str, ...] | None:
        """Empty, since no spans are written."""
        return ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of ``doc.cats`` or ``token.tag_``."""
        return self.model.task.groups[0].candidates


class DocumentLabeller(Labeller):
    """Label whole Docs: the probabilities in ``doc.cats`` sum to one.

    A Doc without words keeps its ``doc.cats``, and labels that the model does not know are kept as well.

    Raises D504 for a model that does not label whole documents, D500 for a pipeline of another language.

    `nlp`: the pipeline; its language must be the model's, if that has one.
    `model`: of a task that labels documents.
    `name`: name of the component in the pipeline.
    """

    def __init__(self, nlp: Language, model: Model, *, name: str) -> None:
        if decides(model.task).where != "documents":
            raise UserError("D504", name=name, model=model.name, task=model.task.name)
        super().__init__(nlp, model, name=name, spans_key=model.task.name, protect=False)

    def set_annotations(self, docs: Sequence[Doc], decisions: Decisions) -> None:
        """Write the probabilities of `predict` to the Docs."""
        probabilities = self.model.candidate_probabilities(decisions)
        if probabilities is None:
            return
        rows = probabilities.reshape(len(decisions), len(self.labels)).tolist()
        for document, row in zip(decisions.documents.tolist(), rows, strict=True):
            docs[document].cats.update(zip(self.labels, row, strict=True))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scores of spaCy's ``textcat`` with one label per document."""
        options = {"labels": self.labels, "multi_label": False, **kwargs}
        scores: dict[str, Any] = Scorer.score_cats(examples, "cats", **options)
        return scores


def document_factory(name: str) -> Callable[..., DocumentLabeller]:
    """Register a component factory for models that label documents with spaCy and return it.

    The component's config has ``model``, the directory of a model.

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
        return DocumentLabeller(nlp, load_for_component(model), name=name)

    Language.factory(
        name,
        default_config={"model": None},
        assigns=["doc.cats"],
        default_score_weights=SCORE_WEIGHTS,
        func=check_settings_of_factory(create),
    )
    return create


SPACE_TAG, SPACE_POS = "_SP", "SPACE"
"""Labels of white-space tokens, the same as in spaCy's own taggers."""
TOKEN_SCORE_WEIGHTS = {"tag_acc": 1.0, "pos_acc": 0.0}


@dataclass(frozen=True, slots=True)
class UniversalTags:
    """Parts of speech by label, with exceptions for some words.

    Attributes
    ----------
    of_tag : mapping of str to str
        From a label to a universal part of speech, such as ``"NOUN"``. Labels that are parts of speech
        themselves need no entry.
    of_word : mapping of (str, str) to str
        Exceptions: the part of speech by lower-case word and label.
    """

    of_tag: Mapping[str, str]
    of_word: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, eq=False)
class TokenLabels:
    """The labels of the tokens in a batch, without white-space tokens."""

    labels: NDArray[np.int64]  # (n_words,): candidate of each word
    # uint64 (n_words,): spaCy's number of each word's part of speech; 0 if it has none
    parts: NDArray[np.uint64]
    documents: NDArray[np.int64]  # (n_documents + 1,): where each document's words begin


class TokenLabeller(Labeller):
    """Label all tokens of Docs: ``tag_`` and, if `universal` is given, ``pos_``.

    Raises D505 for a model that does not label spaCy's tokens, D500 for a pipeline of another language.

    `nlp`: the pipeline; its language must be the model's.
    `model`: of a task that labels every token of `disambig.spacy_tokens.v1`.
    `name`: name of the component in the pipeline.
    `overwrite`: whether to replace labels that tokens have already; otherwise these are kept.
    """

    def __init__(
        self,
        nlp: Language,
        model: Model,
        *,
        name: str,
        universal: UniversalTags | None = None,
        overwrite: bool = True,
    ) -> None:
        if decides(model.task).between != "labels" or not isinstance(model.tokenisation, ReadsDocs):
            raise UserError("D505", name=name, model=model.name, task=model.task.name)
        self.universal = universal
        self.overwrite = overwrite
        super().__init__(nlp, model, name=name, spans_key=model.task.name, protect=False)
        strings = nlp.vocab.strings
        self._tags = np.array([strings.add(tag) for tag in self.labels], np.uint64)
        universal_tags = universal or UniversalTags({}, {})
        # a model may be trained with universal parts of speech as tags
        parts = [universal_tags.of_tag.get(tag, tag if tag in IDS else "") for tag in self.labels]
        self._parts = np.array([IDS[part] for part in parts], np.uint64)
        index = {tag: i for i, tag in enumerate(self.labels)}
        rows = sorted(  # the keys of `predict`, in integers that Python must cut to 64 bits
            (hash_word(word) ^ (index[tag] * int(_STEP) % 2**64), IDS[pos])
            for (word, tag), pos in universal_tags.of_word.items()
            if tag in index
        )
        self._exceptions = HashVocabulary(np.array([key for key, _ in rows], np.uint64))
        self._exception_parts = np.array([part for _, part in rows], np.uint64)

    def predict(self, docs: Sequence[Doc]) -> TokenLabels:  # type: ignore[override]
        """Return the labels of a batch of Docs without changing the Docs."""
        view = view_of_docs(docs, self.model.tokenisation)
        instances, chosen = self.model.choose(view)
        keys = view.hashes[instances.positions] ^ (chosen.astype(np.uint64) * _STEP)
        parts = self._exceptions.get(keys, self._exception_parts, self._parts[chosen])
        return TokenLabels(chosen, parts, instances.positions.searchsorted(view.documents))

    def set_annotations(self, docs: Sequence[Doc], decisions: TokenLabels) -> None:  # type: ignore[override]
        """Write the labels of `predict` to the Docs."""
        tags = self._tags[decisions.labels]
        bounds = decisions.documents.tolist()
        space = self.vocab.strings.add(SPACE_TAG)
        for doc, first, last in zip(docs, bounds, bounds[1:], strict=False):
            if doc.vocab is not self.vocab:
                for tag in (*self.labels, SPACE_TAG):
                    doc.vocab.strings.add(tag)
            columns = np.full((len(doc), 2), (space, IDS[SPACE_POS]), np.uint64)
            if last - first == len(doc):
                words: Any = slice(None)
            else:
                words = np.array([not token.text.isspace() for token in doc], bool)
            columns[words, 0], columns[words, 1] = tags[first:last], decisions.parts[first:last]
            if not self.overwrite:
                existing = doc.to_array([TAG, POS])
                columns = np.where(existing > 0, existing, columns)
            wanted = [TAG, POS] if self.universal else [TAG]
            doc.from_array(wanted, columns if self.universal else columns[:, :1])

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return ``tag_acc`` and ``pos_acc``, as spaCy's tagger and morphologizer do."""
        example_list = list(examples)
        scores: dict[str, Any] = Scorer.score_token_attr(example_list, "tag", **kwargs)
        if self.universal:
            scores |= Scorer.score_token_attr(example_list, "pos", **kwargs)
        return scores


_STEP = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: the multiples of it spread small numbers over all 64 bits."""


def token_factory(
    name: str, *, task: str, universal: Callable[[], UniversalTags] | None = None
) -> Callable[..., TokenLabeller]:
    """Register a component factory that labels tokens, and return it.

    The component's config has ``model`` (a name or directory; by default the installed pack's model of
    `task`), ``pos``, whether ``token.pos_`` is also written, and ``overwrite``, whether labels that tokens
    have already are replaced.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_tagger"``.
    task : str
        What the component decides; it refuses models of other tasks.
    universal : callable, optional
        Returns the parts of speech for ``pos``.
    """
    factory = name

    def create(nlp: Language, name: str, model: str | None, pos: bool, overwrite: bool) -> TokenLabeller:
        require_distribution(nlp, factory)
        tags = universal() if universal and pos else None
        loaded = load_task_model(name, model, task)
        return TokenLabeller(nlp, loaded, name=name, universal=tags, overwrite=overwrite)

    Language.factory(
        name,
        default_config={"model": None, "pos": universal is not None, "overwrite": True},
        assigns=["token.tag", "token.pos"] if universal else ["token.tag"],
        default_score_weights=TOKEN_SCORE_WEIGHTS,
        func=check_settings_of_factory(create),
    )
    return create
