"""A component that writes spans, and keeps in a saved pipeline which model it had, not the model itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import srsly
from spacy.scorer import Scorer
from spacy.training import Example

from disambig.spacy.piped import Piped

if TYPE_CHECKING:
    from typing_extensions import Self


class SpanWriter(Piped):
    """What components that write spans share: scoring, and references to their model in saved pipelines.

    Parameters
    ----------
    name : str
        Name of the component in the pipeline.
    spans_key : str
        Key of ``doc.spans``.
    """

    reference_file: ClassVar[str] = "model.json"
    """In the component's folder of a saved pipeline."""

    def __init__(self, name: str, spans_key: str) -> None:
        super().__init__(name)
        self.spans_key = spans_key

    @abstractmethod
    def reference(self) -> dict[str, Any]:
        """Return plain values that tell the model from others."""

    @abstractmethod
    def check(self, saved: Any) -> None:
        """Warn where a pipeline was saved with another model than it has."""

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
        data: bytes = srsly.msgpack_dumps(self.reference())
        return data

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> Self:
        """Check that the model is the one saved; warn where it is another."""
        self.check(srsly.msgpack_loads(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write which model this is."""
        home = Path(path)
        home.mkdir(parents=True, exist_ok=True)
        srsly.write_json(home / self.reference_file, self.reference())

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> Self:
        """Check that the model is the one saved; warn where it is another."""
        reference = Path(path) / self.reference_file
        self.check(srsly.read_json(reference) if reference.is_file() else self.reference())
        return self
