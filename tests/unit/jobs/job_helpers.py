"""Small jobs with the fake models of the integration tests."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fake_models import FakeSource

import disambig
from disambig.formats import find_inputs, make_format
from disambig.jobs import run_job

# for commands that import the package and the fake models
_FOLDERS = [Path(disambig.__file__).parents[1], Path(__file__).parents[2] / "integration"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _FOLDERS))}


def job(path, out, *, label="a", format="jsonl", lines=False, size=30, **options):
    """Run a job on a file or folder, or on inputs."""
    inputs = find_inputs([str(path)], lines=lines, exclude=[str(out)]) if isinstance(path, Path) else path
    source = FakeSource(label)
    return run_job(out, inputs, source=source, format=make_format(format), shard_size=size, **options)


def rows(out: Path) -> list[dict]:
    """Return the records of a job, in order."""
    return [json.loads(line) for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]
