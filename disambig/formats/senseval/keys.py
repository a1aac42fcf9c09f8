"""Senseval's keys, systems' answers and maps from fine to coarse senses.

Keys and answers
    ``word instance sense sense ...``, separated by blanks; what follows ``!!`` is a comment. A sense may have
    a weight, ``sense/0.7``; of an answer without weights each sense gets the same. Where a line has a weight
    above one, all its weights are of a hundred. A sense of weight zero is left out.
Sense maps, of Senseval-2
    ``fine n coarse n coarser``: each sense, then what it belongs to with the number of senses there; a sense
    alone on its line, or that no line names, is coarse itself.
Sense maps, of Senseval-3
    The senses of a line form a group. A line is read in this way where its second, fourth, ... entries are
    not all numbers of three digits at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from disambig.errors import UserError
from disambig.formats.senseval.reader import read_xml

Weights = Mapping[str, float]
Sensemap = Mapping[str, frozenset[str]]
"""Each sense with all groups that it is in, its own name among them."""
_FORM = "a line is: word instance sense sense ..., a weight as sense/0.7"


def read_key(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the right senses of each instance.

    Raises
    ------
    UserError
        D492 for a line that is none; D300 to D308, D493 for the file.
    """
    return {instance: tuple(weights) for instance, weights in read_answers(path).items()}


def read_answers(path: str | Path) -> dict[str, dict[str, float]]:
    """Return a system's answer to each instance: senses with their weights, which add up to one at most.

    Raises
    ------
    UserError
        D492 for a line that is none; D300 to D308, D493 for the file.
    """
    found: dict[str, dict[str, float]] = {}
    for where, entries in _lines(path):
        if len(entries) < 3:
            raise UserError("D492", where=where, problem=f"{len(entries)} entries", form=_FORM)
        if entries[1] in found:
            problem = f"the instance {entries[1]!r} stands there twice"
            raise UserError("D492", where=where, problem=problem, form="give each instance one line")
        found[entries[1]] = _weights(entries[2:], where)
    return found


def read_sensemap(path: str | Path) -> dict[str, frozenset[str]]:
    """Return each sense with the groups that it is in (see the module for both forms).

    Raises
    ------
    UserError
        D300 to D308, D493 for the file.
    """
    above: dict[str, set[str]] = {}
    for _, entries in _lines(path):
        above.setdefault(entries[0], set())
        numbers, others = entries[1::2], entries[2::2]
        if len(entries) % 2 and all(n.isascii() and n.isdigit() and len(n) <= 3 for n in numbers):
            for lower, upper in zip([entries[0], *others], others, strict=False):
                above.setdefault(lower, set()).add(upper)
                above.setdefault(upper, set())
        else:
            for each in entries[1:]:
                above.setdefault(each, set()).add(entries[0])
    return {sense: frozenset(_closed(sense, above)) for sense in above}


def _closed(sense: str, above: Mapping[str, set[str]]) -> set[str]:
    """Return a sense with all that is above it, however far."""
    reached, waiting = {sense}, [sense]
    while waiting:
        new = above.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _weights(entries: list[str], where: str) -> dict[str, float]:
    found: dict[str, float] = {}
    written = set()
    for entry in entries:
        sense, slash, said = entry.partition("/")
        try:
            weight = float(said) if slash else 1.0
        except ValueError:
            weight = -1.0
        if not sense or not 0.0 <= weight <= 100.0:
            raise UserError("D492", where=where, problem=f"{entry!r} is no sense with a weight", form=_FORM)
        found[sense] = weight
        if slash:
            written.add(sense)
    if max(found.values()) > 1.0:
        found = {sense: weight / 100.0 if sense in written else weight for sense, weight in found.items()}
    found = {sense: weight for sense, weight in found.items() if weight > 0.0}
    if not found:
        raise UserError("D492", where=where, problem="no weight is above zero", form=_FORM)
    total = sum(found.values())
    return {sense: weight / max(total, 1.0) for sense, weight in found.items()}


def _lines(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_xml(path).split("\n"), 1):
        if entries := line.partition("!!")[0].split():
            yield f"{path}, line {number}", entries
