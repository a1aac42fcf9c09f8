"""Changed lines in git repositories. Their settings are not trusted: no command that they name is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import here, process
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.checking import Changes, Flag, changes as git_module, path_in_repository
from disambig.errors import UserError

pytestmark = pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="needs git and sh")
OLD = "The first line stays.\nIt was older then the house.\n"
NEW = OLD + "The bridge is longer then the road.\n"
FLAGGED = "a.md:3:22: then -> than"
MODES = [None, "HEAD"]  # what `Changes` is given: for --staged, and for --since HEAD
RUN_AS_THEY_ARE = """
    browser.x.cmd core.alternateRefsCommand core.askPass core.editor core.fsmonitor core.gitProxy core.pager
    core.sshCommand diff.external diff.x.command diff.x.textconv difftool.x.cmd filter.x.clean
    filter.x.process filter.x.smudge gpg.program gpg.ssh.defaultKeyCommand gpg.ssh.program gpg.x509.program
    hook.x.command interactive.diffFilter merge.x.driver mergetool.x.cmd pager.cat-file pager.config
    pager.diff pager.diff-index pager.ls-files pager.rev-parse remote.origin.proxy remote.origin.receivepack
    remote.origin.uploadpack remote.origin.vcs sequence.editor trailer.x.cmd trailer.x.command
    uploadpack.packObjectsHook
""".split()
ALIASES = "cat-file diff diff-index ls-files rev-parse".split()
KEYS = dict.fromkeys(RUN_AS_THEY_ARE, "{run}") | {f"alias.{name}": "!{run}" for name in ALIASES}
KEYS |= dict.fromkeys(["credential.helper", "submodule.inner.update"], "!{run}")
KEYS |= dict.fromkeys(["include.path", "includeIf.gitdir:/.path"], "{included}")
KEYS |= {"core.hooksPath": "{hooks}", "diff.tool": "x", "log.showSignature": "true"}
KEYS |= {"trace2.eventTarget": "|{run}"}
RUN_BY_GIT = (
    "core.fsmonitor diff.external diff.x.command diff.x.textconv filter.x.clean filter.x.process".split()
)
RUN_BY_GIT += ["include.path", "includeIf.gitdir:/.path"]
"""Keys that ``git diff HEAD`` itself obeys, so that the test can see that each trap works."""


class Trap:
    """A command that leaves a file where it is run."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "ran"
        self.command = folder / "command"
        self.command.write_text(f"#!/bin/sh\ntouch '{self.mark}'\nexit 1\n")
        self.command.chmod(0o755)
        self.hooks = folder / "hooks"
        self.hooks.mkdir()
        names = "post-index-change fsmonitor-watchman pre-auto-gc reference-transaction post-checkout"
        for name in names.split():
            shutil.copy(self.command, self.hooks / name)
        self.included = folder / "included"
        self.included.write_text(f'[core]\n\tfsmonitor = "{self.command}"\n')

    def value(self, template: str) -> str:
        return template.format(run=self.command, hooks=self.hooks, included=self.included)

    def was_sprung(self) -> bool:
        """Return True if the command ran since the last time."""
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return ran


@pytest.fixture
def clean_git(tmp_path, monkeypatch):
    """Git without the settings of this machine."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.c")
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def trap(tmp_path):
    (tmp_path / "trap").mkdir()
    return Trap(tmp_path / "trap")


@pytest.fixture
def top(tmp_path, clean_git, monkeypatch):
    """A repository with a staged third line in a.md; it contains the current folder."""
    top = tmp_path / "top"
    top.mkdir()
    monkeypatch.chdir(top)
    call("init", "-q", "-b", "main")
    (top / "a.md").write_text(OLD)
    (top / "same.md").write_text(OLD)
    commit()
    (top / "a.md").write_text(NEW)
    call("add", "-A")
    return top


def call(*arguments, **options):
    return subprocess.run(["git", *map(str, arguments)], check=True, capture_output=True, **options).stdout


def try_git(*arguments):
    subprocess.run(["git", *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


def commit():
    call("add", "-A")
    call("commit", "-q", "-m", "x")


def new_lines(changes, path):
    """Return the numbers of the new lines of a file."""
    text = changes.read(path).text
    starts = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]
    flags = [Flag(start, start + 1, 1, 1, "x", "y", "t", 0.9, (start, start, "")) for start in starts]
    kept = changes.keep(path, text, flags) if changes.has(path) else []
    return [starts.index(flag.start) + 1 for flag in kept if flag.start < len(text)]


def get_error_code(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    return caught.value.code


def reset_times(top):
    """Make git compare the contents of all files, as after unpacking an archive."""
    for path in top.rglob("*.md"):
        os.utime(path, (1, 1))


def embed_bare(folder, command):
    """Write the files of a bare repository that claims `folder` as its work tree."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
        (folder / name / ".keep").touch()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    core = f'repositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{command}"\n'
    attributes = f'[filter "x"]\n\tclean = "{command}"\n\tsmudge = "{command}"\n'
    (folder / "config").write_text(f"[core]\n\t{core}{attributes}")


@pytest.mark.parametrize("since", MODES)
@pytest.mark.parametrize(
    "keys", [*([key] for key in RUN_BY_GIT), [*KEYS]], ids=lambda keys: keys[0] if len(keys) == 1 else "all"
)
def test_settings_of_a_repository_run_nothing(top, trap, keys, since):
    (top / ".gitattributes").write_text("*.md filter=x diff=x merge=x\n")
    commit()
    (top / "a.md").write_text(NEW + "x\n")
    call("add", "-A")
    for key in keys:
        call("config", key, trap.value(KEYS[key]))
        if key.startswith("filter."):
            call("config", "filter.x.required", "true")
    try_git("update-index", "--fsmonitor")
    reset_times(top)
    trap.was_sprung()
    changes = Changes(since)
    assert new_lines(changes, "a.md") == [4]
    assert not changes.has("same.md")
    assert not trap.was_sprung()
    try_git("diff", "HEAD")
    assert trap.was_sprung()


@pytest.mark.parametrize("options", [("--staged",), ("--since", "HEAD")])
def test_an_embedded_bare_repository_is_ordinary_files(top, trap, options):
    embed_bare(top / "docs" / "x", trap.command)
    (top / "docs" / "x" / "a.md").write_text(OLD)
    (top / "docs" / "x" / ".gitattributes").write_text("*.md filter=x\n")
    commit()
    (top / "docs" / "x" / "a.md").write_text(NEW)
    call("add", "-A")
    below = ((here, "docs/x", "a.md"), (here, "docs/x", "."))
    whole = process if options == ("--staged",) else here
    for check, folder, argument in ((whole, ".", "."), (here, ".", "docs/x/a.md"), *below):
        done = check("check", *options, argument, folder=top / folder)
        assert done.returncode == 1 and done.stdout.count(" -> ") == 1, done
        assert FLAGGED in done.stdout and "1 in unchanged lines" in done.stderr
    assert not trap.was_sprung()


@pytest.mark.parametrize("since", MODES)
@pytest.mark.parametrize("broken", [False, True])
def test_a_bare_repository_beside_its_files_is_ignored(top, trap, since, broken):
    embed_bare(top / "x", trap.command)
    (top / "x" / "a.md").write_text(OLD)
    commit()
    (top / "x" / "a.md").write_text(NEW)
    call("add", "-A")
    if broken:
        (top / "x" / ".git").mkdir()  # git looks at ./HEAD next, and then above
    assert new_lines(Changes(since), "x/a.md") == [3]
    assert not trap.was_sprung()


@pytest.mark.parametrize("since", MODES)
def test_nothing_runs_in_submodules(top, tmp_path, trap, since):
    call("init", "-q", "-b", "main", tmp_path / "inner")
    (tmp_path / "inner" / "i.md").write_text(OLD)
    call("-C", tmp_path / "inner", "add", "-A")
    call("-C", tmp_path / "inner", "commit", "-q", "-m", "x")
    call("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", tmp_path / "inner", "inner")
    commit()
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean"):
        call("-C", "inner", "config", key, trap.command)
    call("config", "diff.submodule", "diff")
    call("config", "submodule.recurse", "true")
    (top / "inner" / ".gitattributes").write_text("*.md filter=x\n")
    (top / "inner" / "i.md").write_text(NEW)
    (top / "a.md").write_text(NEW + "x\n")
    call("add", "a.md")
    trap.was_sprung()
    changes = Changes(since)
    assert new_lines(changes, "a.md") == [4]
    assert new_lines(changes, "inner/i.md") == ([] if since is None else [3])
    assert not trap.was_sprung()


@pytest.mark.parametrize("since", MODES)
@pytest.mark.parametrize("url", ["ext::{run}", "ssh://localhost/x", "{top}"])
def test_missing_objects_are_not_fetched(top, trap, since, url):
    settings = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin"}
    settings |= dict.fromkeys(["protocol.allow", "protocol.ext.allow"], "always")
    settings |= dict.fromkeys(["core.sshCommand", "remote.origin.uploadpack"], str(trap.command))
    settings["remote.origin.url"] = url.format(run=trap.command, top=top)
    for key, value in {**settings, "remote.origin.promisor": "true"}.items():
        call("config", key, value)
    blob = call("rev-parse", "HEAD:a.md").decode().strip()
    (top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(UserError, match="partial clone") as caught:
        Changes(since).has("a.md")
    assert caught.value.code == "D964"
    assert get_error_code(Changes("1" * 40).has, "a.md") == "D963"
    assert not trap.was_sprung()
    try_git("diff", "HEAD")
    assert trap.was_sprung()


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_the_named_command_fetches_missing_objects(top, tmp_path, monkeypatch, kind):
    commit()
    (top / "a.md").write_text(f"{NEW}The end.\n")
    commit()
    call("config", "uploadpack.allowFilter", "true")
    call("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "clone"
    call("clone", "-q", f"--filter={kind}", top.as_uri(), clone)
    monkeypatch.chdir(clone)
    with pytest.raises(UserError, match="partial clone") as caught:
        Changes("HEAD~1").has("a.md")
    call(*re.search("`git (.*)`", str(caught.value))[1].split())
    assert new_lines(Changes("HEAD~1"), "a.md") == [NEW.count("\n") + 1]


@pytest.mark.parametrize("since", MODES)
def test_settings_of_the_user_run_nothing_either(top, trap, since):
    for key in ("filter.x.clean", "core.fsmonitor", "diff.external"):
        call("config", "--global", key, trap.command)
    (top / ".gitattributes").write_text("*.md filter=x\n")
    reset_times(top)
    assert new_lines(Changes(since), "a.md") == [3]
    assert not trap.was_sprung()


def test_a_program_called_git_in_the_repository_is_not_started(top, trap, monkeypatch):
    shutil.copy(trap.command, top / "git")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert new_lines(Changes(), "a.md") == [3]
    assert not trap.was_sprung()


def test_line_ends_converted_by_git_are_not_changes(top):
    call("config", "--global", "core.autocrlf", "true")
    for name in ("a.md", "same.md"):
        (top / name).write_bytes((top / name).read_bytes().replace(b"\n", b"\r\n"))
    changes = Changes("HEAD")
    assert new_lines(changes, "a.md") == [3] and not changes.has("same.md")
    assert new_lines(Changes(), "a.md") == [3]
    call("config", "--global", "--unset", "core.autocrlf")
    (top / ".gitattributes").write_text("*.md text eol=crlf\n")
    assert new_lines(Changes("HEAD"), "a.md") == [3]


def test_ignored_files_are_left_out_wherever_they_are_listed(top, tmp_path):
    (top / ".gitignore").write_text("one.md\n")
    (top / ".git" / "info" / "exclude").write_text("two.md\n")
    (tmp_path / "user" / "git").mkdir()
    (tmp_path / "user" / "git" / "ignore").write_text("three.md\n")
    for name in ("one.md", "two.md", "three.md", "four.md"):
        (top / name).write_text(OLD)
    changes = Changes("HEAD")
    assert [changes.has(name) for name in ("one.md", "two.md", "three.md", "four.md")] == [False] * 3 + [True]
    (tmp_path / "user" / "mine").write_text("four.md\n")
    call("config", "--global", "core.excludesFile", "~/mine")
    assert not Changes("HEAD").has("four.md") and Changes("HEAD").has("three.md")


@pytest.mark.parametrize("since", MODES)
def test_worktrees_split_indexes_and_shallow_clones(top, tmp_path, monkeypatch, since):
    call("update-index", "--split-index")
    assert new_lines(Changes(since), "a.md") == [3]
    call("commit", "-q", "-m", "x")
    call("worktree", "add", "-q", tmp_path / "tree", "-b", "other")
    call("clone", "-q", "--depth", "1", f"file://{top}", tmp_path / "shallow")
    for folder in ("tree", "shallow"):
        monkeypatch.chdir(tmp_path / folder)
        (tmp_path / folder / "a.md").write_text(NEW + "more\n")
        call("add", "-A")
        assert new_lines(Changes(since), "a.md") == [4]
    monkeypatch.chdir(tmp_path)  # several repositories in one call
    changes = Changes(since)
    assert [new_lines(changes, f"{name}/a.md") for name in ("tree", "top", "shallow")] == [[4], [], [4]]


def test_the_index_of_a_hook_is_that_of_its_repository(top, tmp_path, monkeypatch):
    (top / "a.md").write_text(NEW + "more\n")
    shutil.copy(top / ".git" / "index", top / ".git" / "next-index")
    call("add", "-A", env=os.environ | {"GIT_INDEX_FILE": ".git/next-index"})
    call("init", "-q", tmp_path / "other")
    (tmp_path / "other" / "o.md").write_text(OLD)
    call("-C", tmp_path / "other", "add", "-A")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
    changes = Changes()
    assert new_lines(changes, "a.md") == [3, 4]
    assert new_lines(changes, "../other/o.md") == [1, 2]


def test_hashes_of_either_kind(tmp_path, clean_git, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("init", "-q", "--object-format=sha256", "long")
    (tmp_path / "long" / "a.md").write_text(NEW)
    call("-C", "long", "add", "-A")
    assert new_lines(Changes(), "long/a.md") == [1, 2, 3]


def test_a_repository_of_another_user(top, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # read by git itself
    done = process("check", "--staged", "a.md", folder=top)
    advice = f"run: git config --global --add safe.directory {top}\n"
    assert done.returncode == 2 and done.stdout == ""
    assert "[D968]" in done.stderr and done.stderr.endswith(advice) and done.stderr.count("\n") == 1
    call("config", "--global", "--add", "safe.directory", top)
    assert new_lines(Changes(), "a.md") == [3]


def test_reading_git_has_a_time_limit(top, monkeypatch):
    os.mkfifo(top / ".git" / "pipe")
    shutil.rmtree(top / ".git" / "info")
    (top / ".git" / "info").mkdir()
    os.mkfifo(top / ".git" / "info" / "exclude")
    assert new_lines(Changes("HEAD"), "a.md") == [3]
    call("config", "core.excludesFile", top / ".git" / "pipe")
    monkeypatch.setattr(git_module, "TIME_LIMIT", 2.0)
    assert get_error_code(Changes("HEAD").has, "a.md") == "D969"


def test_metadata_is_left_as_it_was(top, tmp_path):
    call("config", "core.untrackedCache", "true")
    reset_times(top)
    before = {path: path.read_bytes() for path in (top / ".git").rglob("*") if path.is_file()}
    for since in MODES:
        assert new_lines(Changes(since), "a.md") == [3]
    assert before == {path: path.read_bytes() for path in (top / ".git").rglob("*") if path.is_file()}


def test_names_in_reports_come_from_the_repository_above(top, trap, monkeypatch):
    embed_bare(top / "x", trap.command)
    monkeypatch.chdir("x")
    assert path_in_repository("a.md") == "x/a.md"


LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "-- a", "++ b/x.md", "@@ -1 +1 @@", "diff --git a/x b/x"])
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=LINES, new=LINES, ends=st.booleans())
def test_new_lines_are_those_of_git_diff(tmp_path_factory, clean_git, old, new, ends):
    folder = tmp_path_factory.mktemp("lines")
    file = folder / "a.md"
    call("init", "-q", folder)
    file.write_text("\n".join(old) + "\n")
    call("-C", folder, "add", "-A")
    call("-C", folder, "commit", "-q", "-m", "x")
    file.write_text("\n".join(new) + "\n" * ends)
    diff = call("-C", folder, "diff", "-U0", "--ignore-cr-at-eol", "HEAD").decode()
    expected = []
    left = 0
    for line in diff.split("\n"):
        hunk = re.match(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if hunk and not left:
            removed, first, added = (1 if text is None else int(text) for text in hunk.groups())
            expected += range(first, first + added)
            left = removed + added
        elif left and line[:1] in ("+", "-"):
            left -= 1
    starts_a_line = file.read_text()
    expected = [number for number in expected if number <= len(starts_a_line.splitlines())]
    assert new_lines(Changes("HEAD"), str(file)) == expected
    call("-C", folder, "add", "-A")
    assert new_lines(Changes(), str(file)) == expected


@pytest.fixture
def repository(tmp_path, clean_git, monkeypatch):
    """A repository with one commit of three files, and the current folder in it."""
    top = tmp_path / "top"
    (top / "docs").mkdir(parents=True)
    monkeypatch.chdir(top)
    call("init", "-q", "-b", "main")
    for name in ("a.md", "docs/b.md", "c.md"):
        (top / name).write_bytes(b"one\r\ntwo\r\nthree\r\n")
    commit()
    return top


def flag_at(start, end=None):
    return Flag(start, end or start + 1, 1, 1, "x", "y", "t", 0.9, (start, start, ""))


def new_words(changes, path, words):
    """Return the words of a file that are in new lines."""
    text = changes.read(path).text
    return [word for word in words if changes.keep(path, text, [flag_at(text.index(word))])]


def test_new_lines_of_work_tree_files(repository):
    (repository / "a.md").write_bytes(b"one\r\nTWO\r\nthree\r\nfour")
    (repository / "c.md").write_bytes(b"one\r\nthree\r\n")
    (repository / "new.md").write_bytes(b"all of it")
    changes = Changes("HEAD")
    assert new_words(changes, "a.md", ["one", "TWO", "three", "four"]) == ["TWO", "four"]
    assert new_words(changes, "new.md", ["all", "it"]) == ["all", "it"]
    assert [changes.has(name) for name in ("a.md", "new.md", "docs/b.md", "c.md")] == [True] * 2 + [False] * 2
    text = "one\r\nTWO\r\nthree\r\n"
    (repository / "a.md").write_bytes(text.encode())
    changes = Changes("HEAD")
    flags = [flag_at(0, 5), flag_at(0, 6), flag_at(9, 11), flag_at(10, 11)]
    assert changes.keep("a.md", text, flags) == flags[1:3]  # one of its two lines is new
    (repository / "a.md").write_bytes(b"one\rx\r\ntwo\r\nNEW\r\n")  # a carriage return ends no line
    assert new_words(Changes("HEAD"), "a.md", ["x", "two", "NEW"]) == ["x", "NEW"]


def test_since_starts_at_the_merge_base(repository):
    call("checkout", "-q", "-b", "mine")
    (repository / "a.md").write_bytes(b"one\r\nMINE\r\nthree\r\n")
    commit()
    call("checkout", "-q", "main")
    (repository / "c.md").write_bytes(b"THEIRS\r\n")
    commit()
    call("checkout", "-q", "mine")
    changes = Changes("main")
    assert (changes.has("a.md"), changes.has("c.md")) == (True, False)


def test_staged_contents_are_read(repository):
    (repository / "a.md").write_bytes(b"one\r\nSTAGED\r\nthree\r\n")
    (repository / "new.md").write_bytes(b"new")
    call("add", "a.md")
    (repository / "a.md").write_bytes(b"first\r\none\r\nLATER\r\n")
    changes = Changes()
    assert new_words(changes, "a.md", ["one", "STAGED", "three"]) == ["STAGED"]
    assert not changes.has("new.md")


def test_staged_files_that_are_not_in_the_work_tree(repository):
    for name in ("docs/gone.md", "gone.md", "here.md"):
        (repository / name).write_bytes(b"STAGED\n")
    (repository / "link.md").symlink_to("one of of them")
    call("add", "-A")
    for name in ("docs/gone.md", "gone.md", "link.md"):
        (repository / name).unlink()
    assert list(Changes().only_staged(".")) == ["./docs/gone.md", "./gone.md"]
    assert list(Changes().only_staged("docs")) == ["docs/gone.md"]
    assert list(Changes("HEAD").only_staged(".")) == []
    shutil.rmtree("docs")
    assert Changes().read("docs/gone.md").text == "STAGED\n"
    assert get_error_code(Changes().read, "docs/none.md") == "D300"


def test_other_line_ends_are_no_new_lines(repository):
    (repository / "a.md").write_bytes(b"one\r\ntwo\r\n")
    commit()
    (repository / "a.md").write_bytes(b"one\nTWO\nNEW\n")
    assert new_words(Changes("HEAD"), "a.md", ["one", "TWO", "NEW"]) == ["TWO", "NEW"]
    (repository / "a.md").write_bytes(b"one\ntwo\n")
    assert not Changes("HEAD").has("a.md")


def test_changes_before_the_first_commit(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    call("init", "-q", "young")
    monkeypatch.chdir("young")
    (tmp_path / "young" / "a.md").write_bytes(b"text")
    call("add", "a.md")
    assert Changes().has("a.md")
    assert get_error_code(Changes("HEAD").has, "a.md") == "D963"


@pytest.mark.parametrize("name", ["a b.md", "é\u4e2d.md", 'q"\\.md', "t\ta.md", "-x.md"])
def test_unusual_file_names(repository, name):
    (repository / name).write_bytes(b"one\n" * 20 + b"two\n")
    commit()
    (repository / name).write_bytes(b"one\n" * 20 + b"++ b/other.md\n-- x\n")  # renamed, in git's eyes
    call("mv", "--", name, f"docs/{name}")
    assert new_words(Changes("HEAD"), f"docs/{name}", ["one", "++", "-- x"]) == ["++", "-- x"]
    call("add", "-A")
    assert Changes().has(f"docs/{name}") and not Changes().has("other.md")


def test_diff_settings_of_the_user_do_not_matter(repository):
    text = "".join(f"{n}\n" for n in range(9))
    (repository / "a.md").write_text(text)
    commit()
    settings = ("noprefix", "mnemonicPrefix", "relative", "interHunkContext=9", "context=3", "external=false")
    for name in settings:
        call("config", f"diff.{name.partition('=')[0]}", name.partition("=")[2] or "true")
    call("config", "color.ui", "always")
    (repository / "a.md").write_text(text.replace("2", "two").replace("6", "six"))
    assert new_words(Changes("HEAD"), "a.md", ["1", "two", "3", "4", "six", "7"]) == ["two", "six"]


def test_changes_from_a_subfolder_and_a_link(repository, tmp_path, monkeypatch):
    (repository / "docs" / "b.md").write_bytes(b"NEW\r\n")
    monkeypatch.chdir("docs")
    assert Changes("HEAD").has("b.md") and not Changes("HEAD").has("../a.md")
    (tmp_path / "link").symlink_to(repository)
    assert Changes("HEAD").has(str(tmp_path / "link" / "docs" / "b.md"))


def test_a_change_of_a_file_is_a_change_of_links_to_it(repository, tmp_path):
    (repository / "link.md").symlink_to(repository / "docs" / "b.md")
    (tmp_path / "outside.md").write_text("x")
    (repository / "out.md").symlink_to(tmp_path / "outside.md")
    commit()
    assert not Changes("HEAD").has("link.md")
    (repository / "docs" / "b.md").write_bytes(b"NEW\n")
    assert Changes("HEAD").has("link.md") and not Changes("HEAD").has("out.md")
    call("add", "-A")
    assert Changes().has("link.md") and Changes().read("link.md").text == "NEW\n"


def test_each_file_belongs_to_its_own_repository(repository):
    call("init", "-q", "docs/inner")
    (repository / "docs" / "inner" / "i.md").write_bytes(b"text")
    call("-C", "docs/inner", "add", "-A")
    (repository / "a.md").write_bytes(b"other")
    assert Changes().has("docs/inner/i.md") and not Changes().has("a.md")


def test_errors_of_git(repository, tmp_path, monkeypatch):
    assert get_error_code(Changes("nothing").has, "a.md") == "D963"
    assert get_error_code(Changes("--all").has, "a.md") == "D963"
    assert get_error_code(Changes().read, "nothing.md") == "D300"
    assert get_error_code(Changes().read, "no/folder.md") == "D300"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("x")
    assert get_error_code(Changes().has, str(tmp_path / "outside" / "a.md")) == "D962"
    call("checkout", "-q", "--orphan", "other")
    (repository / "a.md").write_text("x")
    commit()
    assert get_error_code(Changes("main").has, "a.md") == "D965"
    (repository / ".git" / "index").write_bytes(b"damaged")
    assert get_error_code(Changes().has, "a.md") == "D964"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert get_error_code(Changes().has, "a.md") == "D961"
