"""Compiling is told of once a process, by a logger that only the command line listens to."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import sys
if "listen" in sys.argv:
    from disambig.cli import progress
    progress.begin_command()
import numpy as np
from disambig.text import fmix64
fmix64(np.uint64(1))
fmix64(1)
"""


def told(folder, *arguments):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "DISAMBIG_TELL_COMPILING": "1"}
    command = [sys.executable, "-c", CODE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr


def test_a_command_tells_once_and_a_library_never(tmp_path):
    assert told(tmp_path / "silent") == ""
    kept = tmp_path / "kept"
    assert told(kept, "listen") == f"disambig: compiling code for this machine, once: saved in {kept}\n"
    assert told(kept, "listen") == ""  # it is kept
