"""Install packages that tests write, for this process and its child processes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from disambig import registry as plugins

ENTRIES = re.compile(r"^\[project\.entry-points\.(\w+)\]\n((?:\w+ = .*\n)+)", re.MULTILINE)


def write(home: Path, files: Mapping[str, str]) -> None:
    """Write files, by their paths in `home`."""
    for inside, text in files.items():
        path = home / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")


def install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of a directory for one test, as ``pip install -e`` does."""
    pyproject = (home / "pyproject.toml").read_text(encoding="utf8")
    name = re.search(r'^name = "(.*)"$', pyproject, re.MULTILINE)
    assert name is not None
    info = home / f"{name[1].replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name[1]}\nVersion: 0.1.0\n")
    groups = (f"[{group}]\n" + lines.replace('"', "") for group, lines in ENTRIES.findall(pyproject))
    (info / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(str(home))
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(home), *known]))


@contextmanager
def installed(home: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> Iterator[Path]:
    """Install the package of a directory and load its plugin; undo both after the block."""
    install(home, monkeypatch)
    plugins.reload_plugins()
    yield home
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith(package)]:
        del sys.modules[module]
    plugins.reload_plugins()
