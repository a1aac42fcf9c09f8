"""A cloned project cannot make a check hang, read other files, or fail without a clear line."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest
from commands import here
from fake_models import install_fakes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
TEXT = "The weather was fine on that day.\n"


@pytest.fixture
def project(tmp_path):
    """Return a project with one text, next to a file outside the project."""
    (tmp_path / "secret.txt").write_text("token\n")
    home = tmp_path / "project"
    home.mkdir()
    (home / "a.md").write_text(TEXT)
    return home


def check(home, *arguments):
    """Run ``disambig check`` with models that flag nothing."""
    with pytest.MonkeyPatch.context() as patch:
        install_fakes(patch)
        return here("check", *arguments, folder=home)


def check_in_time(home, *arguments):
    """Run `check` for at most a minute; interrupt it if it hangs."""

    def interrupt(*_):
        pytest.fail("the check hangs")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(60)
    try:
        return check(home, *arguments)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def assert_refused(done, code, *words):
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1 and f"[{code}]" in done.stderr, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def write(home, text, name="disambig.toml"):
    (home / name).write_text(text)


def test_checks_an_ordinary_project(project):
    write(project, 'ignore_files = ["words.txt"]\n')
    write(project, "fine\n", "words.txt")
    done = check(project, ".")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("key", ["exclude", "include"])
def test_patterns_with_many_stars_are_fast(project, key):
    (project / ("a" * 200 + ".md")).write_text(TEXT)
    write(project, f'{key} = ["{"a*" * 12}b"]\n')
    assert check_in_time(project, ".").returncode == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (f'exclude = ["{"a" * 501}"]', ("exclude", "500 characters", "'aaaa")),
        (f"exclude = {json.dumps(['a'] * 1_001)}", ("exclude", "too many patterns")),
        (f"include = {json.dumps(['ab' * 200] * 200)}", ("include", "too many patterns")),
        (f"exclude = {json.dumps(['**/a/' * 90] * 100)}", ("exclude", "too many patterns")),
        ('exclude = ["a\\\\"]', ("exclude", "backslash")),
        ('exclude = ["[b-a]"]', ("exclude", "not a pattern")),
        ('exclude = ["!"]', ("exclude", "empty")),
        ('[overrides."[b-a]"]\nignore = ["x"]', ("overrides", "not a pattern")),
        (f"sets = {json.dumps(['a/b'] * 1_001)}", ("sets", "at most 1,000")),
        (f"sets = ['{'/'.join(f'a{chr(97 + i % 26)}{chr(97 + i // 26)}' for i in range(300))}']", ("sets",)),
        ("trust = '" + "9" * 5_000 + " in 10'", ("trust",)),
        ("flags_per_1000 = 1" + "0" * 400, ("flags_per_1000",)),
    ],
)
def test_rejects_settings_out_of_bounds(project, settings, words):
    write(project, settings)
    done = check(project, ".")
    assert_refused(done, "D971", "disambig.toml", *words)
    assert len(done.stderr) < 1_000


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "9" * 5_000,
        "x = " + "[" * 20_000,
        "x = " + "{a=" * 20_000,
        "a." * 5_000 + "b = 1",
        "[" + "a." * 5_000,
    ],
)
def test_rejects_long_numbers_and_deep_toml(project, text):
    write(project, text)
    done = check_in_time(project, ".")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr[:500]
    assert "[D97" in done.stderr


def test_rejects_a_large_settings_file(project):
    write(project, "#" * 3_000_000)
    assert_refused(check(project, "."), "D975", "disambig.toml")


@pytest.mark.parametrize("key", ["ignore_files", "sets_files", "baseline", "models"])
@pytest.mark.parametrize("target", ["/dev/zero", "../secret.txt", "link", "/proc/self/environ"])
def test_rejects_files_outside_the_project(project, key, target):
    (project / "link").symlink_to("../secret.txt")
    value = json.dumps(target if key == "baseline" else [target])
    write(project, f"{key} = {value}\n")
    done = (check_in_time if target == "/dev/zero" else check)(project, ".")
    assert_refused(done, "D973", "disambig.toml", key, "outside the project")
    assert "token" not in done.stderr


def test_options_may_name_any_file(project):
    done = check(project, "--ignore", "../secret.txt", ".")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_settings_may_name_files_of_the_repository(project):
    (project / ".git").mkdir()
    (project / "docs").mkdir()
    write(project / "docs", 'ignore_files = ["../words.txt"]\n')
    write(project / "docs", TEXT, "b.md")
    write(project, "fine\n", "words.txt")
    assert check(project, ".").returncode == 0


@pytest.mark.parametrize("key", ["ignore_files", "sets_files", "baseline"])
def test_rejects_pipes(project, key):
    os.mkfifo(project / "pipe")
    value = '"pipe"' if key == "baseline" else '["pipe"]'
    write(project, f"{key} = {value}\n")
    assert_refused(check_in_time(project, "."), "D974", "pipe", "not an ordinary file", key)


def test_rejects_a_settings_file_that_links_outside(project):
    (project / "disambig.toml").symlink_to("../secret.txt")
    done = check(project, ".")
    assert_refused(done, "D973", "disambig.toml")
    assert "token" not in done.stderr


def test_ignores_a_settings_file_that_is_a_pipe(project):
    os.mkfifo(project / "disambig.toml")
    assert check_in_time(project, ".").returncode == 0


def test_rejects_large_word_lists(project):
    with open(project / "words.txt", "wb") as file:
        file.truncate(1 << 40)  # a file with a hole
    write(project, 'ignore_files = ["words.txt"]\n')
    assert_refused(check_in_time(project, "a.md"), "D975", "words.txt")


def model(project, config=""):
    home = project / "model"
    home.mkdir()
    (home / "config.cfg").write_text(f'[model]\nname = "x"\n{config}')
    (home / "model.json").write_text("{}")
    return home


def test_rejects_a_model_that_names_files_outside(project):
    model(project, '\n[extractors]\n\n[extractors.x]\ncounts = "/dev/zero"\n')
    write(project, 'models = ["model"]\n')
    assert_refused(check_in_time(project, "."), "D973", "config.cfg", "/dev/zero")


@pytest.mark.parametrize("value", ["../../secret.txt", "link"])
def test_rejects_a_model_that_links_outside(project, value):
    home = model(project, f'\n[extractors]\n\n[extractors.x]\ncounts = "{value}"\n')
    if value == "link":
        (home / "link").symlink_to("../../secret.txt")
    write(project, 'models = ["model"]\n')
    assert_refused(check(project, "."), "D973")


def test_rejects_models_with_pipes_or_large_files(project):
    home = model(project)
    os.mkfifo(home / "weights.npz")
    write(project, 'models = ["model"]\n')
    assert_refused(check_in_time(project, "."), "D974", "weights.npz")
    (home / "weights.npz").unlink()
    with open(home / "weights.npz", "wb") as file:
        file.truncate(1 << 40)
    assert_refused(check_in_time(project, "."), "D974", "2,000,000,000")


def test_tasks_do_not_name_directories(project):
    model(project)
    write(project, 'tasks = ["model"]\n')
    assert_refused(check(project, "."), "D404", "disambig.toml, `tasks` lists installed models")


def test_skips_pipes_devices_and_links(project):
    os.mkfifo(project / "pipe.md")
    (project / "zero.md").symlink_to("/dev/zero")
    (project / "out.md").symlink_to("../secret.txt")
    (project / "loop").symlink_to(".")
    (project / "self.md").symlink_to("self.md")
    (project / "--fix.md").write_text(TEXT)
    (project / "-").write_text(TEXT)
    (project / "same.md").symlink_to("a.md")
    done = check_in_time(project, ".")
    assert done.returncode == 0
    assert "1 dangling link (./self.md)" in done.stderr
    assert "in 2 files" in done.stderr  # same.md is a.md


@pytest.mark.slow
def test_deeply_nested_folders(project):
    here = os.open(project, os.O_RDONLY)
    for _ in range(10_000):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(here)
    try:
        done = check_in_time(project, ".")
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("[D976]") == 1 and "Traceback" not in done.stderr
        assert "in 1 file" in done.stderr
    finally:
        remove_deep(project)


def remove_deep(top):
    """Remove nested folders, which `shutil.rmtree` cannot: it is recursive."""
    here, content = os.open(top, os.O_RDONLY), 0
    while os.path.isdir(f"/proc/self/fd/{here}/d"):
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here, content = there, content + 1
    for _ in range(content):
        above = os.open("..", os.O_RDONLY, dir_fd=here)
        os.close(here)
        os.rmdir("d", dir_fd=above)
        here = above
    os.close(here)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"disambig_baseline": 1, "flags": [' + "9" * 5_000 + "]}", "NaN"]
)
def test_rejects_a_malformed_baseline(project, content):
    write(project, content, "known.json")
    write(project, "It was a quite place.\n", "b.md")
    write(project, 'baseline = "known.json"\n')
    assert_refused(check(project, "b.md"), "D966", "known.json")
    (project / "disambig.toml").unlink()
    assert_refused(check(project, "--baseline", "known.json", "b.md"), "D966", "known.json")
