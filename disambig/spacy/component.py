"""The component: decides in Docs with a model of any task and writes what was decided."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from disambig.data.decisions import Decisions
from disambig.errors import UserError
from disambig.fields import decides
from disambig.judges.operating import checked
from disambig.model.annotate import ignoring
from disambig.model.model import Model
from disambig.spacy.annotations import write_batch
from disambig.spacy.piped import Piped
from disambig.text.documents import view_of_docs

_REFERENCE = "model.json"


class Disambiguator(Piped):
    """Decide between candidates in Docs.

    `predict` is pure; `set_annotations` alone writes.

    Parameters
    ----------
    nlp : Language
        The pipeline; its language must be the model's.
    model : Model
    name : str
        Name of the component in the pipeline.
    spans_key : str
        Key of ``doc.spans``.
    flags_per_1000 : float, optional
        False alarms to accept per 1,000 correct words; by default the model's own rate.
    ignore : sequence of str
        Words to leave alone, however they are capitalised.
    protect : bool
        Whether quotes, code, URLs and names are left alone.

    Raises
    ------
    UserError
        D500 for a pipeline of another language, D401 for an impossible rate, D503 for an `ignore`
        that is no list of words.
    """

    def __init__(
        self,
        nlp: Language,
        model: Model,
        *,
        name: str,
        spans_key: str,
        flags_per_1000: float | None = None,
        ignore: Sequence[str] = (),
        protect: bool = True,
    ) -> None:
        if model.language and nlp.lang != model.language:
            raise UserError("D500", name=name, seen=nlp.lang, language=model.language)
        if decides(model.task).where == "items":
            raise UserError("D338", model=model.name)
        if flags_per_1000 is not None:
            checked(flags_per_1000)
        super().__init__(name)
        self.model = model
        self.spans_key = spans_key
        self.flags_per_1000 = flags_per_1000
        self.ignore = tuple(_one_word(model, name, word) for word in _as_list(name, ignore))
        self.protect = protect
        self.vocab = nlp.vocab
        self._add_strings()

    def predict(self, docs: Sequence[Doc]) -> Decisions:
        """Return the decisions in a batch of Docs; the Docs stay as they are."""
        view = view_of_docs(docs, self.model.tokenisation, protected=self.protect)
        decisions = self.model.decide(ignoring(view, self.ignore), flags_per_1000=self.flags_per_1000)
        return decisions.without_empty()

    def set_annotations(self, docs: Sequence[Doc], decisions: Decisions) -> None:
        """Write the decisions of `predict` to the Docs."""
        write_batch(docs, decisions, spans_key=self.spans_key)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return precision, recall and F of the spans, as ``spacy evaluate --spans-key`` shows them."""
        key, prefix = self.spans_key, "spans_"
        scores: dict[str, Any] = Scorer.score_spans(
            examples,
            attr=f"{prefix}{key}",
            getter=lambda doc, attr: doc.spans.get(attr.removeprefix(prefix), []),
            has_annotation=lambda doc: key in doc.spans,
            allow_overlap=True,
            labeled=kwargs.get("labeled", True),
        )
        return scores

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Return which model this is: the model itself is referred to, not copied."""
        data: bytes = srsly.msgpack_dumps(self._reference())
        return data

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> Disambiguator:
        """Check that the model is the one saved; warn where it is another."""
        self._check(srsly.msgpack_loads(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write which model this is."""
        home = Path(path)
        home.mkdir(parents=True, exist_ok=True)
        srsly.write_json(home / _REFERENCE, self._reference())

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> Disambiguator:
        """Check that the model is the one saved; warn where it is another."""
        reference = Path(path) / _REFERENCE
        self._check(srsly.read_json(reference) if reference.is_file() else self._reference())
        return self

    def _reference(self) -> dict[str, Any]:
        return {"task": self.model.task.name, "model": f"{self.model.name} {self.model.version}"}

    def _check(self, saved: dict[str, Any]) -> None:
        self._add_strings()  # the vocabulary was read anew as well
        if saved != self._reference():
            warnings.warn(
                f"{self.name} was saved with {saved.get('model')}, and decides with "
                f"{self.model.name} {self.model.version} now",
                stacklevel=2,
            )

    def _add_strings(self) -> None:
        for text in (self.model.task.name, self.spans_key):
            self.vocab.strings.add(text)
        for group in self.model.task.groups:
            for candidate in group.candidates:
                self.vocab.strings.add(candidate)


def _as_list(name: str, ignore: Sequence[str]) -> Sequence[str]:
    if isinstance(ignore, str):
        raise UserError("D503", name=name, word=ignore)
    return ignore


def _one_word(model: Model, name: str, entry: str) -> str:
    """Return the normal form of a word to ignore."""
    words = model.tokenisation.words(entry)[1:-1]  # between the boundary words
    if len(words) != 1:
        raise UserError("D503", name=name, word=entry)
    return words[0]
