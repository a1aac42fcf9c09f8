"""Write what was mined: a folder with mistakes, clean paragraphs and a summary."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import json_text, saved_folder
from disambig.mining.miner import MinedProject, shown_path

FIXES, CLEAN, SUMMARY = "fixes.jsonl", "clean.jsonl", "summary.json"


def check_output(path: Path, *, force: bool = False) -> None:
    """Check that the results can be written to a folder.

    Raises
    ------
    UserError
        D310 if it exists (with `force`, it may hold the results of an earlier run), D544 if it holds other
        files.
    """
    if not os.path.lexists(path):
        return
    if not path.is_dir() or set(os.listdir(path)) - {FIXES, CLEAN, SUMMARY}:
        raise UserError("D544", path=path)
    if not force and os.listdir(path):
        raise UserError("D310", path=path)


def write_mined(
    path: Path, projects: Sequence[MinedProject], summary: dict[str, Any], *, force: bool = False
) -> None:
    """Write the mistakes and paragraphs of projects and a summary to a folder; all of them or nothing.

    Raises
    ------
    UserError
        The errors of `check_output`; D309 if the folder cannot be written.
    """
    check_output(path, force=force)
    with saved_folder(path) as folder:
        _write_lines(folder / FIXES, (one.record(_name(p)) for p in projects for one in p.corrections))
        _write_lines(folder / CLEAN, (one.record(_name(p)) for p in projects for one in p.clean))
        (folder / SUMMARY).write_text(json_text(summary) + "\n", encoding="utf8")


def _name(project: MinedProject) -> str:
    return shown_path(project.name)


def _write_lines(path: Path, records: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
