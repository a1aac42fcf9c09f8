"""How much one client may ask for, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass

_BYTES_A_CHARACTER = 16
"""Of a form: a character outside the basic plane takes twelve, and annotations have marks of their own."""
_LEAST_BODY = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a server.

    Attributes
    ----------
    max_text : int
        Characters of one text.
    max_clients : int
        Connections at once; what is above is answered with 503.
    client_seconds : float
        How long a client may take to send a request, to read its answer, or until the next request, before
        it is dropped.
    text_seconds : float
        Processor time that a text may take to be decided; one that takes longer is answered with 413.
    held : int
        Bytes of requests that wait, and of answers that are not sent yet; what is above is answered with 503.
    """

    max_text: int = 500_000
    max_clients: int = 256
    client_seconds: float = 10.0
    text_seconds: float = 10.0
    held: int = 1 << 28

    @property
    def max_body(self) -> int:
        """Most bytes of a request."""
        return max(_LEAST_BODY, _BYTES_A_CHARACTER * self.max_text)
