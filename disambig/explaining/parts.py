"""The parts of some candidates' scores as a table: in order of size, down to the sum, which is the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from disambig.explaining.judged import SUM, Weighed
from disambig.explaining.reasons import Reason
from disambig.explaining.verdict import shown
from disambig.plural import many

ABSENT = "0"
UNKNOWN = "-"
LEAST_SHOWN = 0.0005
"""What a smaller part adds would be shown as nothing."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people; its last `numbers` columns are figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int


def table_of(
    reasons: Sequence[Reason],
    candidates: Sequence[str],
    *,
    top: int,
    what: str,
    judged: Mapping[str, Weighed] | None = None,
) -> Table | None:
    """Return the heaviest `top` parts of each candidate's score, the sum of the others, and the sum of all.

    Behind the score stands what the judge makes of it, where it makes more of it.

    None where nothing is known of any of these candidates.

    Parameters
    ----------
    reasons : sequence of Reason
        All parts of the scores.
    candidates : sequence of str
        Those that are shown, in this order.
    what : str
        What one thing that was looked up is called.
    judged : mapping of str to Weighed, optional
        See `disambig.explaining.judged.weighed`.
    """
    rows: list[tuple[str, ...]] = []
    for candidate in candidates:
        own = [reason for reason in reasons if reason.candidate == candidate]
        own.sort(key=lambda reason: -abs(reason.contribution))
        heavy = [reason for reason in own[:top] if _weighs(reason)]
        others = own[len(heavy) :]
        decisive = judged.get(candidate) if judged else None
        if not own and decisive is None:
            continue
        name = shown(candidate)
        rows += [(name, each.evidence, count_of(each), *map(_figure, _numbers(each))) for each in heavy]
        if others:
            absent = sum(reason.count == 0 for reason in others)
            said = f"{many(len(others), 'other')}" if heavy else many(len(others), "part")
            said += f", {absent:,} of them absent" if absent else ""
            rows.append((name, said, "", "", "", _figure(sum(each.contribution for each in others))))
        rows.append((name, "sum: the score", "", "", "", _figure(sum(each.contribution for each in own))))
        if decisive is not None:
            rows += [(name, part, "", "", "", _figure(adds)) for part, adds in decisive.parts]
            rows.append((name, SUM, "", "", "", _figure(decisive.total)))
    if not rows:
        return None
    counted = any(reason.count is not None for reason in reasons)
    head = ("candidate", what, "count", "value", "weight", "adds")
    if counted:
        return Table(head, tuple(rows), 4)
    return Table((*head[:2], *head[3:]), tuple((*row[:2], *row[3:]) for row in rows), 3)


def absences(reasons: Sequence[Reason], candidates: Sequence[str], *, top: int) -> list[str]:
    """Return what the counts of the absent say that `table_of` shows, a line each."""
    seen: set[str] = set()
    for candidate in candidates:
        own = [reason for reason in reasons if reason.candidate == candidate and _weighs(reason)]
        own.sort(key=lambda reason: -abs(reason.contribution))
        seen.update(count_of(reason) for reason in own[:top] if reason.count == 0)
    lines = []
    if ABSENT in seen:
        lines.append("count 0: nowhere in the counted text")
    limits = sorted((text for text in seen if text.startswith("<")), key=lambda text: int(text[1:]))
    if limits:
        one = limits[0] if len(limits) == 1 else f"{', '.join(limits[:-1])} and {limits[-1]}"
        lines.append(
            f"count {one}: not in the table, which leaves out what was seen less often; counted as 0 (that "
            "nothing is known of it is evidence, too)"
        )
    if UNKNOWN in seen:
        lines.append("count -: not in the table, which does not keep n-grams like this one; counted as 0")
    return lines


def count_of(reason: Reason) -> str:
    """Return the count of a reason: of the absent, below which number it must be; of others nothing."""
    if reason.count is None:
        return ""
    if reason.count:
        return f"{reason.count:,}"
    if reason.least is None:
        return UNKNOWN
    return ABSENT if reason.least <= 1 else f"<{reason.least}"


def _weighs(reason: Reason) -> bool:
    return abs(reason.contribution) >= LEAST_SHOWN


def _numbers(reason: Reason) -> tuple[float, float, float]:
    return reason.value, reason.weight, reason.contribution


def _figure(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"
