"""Print the table of speeds of README.md, and the machine that it was measured on.

    python tests/benchmarks/speeds.py                 # the samples, again and again
    python tests/benchmarks/speeds.py FILE            # text of your own, such as held-out text

Each line is measured several times, in rounds over all lines, so that a busy machine slows all alike; the
slowest and the fastest round are shown. Commands run as processes of their own, with their start. A peer that
is not installed is named as not measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one core, and before NumPy is imported

SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
PEERS = {"Harper": ("harper", "lint"), "codespell": ("codespell",)}
Measure = Callable[[], tuple[float, float]]
"""Does the work once; returns its seconds by the clock and of the processor."""


def take_text(path: Path | None, words: int) -> list[str]:
    """Return paragraphs with at least the given number of words."""
    files = [path] if path is not None else sorted(SAMPLES.glob("*.txt"))
    paragraphs = [part for file in files for part in file.read_text(encoding="utf8").split("\n\n")]
    taken, n = [], 0
    while n < words:
        for part in paragraphs:
            taken.append(part)
            n += len(part.split())
            if n >= words:
                break
    return taken


def in_process(work: Callable[[], object]) -> Measure:
    """Return the measurement of a call."""

    def measure() -> tuple[float, float]:
        wall, used = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - wall, time.process_time() - used

    return measure


def command(*words: str | Path) -> Measure:
    """Return the measurement of a command and its processes."""

    def measure() -> tuple[float, float]:
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(list(map(str, words)), capture_output=True, check=False)
        assert done.returncode >= 0, done
        wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return measure


def find_program(name: str) -> str | None:
    """Return the path of a program that is installed beside this Python or on the search path."""
    return shutil.which(
        name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    )


def lines(texts: list[str], folder: Path) -> tuple[dict[str, Measure], list[str]]:
    """Return the measurements by name, and the names of missing programs."""
    import spacy
    from disambig_encoder import encoder

    from disambig.models import ModelSource

    encoder.MAX_KEPT = 0  # all rounds read the same sentences, whose states would be cached by the first one

    models = ModelSource().load().models
    tasks = [model.task.name for model in models]
    sets = {
        "all tasks that correct words": [task for task in tasks if task != "it"],
        **{f"`{task}` alone": [task] for task in ("it", "preposition", "spelling") if task in tasks},
    }
    measures: dict[str, Measure] = {}
    for name, of_set in sets.items():
        annotate = ModelSource(tuple(of_set)).load()
        measures[name] = in_process(lambda annotate=annotate: annotate(texts))
    for name, parts in (
        ("spaCy's tokeniser", ()),
        ("component `disambig_tagger`", ("disambig_tagger",)),
        ("components of prepositions and spelling", ("disambig_preposition", "disambig_spelling")),
    ):
        nlp = spacy.blank("en")
        for part in parts:
            nlp.add_pipe(part)
        measures[name] = in_process(lambda nlp=nlp: [None for _ in nlp.pipe(texts)])
    path, run = folder / "text.txt", (sys.executable, "-m", "disambig.cli.main")
    path.write_text("\n\n".join(texts), encoding="utf8")
    measures["`disambig check`"] = command(*run, "check", path)
    measures["`disambig annotate`"] = command(
        *run, "annotate", path, "--output", folder / "o.jsonl", "--force"
    )
    missing = []
    for name, (program, *options) in PEERS.items():
        if (path_of_program := find_program(program)) is None:
            missing.append(name)
        else:
            measures[name] = command(path_of_program, *options, path)
    return measures, missing


def machine() -> str:
    """Return the processor, its load and the versions."""
    model = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).is_file():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    load = " ".join(f"{amount:.1f}" for amount in os.getloadavg())
    versions = []
    for name in ("disambig", "numpy", "numba", "spacy", "onnxruntime"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    python = f"Python {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores, load {load}; {', '.join([python, *versions])}"


def show_range(speeds: list[float]) -> str:
    """Return the slowest and the fastest of several speeds with two digits."""
    low, high = (float(f"{speed:.2g}") for speed in (min(speeds), max(speeds)))
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("text", nargs="?", type=Path, help="a file of text; by default the samples")
    parser.add_argument("--words", type=int, default=50_000, help="number of words to read")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = take_text(options.text, options.words)
    words = sum(len(text.split()) for text in texts)
    print(f"{machine()}\n{words:,} words of {options.text or 'corpora/samples'}, {options.rounds} rounds\n")
    with tempfile.TemporaryDirectory() as folder:
        measures, missing = lines(texts, Path(folder))
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in measures}
        for measure in measures.values():
            measure()  # caches filled, functions compiled
        for _ in range(options.rounds):
            for name, measure in measures.items():
                seconds[name].append(measure())
    print("| words per second | of processor time | by the clock |\n|---|---|---|")
    for name, taken in seconds.items():
        wall, used = ([words / run[i] for run in taken] for i in (0, 1))
        print(f"| {name} | {show_range(used)} | {show_range(wall)} |")
    for name in missing:
        print(f"| {name} | not measured: {PEERS[name][0]} is not installed | |")


if __name__ == "__main__":
    main()
