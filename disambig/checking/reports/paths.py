"""How services name files: by the path from the top of the repository, with slashes."""

from __future__ import annotations

import os

from disambig.checking.git import folders_with_git


def path_in_repository(name: str) -> str:
    """Return the path of a file from the top of the repository that the current folder is in.

    Without a repository it is that from the current folder. A file elsewhere keeps its absolute path; a
    name in angle brackets is none of a file.
    """
    if name.startswith("<"):
        return name
    here = os.getcwd()
    path = os.path.abspath(name)
    for top in (next(folders_with_git(here), here), here):
        if path.startswith(inside := os.path.join(top, "")):
            return path.removeprefix(inside).replace(os.sep, "/")
    return path.replace(os.sep, "/")
