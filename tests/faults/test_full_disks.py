"""Full disks, files that may not grow: one line, nothing half-written; with room it comes to the same."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import Done, here, process
from fake_models import install_fakes
from fault_tools import CORPORA, DRIVER, amount, chance, check, held

pytestmark = pytest.mark.slow
ROOM = 1 << 26
ANNOTATE = ("annotate", "lines.txt", "--lines")
JOB = (*ANNOTATE, "--shard-size", "0.004")
COUNTS = ("counts", "build", "lines.txt", "--orders", "3", "--quiet")
TRAIN = ("train", "my.cfg", "--text", "taken.txt", "--lines", "--no-test")
CASES: dict[str, tuple[str, ...]] = {
    "job": JOB,
    "mirror": ("annotate", "many", "--format", "corrected"),
    "out.jsonl": ANNOTATE,
    "out.csv.gz": ANNOTATE,
    "out.html": ANNOTATE,
    "out.parquet": ANNOTATE,
    "out.spacy": ANNOTATE,
    "out.counts": COUNTS,
    "model": TRAIN,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Return a folder with what the commands read."""
    folder = tmp_path_factory.mktemp("full")
    lines = [f"Line {n} of {n * n % 97} tells of a quite place in Russia during 1997.\n" for n in range(400)]
    (folder / "lines.txt").write_text("".join(lines))
    places = ("chair", "map", "cup", "book", "coat")
    taken = [
        f"Please bring me the {a} and take care of the {b} {n}.\n"
        for n in range(9)
        for a in places
        for b in places
    ]
    (folder / "taken.txt").write_text("".join(taken))
    (folder / "my.cfg").write_text(here("train", "--example").stdout)
    (folder / "many").mkdir()
    for number in range(12):
        (folder / "many" / f"{number}.txt").write_bytes(CORPORA["a.txt"]())
    return folder


@pytest.fixture
def disk(tmp_path) -> Iterator[Callable[[int], Path]]:
    """Return a function that gives a new small disk in memory, or `more` room to that which is there."""
    place = tmp_path / "disk"
    place.mkdir()
    made = False

    def sized(size: int, *, more: bool = False) -> Path:
        nonlocal made
        if made and not more:
            subprocess.run(["umount", "-l", str(place)], check=True)
        options = f"size={size}" + (",remount" if more else "")
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as problem:
            pytest.skip(f"no mount: {problem}")
        if done.returncode:
            pytest.skip(f"mounting is not allowed: {done.stderr.strip()}")
        made = True
        return place

    yield sized
    if made:
        subprocess.run(["umount", "-l", str(place)], check=True)


def ran(case: str, home: Path, output: Path, *more: object, apart: dict | None = None) -> Done:
    """Run the command of a case, in this process or apart, in the folder of its inputs."""
    arguments = (*CASES[case], "--output", output / case, *more)
    needs_models = case not in ("out.counts", "model")
    if apart is not None:
        python = (str(DRIVER),) if needs_models else ("-m", "disambig.cli.main")
        no_bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # Python itself would cut those files
        return process(*arguments, folder=home, python=python, env=no_bytecode, **apart)
    with pytest.MonkeyPatch.context() as patch:
        if needs_models:
            install_fakes(patch)
        return here(*arguments, folder=home)


def made(output: Path) -> dict:
    """Return what stands there, by name, but for the times in the card of a model."""
    if output.is_file():
        return {"": output.read_bytes()}
    contents = held(output)
    contents.pop("README.md", None)
    return contents


@pytest.fixture(scope="module")
def whole(home, tmp_path_factory) -> Callable[[str], tuple[dict, int]]:
    """Return a function: what a case comes to with room, and how many bytes that takes."""
    computed: dict[str, tuple[dict, int]] = {}

    def of(case: str) -> tuple[dict, int]:
        if case == "out.parquet":
            pytest.importorskip("pyarrow")
        if case not in computed:
            output = tmp_path_factory.mktemp("room")
            done = ran(case, home, output)
            assert done.returncode == 0, done.stderr
            files = [output / case] if (output / case).is_file() else (output / case).rglob("*")
            computed[case] = made(output / case), sum(path.stat().st_size for path in files if path.is_file())
        return computed[case]

    return of


@pytest.mark.parametrize("case", CASES)
def test_a_full_disk_is_one_message_and_a_later_run_succeeds(home, disk, whole, case):
    expected, size = whole(case)
    for trial in range(amount(1, 40)):
        room = 4096 if trial == 0 else int(chance("full", case, trial).uniform(4096, 1.3 * size))
        place = disk(room)
        done = ran(case, home, place)
        _refused(case, place, done, expected, ("full", case, trial, room))
        disk(ROOM, more=True)
        if done.returncode:
            done = ran(case, home, place)
        check(done.returncode == 0, case, room, done.stderr)
        check(made(place / case) == expected, case, room, "another result")


@pytest.mark.parametrize("case", [case for case in CASES if case != "out.spacy"])  # spaCy is slow to begin
def test_a_file_that_may_not_grow_is_one_line(home, tmp_path, whole, case):
    expected, size = whole(case)
    for trial in range(amount(1, 20)):
        most = int(chance("limit", case, trial).uniform(0, 0.9) * min(size, 60_000)) if trial else 1000
        more = ("--workers", 2) if case == "job" and trial % 2 else ()
        apart = {"preexec_fn": lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))}
        done = ran(case, home, tmp_path, *more, apart=apart)
        _refused(case, tmp_path, done, expected, ("limit", case, trial, most))
        if done.returncode:
            done = ran(case, home, tmp_path)
        check(done.returncode == 0, case, most, done.stderr)
        check(made(tmp_path / case) == expected, case, most, "another result")
        _empty(tmp_path)


def _refused(case: str, place: Path, done: Done, expected: dict, what: tuple[object, ...]) -> None:
    """Make sure that a run ended well, or with a line, and that nothing stands half-written."""
    check(done.returncode in (0, 2) and "Traceback" not in done.stderr, what, done.stderr)
    if done.returncode == 0:
        return
    messages = [line for line in done.stderr.splitlines() if line.startswith("disambig: [D")]
    check(len(messages) == 1, what, done.stderr)
    drafts = [path for path in place.rglob("*") if ".tmp-" in path.name]
    check(not drafts, what, drafts)
    if case not in ("job", "mirror"):
        check(not any(place.iterdir()), what, "half-written", [*place.rglob("*")])
    elif (place / case).exists():
        written = {name: data for name, data in made(place / case).items() if not name.startswith(".")}
        check(all(expected[name] == data for name, data in written.items()), what, "half-written")


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        with contextlib.suppress(NotADirectoryError):
            shutil.rmtree(path)
            continue
        path.unlink()


@pytest.mark.parametrize("option", ["--fix", "--write-baseline"])
def test_a_full_disk_does_not_damage_checked_files(disk, option):
    """The text, and the old baseline, are as they were; one line names the file; with room it is written."""
    place = disk(1 << 16)
    text = "It was a quite place in the hills.\n\n" + "We stayed there for the night.\n\n" * 400
    (place / "notes.md").write_text(text)
    command = ["check", "notes.md", "--quiet", option]
    if option == "--write-baseline":
        command.append("flags.json")
    filler = place / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(b"x" * 512):
            pass
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        install_fakes(patch)
        done = here(*command, folder=place)
        check(done.returncode == 2 and "Traceback" not in done.stderr, option, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("disambig: [D")]
        check(len(lines) == 1, option, done.stderr)
        check({path.name: path.read_bytes() for path in place.iterdir()} == before, option, "changed")
        filler.unlink()
        done = here(*command, folder=place)
    check(done.returncode in (0, 1), option, done.stderr)
    written = (place / ("notes.md" if option == "--fix" else "flags.json")).read_text()
    check(written and written != text, option, written[:200])
