"""``python -m disambig`` is the command ``disambig``."""

import os
import sys


def _leave_out_current_directory() -> None:
    """Take the current directory from the path, unless disambig itself was imported from there.

    ``python -m`` puts it first, so that a ``json.py`` of any folder that is checked would run. What Python
    imports before this line comes from there all the same: only ``python -P -m`` prevents that.
    """
    left_out = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not left_out and sys.path and os.path.realpath(sys.path[0]) != package:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_directory()
    from disambig.cli.main import run

    run()
