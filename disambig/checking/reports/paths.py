"""How services name files: by the path from the top of the repository, with slashes."""

from __future__ import annotations

import os


def path_in_repository(name: str) -> str:
    """Return the path of a file from the top of the repository that the current folder is in.

    Without a repository it is that from the current folder. A file elsewhere keeps its absolute path; a
    name in angle brackets is none of a file.
    """
    if name.startswith("<"):
        return name
    here = os.getcwd()
    path = os.path.abspath(name)
    for top in (_top(here), here):
        if path.startswith(inside := os.path.join(top, "")):
            return path.removeprefix(inside).replace(os.sep, "/")
    return path.replace(os.sep, "/")


def _top(folder: str) -> str:
    """Return the nearest folder from `folder` upwards that holds a repository; `folder` without one."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return folder
        above = os.path.dirname(above)
    return above
