"""How much memory another process of this machine holds, as its system tells.

A limit set inside a process (`resource.setrlimit`) is of no use here: that of address space counts mapped
count tables, which all workers share, and macOS keeps none of them. So the parent looks.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

LINUX = sys.platform == "linux"
EVERY = 0.1 if LINUX else 1.0
"""Seconds between two looks: cheap where there is /proc."""


def resident(process: int) -> int:
    """Return the bytes that a process holds alone; 0 where that is not known.

    On Linux pages of files, such as count tables, are left out; on other systems they are counted as well.
    """
    with suppress(OSError, ValueError, IndexError, subprocess.SubprocessError):
        if LINUX:
            with open(f"/proc/{process}/status", "rb") as file:
                for line in file:
                    if line.startswith(b"RssAnon:"):
                        return int(line.split()[1]) * 1024
            return 0
        command = ["ps", "-o", "rss=", "-p", str(process)]
        return int(subprocess.run(command, capture_output=True, timeout=5, check=True).stdout) * 1024
    return 0
