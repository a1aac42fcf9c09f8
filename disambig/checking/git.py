"""Asking git: its commands as processes, its errors as ours. What is done with the answers is elsewhere."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterator, Sequence

from disambig.errors import UserError

_PLAIN = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--unified=0",
    "--inter-hunk-context=0",
)
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
_ITS_OWN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX")
"""What a hook is told of the repository, which git finds by itself from the file's folder."""


def repository_of(folder: str) -> str:
    """Return the top folder of the repository that holds `folder`.

    Raises
    ------
    UserError
        D961 where there is no git, D962 for a folder in no repository, D964 where git fails otherwise.
    """
    done = _run(folder, ["rev-parse", "--show-toplevel"])
    if done.returncode:
        if b"not a git repository" in done.stderr or b"must be run in a work tree" in done.stderr:
            raise UserError("D962", path=folder)
        raise _failed(folder, done.stderr)
    return os.path.normpath(os.fsdecode(done.stdout.removesuffix(b"\n")))


def base_of(top: str, revision: str) -> str:
    """Return the commit at which the history of `revision` and that of what is checked out part.

    Raises
    ------
    UserError
        D963 for an unknown revision, D965 where the two have no commit in common.
    """
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    done = _run(top, verify)
    if done.returncode:
        raise UserError("D963", revision=revision, path=top)
    commit = done.stdout.decode().strip()
    done = _run(top, ["merge-base", commit, "HEAD"])
    if done.returncode:
        raise UserError("D965", revision=revision, path=top)
    return done.stdout.decode().strip()


def changed_lines(top: str, base: str | None) -> dict[str, list[range]]:
    """Return the lines, from 1, that are new in each file of a repository.

    Parameters
    ----------
    base : str or None
        The commit that the files as they are now are compared with; None: what is staged is, with HEAD.

    Returns
    -------
    dict from str to list of range
        By absolute path. Deleted lines are none.
    """
    against = ["--cached"] if base is None else [base]
    done = _run(top, ["-c", "core.quotePath=true", "diff", *_PLAIN, *_PREFIXES, *against])
    if done.returncode:
        raise _failed(top, done.stderr)
    return {os.path.join(top, path): lines for path, lines in _parsed(done.stdout)}


def untracked_files(top: str) -> set[str]:
    """Return the files that git does not know yet and does not ignore, absolute."""
    done = _run(top, ["ls-files", "--others", "--exclude-standard", "-z", "--full-name"])
    if done.returncode:
        raise _failed(top, done.stderr)
    return {os.path.join(top, os.fsdecode(name)) for name in done.stdout.split(b"\0") if name}


def staged_bytes(top: str, path: str) -> bytes:
    """Return what is staged of the file at the absolute `path`, as it would be checked out."""
    name = os.path.relpath(path, top).replace(os.sep, "/")
    done = _run(top, ["cat-file", "--filters", f":{name}"])
    if done.returncode:
        raise _failed(top, done.stderr)
    return done.stdout


def _parsed(diff: bytes) -> Iterator[tuple[str, list[range]]]:
    """Yield the files of a diff without context that have new lines."""
    path: str | None = None
    found: list[range] = []
    inside = 0  # lines of the hunk that are still to come
    for line in diff.split(b"\n"):
        if inside and line[:1] in b"+-" and line:
            inside -= 1
        elif line.startswith(b"diff --git "):
            if path is not None and found:
                yield path, found
            path, found = None, []
        elif line.startswith(b"+++ "):
            path = _named(line[4:])
        elif line.startswith(b"@@ "):
            old, new = line.split(b" ")[1:3]
            (_, gone), (first, come) = _counted(old), _counted(new)
            inside = gone + come
            if come:
                found.append(range(first, first + come))
    if path is not None and found:
        yield path, found


def _counted(said: bytes) -> tuple[int, int]:
    """Return the first line and the number of lines of one side of a hunk, such as ``+3,2`` or ``-4``."""
    first, _, number = said[1:].partition(b",")
    return int(first), int(number) if number else 1


def _named(said: bytes) -> str | None:
    """Return the path behind ``+++``; None where the file is gone."""
    name = said.removesuffix(b"\t")
    if name.startswith(b'"'):
        name = ast.literal_eval("b" + name.decode("ascii"))
    return os.fsdecode(name[2:]) if name.startswith(b"b/") else None


def _run(folder: str, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if key not in _ITS_OWN}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    if index := environment.get("GIT_INDEX_FILE"):
        environment["GIT_INDEX_FILE"] = os.path.abspath(index)  # told relative to where the hook runs
    try:
        return subprocess.run(
            ["git", *command], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise UserError("D961") from None
    except OSError as problem:
        raise UserError("D964", path=folder, problem=problem.strerror or str(problem)) from None


def _failed(folder: str, said: bytes) -> UserError:
    first = said.decode("utf-8", "replace").strip().partition("\n")[0] or "it said nothing"
    return UserError("D964", path=folder, problem=first)
