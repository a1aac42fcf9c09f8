"""The guide to the server names what there is, and its requests are answered as it shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from readme_blocks import ROOT, blocks_of

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from running_server import running

GUIDE = ROOT / "disambig" / "server" / "README.md"


def requests():
    """Return the requests of the guide, each with the output shown below it."""
    (block,) = [block.code for block in blocks_of(GUIDE) if "$ curl" in block.code]
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_requests_are_answered_as_shown():
    assert len(requests()) == 5
    with running(fake=True) as (port, _):
        for line, shown in requests():
            words = shlex.split(line.replace("127.0.0.1:8081", f"127.0.0.1:{port}"))
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert done.stdout.strip() == shown.strip() or (not shown and done.stdout[0] in "[{"), line


def test_all_paths_and_statuses_are_named():
    from disambig.server import HTTP_STATUS

    text = GUIDE.read_text("utf8")
    app = (ROOT / "disambig" / "server" / "app.py").read_text("utf8")
    for path in re.findall(r'Route\(f?"(?:\{base\})?(/[^"]*)"', app):
        assert f"`{path}`" in text or f"`/v2{path}`" in text, path
    for status in HTTP_STATUS.values():
        assert str(status) in text
