"""What every component is: a call for a Doc, and a stream of Docs in batches, none lost by another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.util import raise_error

_MOST_TOKENS = 100_000
"""Tokens at which a batch is full: more would not be faster."""


class Piped(ABC):
    """A component that finds something in a batch of Docs, and writes it to them.

    Parameters
    ----------
    name : str
        Name of the component in the pipeline.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.error_handler: Callable[..., None] | None = None

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> Any:
        """Return what is found in a batch of Docs; the Docs stay as they are."""

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], found: Any) -> None:
        """Write what `predict` found to the Docs."""

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc."""
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as problem:  # spaCy's protocol: the handler decides whether to go on
            self.get_error_handler()(self.name, self, [doc], problem)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Annotate a stream of Docs, a batch at a time; one bad Doc does not lose its batch.

        Parameters
        ----------
        stream : iterable of Doc
        batch_size : int
            Docs in a batch at most; long Docs make smaller batches.
        """
        for docs in _batches(stream, batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
                good = True
            except Exception:
                good = False
            yield from docs if good else self._one_by_one(docs)

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Annotate Docs of which one at least is bad; the error handler gets the bad ones."""
        for doc in docs:
            try:
                self.set_annotations([doc], self.predict([doc]))
            except Exception as problem:
                self.get_error_handler()(self.name, self, [doc], problem)
            else:
                yield doc

    def set_error_handler(self, error_handler: Callable[..., None]) -> None:
        """Set what is called with (name, component, docs, error) for a Doc that fails."""
        self.error_handler = error_handler

    def get_error_handler(self) -> Callable[..., None]:
        """Return what is called for a Doc that fails; by default the error is raised."""
        handler: Callable[..., None] = self.error_handler or raise_error
        return handler


def _batches(stream: Iterable[Doc], size: int) -> Iterator[list[Doc]]:
    """Gather Docs, so that neither many short ones cost time nor many long ones memory."""
    batch: list[Doc] = []
    tokens = 0
    for doc in stream:
        batch.append(doc)
        tokens += len(doc)
        if len(batch) >= size or tokens >= _MOST_TOKENS:
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch
