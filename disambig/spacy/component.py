"""The component: decides in Docs with a model of any task and writes what was decided."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from disambig.data.decisions import Decisions
from disambig.errors import UserError
from disambig.fields import decides
from disambig.judges.operating import checked
from disambig.model.annotate import ignoring
from disambig.model.model import Model
from disambig.spacy.annotations import write_batch
from disambig.spacy.span_writer import SpanWriter
from disambig.text.documents import view_of_docs


class Disambiguator(SpanWriter):
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
        super().__init__(name, spans_key)
        self.model = model
        self.flags_per_1000 = flags_per_1000
        self.ignore = words_to_ignore(model, name, ignore)
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

    def reference(self) -> dict[str, Any]:
        """Return task, name and version of the model."""
        return {"task": self.model.task.name, "model": f"{self.model.name} {self.model.version}"}

    def check(self, saved: Any) -> None:
        """Warn where the pipeline was saved with another model."""
        self._add_strings()  # the vocabulary was read anew as well
        if saved != self.reference():
            warnings.warn(
                f"{self.name} was saved with {saved.get('model')}, and decides with "
                f"{self.model.name} {self.model.version} now",
                stacklevel=3,
            )

    def _add_strings(self) -> None:
        for text in (self.model.task.name, self.spans_key):
            self.vocab.strings.add(text)
        for group in self.model.task.groups:
            for candidate in group.candidates:
                self.vocab.strings.add(candidate)


def words_to_ignore(model: Model, name: str, ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the normal forms of words to leave alone, as the model's tokenisation cuts them.

    Raises
    ------
    UserError
        D503, naming the component, for what is no list of single words.
    """
    if isinstance(ignore, str):
        raise UserError("D503", name=name, word=ignore)
    return tuple(_one_word(model, name, word) for word in ignore)


def _one_word(model: Model, name: str, entry: str) -> str:
    """Return the normal form of a word to ignore."""
    words = model.tokenisation.words(entry)[1:-1]  # between the boundary words
    if len(words) != 1:
        raise UserError("D503", name=name, word=entry)
    return words[0]
