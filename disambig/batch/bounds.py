"""What a job's documents may take: sent to each worker with its work."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from disambig.errors import UserError
from disambig.files.memory import input_bound


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on single inputs and documents.

    Attributes
    ----------
    held : int
        Bytes of an input that may lie in memory, where it cannot be read piece by piece; 0, for the usual
        bound of this machine, becomes that.
    usual : bool
        Whether it is: another machine may have another bound.
    seconds : float or None
        That annotating a document may take; None: as long as it likes.
    """

    held: int = 0
    seconds: float | None = None
    usual: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if not self.held:
            object.__setattr__(self, "usual", True)
            object.__setattr__(self, "held", input_bound())
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise UserError("D859", value=self.seconds)

    def plain(self) -> dict[str, Any]:
        """Return what of them changes the output, for a manifest; what is usual is not said."""
        return {
            **({} if self.usual else {"max_input": self.held}),
            **({"document_timeout": self.seconds} if self.seconds is not None else {}),
        }
