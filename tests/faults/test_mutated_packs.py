"""Models cut short or changed: the same comes out, or another result, or one coded error; never a hang."""

from __future__ import annotations

import json
import resource
import shutil
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from fault_dial import amount, chance
from fault_inputs import mutated
from fault_runs import check, within

from disambig.errors import UserError
from disambig.models import annotate, load

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
MEMORY = 2 << 30
"""Bytes that opening a changed model may take beyond what the process has."""


def _convert(folder: Path) -> object:
    from disambig_boosted_lasso.kana import Converter

    return Converter.load(folder).best(["きょうはいいてんきです"])


def _parse(folder: Path) -> object:
    from disambig_exponentiated_gradient import load_parser

    return [str(tree) for tree in load_parser(folder).parse("The old house fell.")]


def _dependencies(folder: Path) -> object:
    from disambig_dependencies import load_parser

    return load_parser(folder).parse("The old house fell.")


def _decide(folder: Path) -> object:
    text = "Its then that we wanted too see a quite place."
    return [[each.record(i, text) for i in range(len(each))] for each in annotate([text], [load(folder)])]


MODELS = {
    "kana": (ROOT / "corpora" / "disambig_ja" / "models" / "converter", _convert),
    "dependencies": (
        ROOT / "corpora" / "disambig_en_dependencies" / "models" / "dependencies",
        _dependencies,
    ),
    "parser": (ROOT / "corpora" / "disambig_en_parser" / "models" / "parser", _parse),
    "topic": (ROOT / "tests" / "goldens" / "models" / "topic_Perceptron", _decide),
}
HUGE = (10**12, 2**63, 10**400, -1, 1e308, True, None, "x" * 1000, [[[]]], {})


def changed(path: Path, numbers) -> bytes:
    """Return a file changed anywhere; or with another value in its JSON, or in a member of its archive."""
    data = path.read_bytes()
    way = numbers.randrange(3)
    if path.suffix == ".json" and way:
        value = json.loads(data)
        spot = value
        while isinstance(spot, dict | list) and spot:
            key = numbers.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
            if not isinstance(spot[key], dict | list) or not spot[key] or numbers.random() < 0.3:
                spot[key] = numbers.choice(HUGE)
                break
            spot = spot[key]
        return json.dumps(value).encode()
    if path.suffix == ".npz" and way:
        return _changed_archive(path, numbers)
    return mutated(data, numbers)


def _changed_archive(path: Path, numbers) -> bytes:
    """Change what is in an archive, so that its own checksums hold; often the shape in the header."""
    import io

    sink = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as new:
        victim = numbers.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            if name == victim:
                head = data[:128]
                if numbers.random() < 0.5 and b"(" in head:
                    at = head.index(b"(") + 1
                    digits = numbers.choice((b"9" * 12, b"1", b"-1", b"0", b"9" * 30))
                    data = data[:at] + digits + data[at + len(digits) :]
                else:
                    data = mutated(data, numbers)
            new.writestr(name, data)
    return sink.getvalue()


@contextmanager
def bounded(what: object):
    """Let a block hang no longer than `within`, and take no more than `MEMORY` bytes of addresses."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    try:
        with within(what):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", MODELS)
def test_a_changed_model_gives_a_result_or_one_coded_error(tmp_path, name):
    source, use = MODELS[name]
    use(source)  # what is imported and compiled by it is not part of the bound
    copy = tmp_path / "copy"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("domains"))  # which are not opened here
    files = sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file())
    sound = repr(use(copy))
    outcomes = {"the same": 0, "another result": 0, "coded": 0}
    for trial in range(amount(12, 220)):
        numbers = chance("pack", name, trial)
        path = numbers.choice(files)
        (copy / path).write_bytes(changed(source / path, numbers))
        what = ("pack", name, trial, str(path))
        with bounded(what):
            try:
                result = repr(use(copy))
                outcomes["the same" if result == sound else "another result"] += 1
            except UserError as problem:
                outcomes["coded"] += 1
                check("\n" not in str(problem), what, str(problem))
            except Exception as problem:  # whatever is not coded is a fault
                check(False, what, f"{type(problem).__name__}: {problem}")
        shutil.copy2(source / path, copy / path)
    print(name, outcomes)
