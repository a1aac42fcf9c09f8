"""Changed files and lines in git.

Repositories are not trusted: their configuration can name commands that git would run. Git therefore reads
their contents with an empty configuration of ours (see `_make_isolated_folder`).
"""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from disambig.checking.files import MAX_FILE_BYTES, TextFile, as_text, read_text
from disambig.checking.flags import Flag
from disambig.errors import UserError

TIME_LIMIT = 120.0
"""Maximum number of seconds per git command."""

_DIFF_COMMAND = (  # --ignore-cr-at-eol: other line ends are no new text
    "diff-index --patch --no-color --no-ext-diff --no-textconv --find-renames --unified=0 "
    "--inter-hunk-context=0 --ignore-cr-at-eol --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/"
).split()
_SAFE_SETTINGS = {
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "",  # not "false": git before 2.36 runs a command of that name
    "core.hooksPath": os.devnull,
    "core.askPass": "",
    "core.quotePath": "true",
    "core.safecrlf": "false",
}
_COMPARISON_SETTINGS = frozenset(
    "core.attributesfile core.autocrlf core.checkstat core.eol core.excludesfile core.filemode "
    "core.ignorecase core.longpaths core.precomposeunicode core.symlinks core.trustctime".split()
)
"""Settings of the user or the repository that affect what counts as changed; none of them names a command."""
_MISSING_OBJECT = (b"unable to read", b"bad tree object", b"bad object", b"could not get object info")
"""Parts of git's messages about objects that are not in the clone."""
_REPOSITORY_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ATTR_SOURCE GIT_COMMON_DIR GIT_CONFIG GIT_DIFF_OPTS GIT_DIR "
    "GIT_EXTERNAL_DIFF GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE GIT_INTERNAL_SUPER_PREFIX "
    "GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_SHALLOW_FILE GIT_WORK_TREE"
).split()
"""Environment variables with which git describes a repository to the commands of a hook."""
_HOOK_VARIABLES = ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
"""Variables that replace files of the repository: kept if the hook belongs to the same repository."""
_COMMAND_LINE_SETTINGS = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT")
_FIXED_VARIABLES = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",  # a list of allowed protocols: missing objects are not fetched
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


def folders_with_git(folder: str) -> Iterator[str]:
    """Yield `folder` and the folders above it that contain ``.git``, the nearest first.

    Bare repositories are not included: they have no ``.git``, and any clone may contain files that look like
    one.

    `folder` is an absolute path.
    """
    ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            yield folder
        above = os.path.dirname(folder)
        if above in (folder, *ceilings):
            return
        folder = above


class Repositories:
    """The repositories of files, each opened once."""

    def __init__(self) -> None:
        self._by_folder: dict[str, Repository | None] = {}

    def get(self, folder: str) -> Repository:
        """Return the repository whose work tree contains `folder`, an absolute path without links.

        Raises D961 if git is not installed, D962 for a folder outside all repositories, D964 if git fails,
        D968 for a repository of another user, D969 if git does not finish in time.
        """
        for home in folders_with_git(folder):
            if home not in self._by_folder:
                self._by_folder[home] = _open(home)
            if (repository := self._by_folder[home]) is not None:
                if not _is_inside(folder, repository.top):
                    break  # `core.worktree` names another folder
                return repository
        _git_program()
        raise UserError("D962", path=folder)


class Repository:
    """A repository; its methods raise D964 if git fails, D969 if it takes too long.

    `home`: the folder that contains ``.git``, or the bare repository.
    `top`: the top folder of the work tree: `home`, unless the repository sets another one.
    `git_folder`: the folder with the metadata.
    Attribute `is_bare`: whether there is no work tree: only methods that read objects can be used.
    Attribute `is_partial`: whether objects may be missing, as in a clone with ``--filter``.
    """

    def __init__(self, home: str, top: str, git_folder: str, *, is_bare: bool = False) -> None:
        self.home, self.top, self.is_bare = home, top, is_bare
        is_current = home == next(folders_with_git(os.path.realpath(os.getcwd())), None)
        hook = {key: value for key in _HOOK_VARIABLES if is_current and (value := os.environ.get(key))}
        if index := hook.get("GIT_INDEX_FILE"):  # relative to the current folder, which is that of the hook
            hook["GIT_INDEX_FILE"] = os.path.abspath(index)
        self._environment = _query_environment(home) | hook | ({"GIT_DIR": home} if is_bare else {})
        common = os.path.join(home, self._ask("rev-parse", "--git-common-dir"))
        settings = dict(_parse_settings(self._call(["config", "--null", "--list"])))
        self.is_partial = any(key.endswith((".promisor", ".partialclone")) for key in settings)
        object_format = self._ask("rev-parse", "--show-object-format")
        try:
            self._isolated_folder = tempfile.mkdtemp(prefix="disambig-git-")
            weakref.finalize(self, shutil.rmtree, self._isolated_folder, ignore_errors=True)
            _make_isolated_folder(self._isolated_folder, git_folder, common, object_format)
        except OSError as problem:
            raise UserError("D964", path=top, problem=problem.strerror or str(problem)) from None
        environment = {
            "GIT_DIR": self._isolated_folder,
            "GIT_WORK_TREE": top,
            "GIT_INDEX_FILE": os.path.join(git_folder, "index"),
            "GIT_OBJECT_DIRECTORY": os.path.join(common, "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.path.join(self._isolated_folder, "none"),
            "HOME": self._isolated_folder,  # for git before 2.32, which ignores GIT_CONFIG_GLOBAL
            "XDG_CONFIG_HOME": self._isolated_folder,
        }
        self._isolated_environment = {
            key: value for key, value in self._environment.items() if key not in _COMMAND_LINE_SETTINGS
        } | (environment | hook)
        self._settings = _with_paths(
            {key: value for key, value in settings.items() if key in _COMPARISON_SETTINGS}
        )

    def merge_base(self, revision: str) -> str:
        """Return the last common commit of `revision` and HEAD.

        Raises D963 for an unknown revision, D965 if there is no common commit.
        """
        commit = self._commit(f"{revision}^{{commit}}")
        if commit is None:
            raise UserError("D963", revision=revision, path=self.top)
        head = self._commit("HEAD^{commit}")
        done = None if head is None else self._run_isolated(["merge-base", commit, head])
        if done is None or done.returncode:
            raise UserError("D965", revision=revision, path=self.top)
        return done.stdout.decode().strip()

    def changed_lines(self, base: str | None) -> dict[str, list[range]]:
        """Return the numbers of the added lines, counted from 1, by the absolute path of their file.

        `base`: the commit with which the work tree is compared; None compares the index with HEAD.
        """
        against = ["--cached", self._head_or_empty()] if base is None else [base]
        fetch = f"git diff --stat {' '.join(against)}"
        diff = self._call_isolated([*_DIFF_COMMAND, *against, "--"], fetch=fetch)
        return {os.path.join(self.top, path): lines for path, lines in _parse_diff(diff)}

    def untracked_files(self) -> set[str]:
        """Return the absolute paths of the files that git neither tracks nor ignores."""
        return self._list_files("--others", "--exclude-standard")

    def ignored_files(self) -> set[str]:
        """Return the absolute paths of ignored files and folders, but none inside an ignored folder."""
        return self._list_files("--others", "--ignored", "--exclude-standard", "--directory")

    def _list_files(self, *options: str) -> set[str]:
        names = self._call_isolated(["ls-files", *options, "-z", "--full-name"]).split(b"\0")
        return {os.path.join(self.top, os.fsdecode(name).rstrip("/")) for name in names if name}

    def tracks(self, folder: str) -> bool:
        """Return True if git tracks a file in the folder at an absolute path."""
        name = os.path.relpath(folder, self.top).replace(os.sep, "/")
        return bool(self._call_isolated(["ls-files", "-z", "--", f":(top,literal){name}"]))

    def staged_bytes(self, path: str) -> bytes:
        """Return the staged contents of the file at an absolute path; filters of git are not run.

        Raises D320 if it is too large.
        """
        name = f":0:{os.path.relpath(path, self.top).replace(os.sep, '/')}"
        if int(self._call_isolated(["cat-file", "-s", name])) > MAX_FILE_BYTES:
            raise UserError("D320", path=path, limit=MAX_FILE_BYTES)
        return self._call_isolated(["cat-file", "blob", name])

    @property
    def is_shallow(self) -> bool:
        """Whether older commits are missing, as in a clone with ``--depth``."""
        return os.path.exists(os.path.join(self._isolated_folder, "shallow"))

    def head(self) -> str | None:
        """Return the commit of HEAD, or None before the first commit."""
        return self._commit("HEAD^{commit}")

    def start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a git command that reads objects; no command that the repository configures is run.

        The process has pipes for input and output, and the caller ends it. Error messages are discarded.
        """
        try:
            return subprocess.Popen(
                _git_command(command, self._safe_settings()),
                cwd=self.top,
                env=self._isolated_environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as problem:
            raise UserError("D964", path=self.top, problem=problem.strerror or str(problem)) from None

    def _safe_settings(self) -> dict[str, str]:
        return self._settings | _SAFE_SETTINGS

    def _commit(self, revision: str) -> str | None:
        """Return the hash of the object that a revision names, or None if there is none."""
        command = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision]
        done = _run_git(self.home, command, self._environment, _SAFE_SETTINGS)
        return None if done.returncode else done.stdout.decode().strip()

    def _head_or_empty(self) -> str:
        """Return the commit of HEAD, or the empty tree before the first commit."""
        empty_tree = ["hash-object", "-t", "tree", "--stdin"]
        return self._commit("HEAD") or self._call_isolated(empty_tree).decode().strip()

    def _ask(self, *command: str) -> str:
        """Return the output of a command as one line."""
        return os.fsdecode(self._call(command).removesuffix(b"\n"))

    def _call(self, command: Sequence[str]) -> bytes:
        """Run a command with the configuration of the repository."""
        done = _run_git(self.home, command, self._environment, _SAFE_SETTINGS)
        if done.returncode:
            raise _git_error(self.top, done.stderr)
        return done.stdout

    def _call_isolated(self, command: Sequence[str], fetch: str = "git diff --stat --cached HEAD") -> bytes:
        """Run a command without the configuration of the repository.

        `fetch`: a command for the user that fetches the objects which a partial clone lacks.
        """
        done = self._run_isolated(command)
        if done.returncode:
            if self.is_partial and any(text in done.stderr for text in _MISSING_OBJECT):
                problem = f"this partial clone lacks objects: run `{fetch}` to fetch them, and try again"
                raise UserError("D964", path=self.top, problem=problem)
            raise _git_error(self.top, done.stderr)
        return done.stdout

    def _run_isolated(self, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        return _run_git(self.top, command, self._isolated_environment, self._safe_settings())


def open_bare_repository(folder: str) -> Repository | None:
    """Return the bare repository at `folder`, an absolute path; None if it is not one.

    Only for a folder that the user names: any clone may contain files that look like a bare repository.

    Raises D961 if git is not installed, D964 if git fails, D968 for a repository of another user.
    """
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return None
    # Without a path in GIT_DIR, git checks the owner.
    settings = _SAFE_SETTINGS | {"safe.bareRepository": "all"}
    done = _run_git(folder, ["rev-parse", "--is-bare-repository"], _query_environment(folder), settings)
    _check_owner(folder, done.stderr)
    is_bare = not done.returncode and done.stdout.strip() == b"true"
    return Repository(folder, folder, folder, is_bare=True) if is_bare else None


def _open(home: str) -> Repository | None:
    """Return the repository whose ``.git`` is in `home`; None if git does not accept it as a repository."""
    environment = _query_environment(home)

    def ask(option: str) -> str | None:
        done = _run_git(home, ["rev-parse", option], environment, _SAFE_SETTINGS)
        if not done.returncode:
            return os.path.normpath(os.fsdecode(done.stdout.removesuffix(b"\n")))
        _check_owner(home, done.stderr)
        no_repository = (b"not a git repository", b"cannot use bare repository")
        if os.path.isdir(os.path.join(home, ".git")) and any(text in done.stderr for text in no_repository):
            return None
        if b"must be run in a work tree" in done.stderr:
            raise UserError("D962", path=home)
        raise _git_error(home, done.stderr)

    git_folder = ask("--absolute-git-dir")
    if git_folder is None or git_folder == home:  # a bare repository, which only git before 2.38 accepts
        return None
    top = ask("--show-toplevel")
    return None if top is None else Repository(home, top, git_folder)


def _check_owner(home: str, messages: bytes) -> None:
    """Raise D968 if git's error messages say that the repository belongs to another user."""
    if b"dubious ownership" in messages or b"unsafe repository" in messages:
        raise UserError("D968", path=home, quoted=shlex.quote(home))


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _query_environment(home: str) -> dict[str, str]:
    """Return the environment for git commands that only read the metadata of the repository."""
    kept = {key: value for key, value in os.environ.items() if key not in _REPOSITORY_VARIABLES}
    return kept | _FIXED_VARIABLES | {"GIT_CEILING_DIRECTORIES": os.path.dirname(home)}


def _make_isolated_folder(folder: str, git_folder: str, common: str, object_format: str) -> None:
    """Make `folder` a git folder with an empty configuration, for the index and objects of a repository.

    Only lists of patterns and commits are copied, and the shared part of a split index, which git expects
    next to the index.
    """
    for name in ("info", "objects", "refs"):
        os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, "HEAD"), "w", encoding="ascii") as head:
        head.write("ref: refs/heads/main\n")
    with open(os.path.join(folder, "config"), "w", encoding="ascii") as config:
        config.write("[core]\n\tbare = false\n\trepositoryformatversion = 1\n")
        if object_format == "sha256":
            config.write("[extensions]\n\tobjectformat = sha256\n")
    for name in ("shallow", os.path.join("info", "exclude"), os.path.join("info", "attributes")):
        _copy_regular(os.path.join(common, name), os.path.join(folder, name))
    for name in os.listdir(git_folder):
        if name.startswith("sharedindex."):
            _copy_regular(os.path.join(git_folder, name), os.path.join(folder, name))


def _copy_regular(source: str, target: str) -> None:
    """Copy a file if it is a regular file: reading a pipe or a device might never end."""
    try:
        descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    with os.fdopen(descriptor, "rb") as file:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with open(target, "wb") as copy:
                copy.write(file.read(MAX_FILE_BYTES))


def _parse_settings(listing: bytes) -> Iterator[tuple[str, str]]:
    """Yield the keys and values in the output of ``git config --null --list``."""
    for entry in os.fsdecode(listing).split("\0"):
        if entry:
            key, equals, value = entry.partition("\n")
            yield key, value if equals else "true"


def _with_paths(settings: Mapping[str, str]) -> dict[str, str]:
    """Add the default paths of the user's files to settings: git does not find them with another HOME."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    paths = {
        "core.attributesfile": os.path.join(folder, "git", "attributes"),
        "core.excludesfile": os.path.join(folder, "git", "ignore"),
    }
    paths |= {key: os.path.expanduser(settings[key]) for key in paths if key in settings}
    return {**settings, **paths}


def _parse_diff(diff: bytes) -> Iterator[tuple[str, list[range]]]:
    """Yield the files with added lines in a diff without context, and the ranges of these lines."""
    path: str | None = None
    is_link = False
    added: list[range] = []
    # Remaining lines of the current hunk. Without this count, a removed line ``-- a/b`` would be taken for
    # the header ``--- a/b``.
    n_remaining = 0
    for line in diff.split(b"\n"):
        if n_remaining and line[:1] in b"+-" and line:
            n_remaining -= 1
        elif line.startswith(b"diff --git "):
            if path is not None and added:
                yield path, added
            path, added, is_link = None, [], False
        elif line.startswith((b"new file mode 120000", b"new mode 120000")):
            is_link = True
        elif line.startswith(b"+++ "):
            name = line[4:].removesuffix(b"\t")  # git adds a tab to names with blanks
            if name.startswith(b'"'):  # names with unusual characters are quoted as in C
                name = ast.literal_eval("b" + name.decode("ascii"))
            path = os.fsdecode(name[2:]) if name.startswith(b"b/") and not is_link else None
        elif line.startswith(b"@@ "):
            before, after = line.split(b" ")[1:3]
            (_, n_removed), (first, n_added) = _parse_range(before), _parse_range(after)
            n_remaining = n_removed + n_added
            if n_added:
                added.append(range(first, first + n_added))
    if path is not None and added:
        yield path, added


def _parse_range(text: bytes) -> tuple[int, int]:
    """Return the first line and the number of lines of one side of a hunk, such as ``+3,2`` or ``-4``."""
    first, _, number = text[1:].partition(b",")
    return int(first), int(number) if number else 1


def _git_program() -> str:
    """Return the path of git.

    Relative folders in PATH are skipped, and so is the current folder, which Windows searches first, because
    they may belong to the untrusted repository.

    Raises D961 if git is not installed.
    """
    for folder in os.get_exec_path():
        program = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    raise UserError("D961")


def _git_command(command: Sequence[str], settings: Mapping[str, str]) -> list[str]:
    options = [option for key, value in settings.items() for option in ("-c", f"{key}={value}")]
    return [_git_program(), "--no-pager", *options, *command]


def _run_git(
    folder: str, command: Sequence[str], environment: Mapping[str, str], settings: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command and return its output. Raises D964 if that fails, D969 if it takes too long."""
    try:
        return subprocess.run(
            _git_command(command, settings),
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise UserError("D969", path=folder, command=command[0], seconds=TIME_LIMIT) from None
    except OSError as problem:
        raise UserError("D964", path=folder, problem=problem.strerror or str(problem)) from None


def _git_error(folder: str, output: bytes) -> UserError:
    lines = output.decode("utf-8", "replace").strip().split("\n")
    fatal = next((line for line in lines if line.startswith("fatal: ")), lines[0])
    return UserError("D964", path=folder, problem=fatal or "it failed without a message")


@dataclass(frozen=True, slots=True)
class _RepositoryChanges:
    """The changes in one repository: added lines by file, and untracked files."""

    repository: Repository
    lines: dict[str, list[range]]
    untracked: set[str]


class Changes:
    """The changes since a commit, or the staged changes.

    `since`: a revision: files are compared with the last common commit of this revision and HEAD. Without it,
    staged texts are compared with HEAD. The methods raise D961 to D965, D968 and D969 if git fails.
    """

    def __init__(self, since: str | None = None) -> None:
        self._since = since
        self._repositories = Repositories()
        self._changed: dict[str, _RepositoryChanges] = {}
        self._by_folder: dict[str, _RepositoryChanges] = {}

    def has(self, path: str) -> bool:
        """Return True if a file is untracked or has an added line."""
        changes, path = self._find(path)
        return path in changes.lines or path in changes.untracked

    def only_staged(self, folder: str) -> Iterator[str]:
        """Yield the files of a folder that have staged lines but are not in the work tree, sorted."""
        if self._since is not None:
            return
        changes, _ = self._find(os.path.join(folder, "x"))
        real = os.path.realpath(folder)
        for path in sorted(changes.lines):
            if _is_inside(path, real) and not os.path.lexists(path):
                yield os.path.join(folder, os.path.relpath(path, real))

    def read(self, path: str) -> TextFile:
        """Read a file from the work tree, or its staged contents. Raises the errors of `read_text`."""
        if self._since is not None:
            return read_text(path)
        changes, absolute = self._find(path)
        if absolute not in changes.lines and not os.path.lexists(path):
            raise UserError("D300", path=path)
        return as_text(path, changes.repository.staged_bytes(absolute))

    def keep(self, path: str, text: str, flags: Iterable[Flag]) -> list[Flag]:
        """Return the flags of a file that are at least partly in added lines."""
        changes, path = self._find(path)
        if path in changes.untracked:
            return list(flags)
        line_ends = [offset for offset, character in enumerate(text) if character == "\n"]  # as git has them
        added = {number for lines in changes.lines.get(path, ()) for number in lines}

        def line_number(offset: int) -> int:
            return bisect_right(line_ends, offset - 1) + 1

        return [
            flag
            for flag in flags
            if not added.isdisjoint(
                range(line_number(flag.start), line_number(max(flag.start, flag.end - 1)) + 1)
            )
        ]

    def _find(self, path: str) -> tuple[_RepositoryChanges, str]:
        """Return the changes in the repository of a file, and the absolute path of the file in it."""
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        if folder not in self._by_folder:
            existing = folder
            while not os.path.isdir(existing) and self._since is None:  # a staged file may be in no folder
                existing = os.path.dirname(existing)
            if not os.path.isdir(existing):
                raise UserError("D300", path=path)
            repository = self._repositories.get(existing)
            if repository.home not in self._changed:
                self._changed[repository.home] = self._compare(repository)
            self._by_folder[folder] = self._changed[repository.home]
        changes, real = self._by_folder[folder], os.path.realpath(path)
        if _is_inside(real, changes.repository.top):  # the change is in the file, not in a link to it
            return changes, real
        return changes, os.path.join(folder, os.path.basename(path))

    def _compare(self, repository: Repository) -> _RepositoryChanges:
        if self._since is None:
            return _RepositoryChanges(repository, repository.changed_lines(None), set())
        base = repository.merge_base(self._since)
        return _RepositoryChanges(repository, repository.changed_lines(base), repository.untracked_files())


class WorkTrees:
    """The files in checked directories that git ignores or tracks; outside repositories, there are none.

    Attribute `problem`: the first error of git; where git fails, no file counts as ignored or tracked.
    """

    def __init__(self) -> None:
        self.problem: UserError | None = None
        self._repositories = Repositories()
        self._by_folder: dict[str, tuple[Repository, set[str]] | None] = {}
        self._by_home: dict[str, tuple[Repository, set[str]]] = {}

    def ignores(self, path: str) -> bool:
        """Return True if git ignores a file or folder whose parent folder it does not ignore."""
        folder = os.path.dirname(path)
        tree = self._find(folder)
        if tree is None:
            return False
        return os.path.join(os.path.realpath(folder), os.path.basename(path)) in tree[1]

    def tracks(self, folder: str) -> bool:
        """Return True if git tracks a file in a folder."""
        tree = self._find(os.path.dirname(folder))
        if tree is None:
            return False
        try:
            return tree[0].tracks(os.path.realpath(folder))
        except UserError as problem:
            self.problem = self.problem or problem
            return False

    def _find(self, folder: str) -> tuple[Repository, set[str]] | None:
        """Return the repository of a folder with the files that it ignores, or None."""
        if folder not in self._by_folder:
            real = os.path.realpath(folder)
            try:
                self._by_folder[folder] = self._open(real)
            except UserError as problem:
                self._by_folder[folder] = None
                self.problem = self.problem or problem
        return self._by_folder[folder]

    def _open(self, folder: str) -> tuple[Repository, set[str]] | None:
        if next(folders_with_git(folder), None) is None:
            return None
        try:
            repository = self._repositories.get(folder)
        except UserError as problem:
            if problem.code == "D962":  # a `.git` that is not a repository
                return None
            raise
        if repository.home not in self._by_home:
            self._by_home[repository.home] = repository, repository.ignored_files()
        return self._by_home[repository.home]
