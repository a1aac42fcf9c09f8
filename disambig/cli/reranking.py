"""One run of ``disambig annotate --from nbest``: which model, where the lists go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from disambig.errors import UserError
from disambig.plural import many

KIND = "nbest"


def run(
    paths: Sequence[str], models: Sequence[str], *, output: Path | None, format: str | None, force: bool
) -> bool:
    """Rerank lists, and say how many there were; return whether every line was a list.

    Raises
    ------
    UserError
        D335 for another output than JSON Lines, D336 where no model of lists is named, D310 for an output
        that exists; what reading raises.
    """
    from disambig.batch.nbest import rerank
    from disambig.cli.progress import remark, say
    from disambig.files.saving import is_special, saved_output, writer, writing
    from disambig.model.lists import check_lists
    from disambig.model.loading import load

    if format not in (None, "jsonl") or (output is not None and not output.suffix):
        raise UserError("D335", what=format if format not in (None, "jsonl") else "a job in a directory")
    if len(models) != 1:
        raise UserError("D336", model=", ".join(models) or "none", task="nothing")
    model = load(models[0])
    check_lists(model)
    broken: list[UserError] = []

    def bad(error: UserError) -> None:
        broken.append(error)
        say(f"disambig: {error}")

    if output is None:
        n = rerank(model, paths, writer(sys.stdout.buffer, "standard output"), bad=bad)
        with writing("standard output"):
            sys.stdout.buffer.flush()
    else:
        if output.exists() and not force and not is_special(output):
            raise UserError("D310", path=output)
        with saved_output(output) as write:
            n = rerank(model, paths, write, bad=bad)
    where = f"{output}: " if output is not None else ""
    remark(f"{where}{many(n, 'list')}" + (f", {many(len(broken), 'line')} left out" if broken else ""))
    return not broken
