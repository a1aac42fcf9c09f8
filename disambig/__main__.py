"""Run the command ``disambig`` as ``python -m disambig``."""

import os
import sys


def _remove_current_directory() -> None:
    """Remove the current directory from the import path, unless disambig itself was imported from there.

    ``python -m`` puts it first, so a ``json.py`` in the folder that is being checked would be executed.
    Modules that Python imports before this line can still come from there; only ``python -P -m`` prevents
    that.
    """
    is_removed = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not is_removed and sys.path and os.path.realpath(sys.path[0]) != package:
        del sys.path[0]


if __name__ == "__main__":
    _remove_current_directory()
    from disambig.cli.main import run

    run()
