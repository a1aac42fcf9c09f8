"""What is answered where a request is refused: one line of plain text, as clients of LanguageTool expect."""

from __future__ import annotations

from disambig.errors import UserError

STATUS = {
    "D883": 400,
    "D884": 400,
    "D885": 413,
    "D886": 403,
    "D887": 503,
    "D888": 404,
    "D889": 408,
    "D890": 405,
    "D891": 413,
}
"""By the code of the error; any other is a 500."""


def status_of(problem: UserError) -> int:
    """Return the HTTP status of a refusal."""
    return STATUS.get(problem.code, 500)


def said_of(problem: UserError) -> str:
    """Return what a client is told."""
    return f"Error: {problem}"


def unclear(problem: str) -> UserError:
    """Return the refusal of a request that cannot be understood."""
    return UserError("D883", problem=problem)
