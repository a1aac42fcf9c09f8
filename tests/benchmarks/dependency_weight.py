"""Print what each dependency of the installed disambig costs, as a Markdown table.

    python tests/benchmarks/dependency_weight.py

For each dependency: the megabytes that it and what only it brings take on disk, the processor time of its
import in a new process (the best of three, with what it imports itself), and whether `disambig check` and
`disambig annotate` of a sentence load it. Run it in an environment that has nothing but disambig.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "disambig"
COMMANDS = ("check", "annotate")
_RUN = """
import json, sys, time
from disambig.cli import main
try:
    main.run(sys.argv[1:])
except SystemExit:
    pass
names = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps([time.process_time(), names]), file=sys.stderr)
"""
_TEXT = "It depends of the weather, and the results of the test shows that its hard to find a quite place.\n"
"""For `agreement`, the rule of the second mistake, a parser looks for the subject."""
_IMPORT = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


def main() -> None:
    """Print the table, and the processor time of the commands."""
    installed = {
        canonicalize_name(distribution.metadata["Name"]): distribution for distribution in distributions()
    }
    modules: dict[str, list[str]] = {}
    for module, owners in packages_distributions().items():
        for owner in owners:
            modules.setdefault(canonicalize_name(owner), []).append(module)
    loaded, seconds = {}, {}
    for command in COMMANDS:
        seconds[command], loaded[command] = _run(command)
    everything = _reachable(ROOT, installed)
    rows = []
    for name in sorted(_required(installed[ROOT]) & set(installed)):
        only = everything - _reachable(ROOT, installed, without=name)
        public = [
            module for module in modules.get(name, ()) if not module.startswith("_") and "." not in module
        ]
        module = name.replace("-", "_") if name.replace("-", "_") in public else min(public, default="")
        module = {"scikit-learn": "sklearn"}.get(name, module)
        used = [command for command in COMMANDS if module in loaded[command]]
        megabytes = sum(_bytes(installed[package]) for package in only) / 1e6
        rows.append((megabytes, name, len(only) - 1, _import_seconds(module), used))
    print("| dependency | MB | import, s | loaded by |\n|---|---|---|---|")
    for megabytes, name, n_more, cost, used in sorted(rows, reverse=True):
        more = f" and {n_more} more" if n_more else ""
        print(f"| {name}{more} | {megabytes:.0f} | {cost:.2f} | {', '.join(used)} |")
    total = sum(_bytes(installed[package]) for package in everything) / 1e6
    print(f"| disambig itself | {_bytes(installed[ROOT]) / 1e6:.0f} | | |\n| all | {total:.0f} | | |")
    for command, cost in seconds.items():
        print(f"\n`disambig {command}` of one sentence: {cost:.1f} s of processor time.")


def _required(distribution: Distribution) -> set[str]:
    """Return the names of the requirements of a distribution on this system, without extras."""
    requirements = map(Requirement, distribution.requires or ())
    return {
        canonicalize_name(requirement.name)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }


def _reachable(root: str, installed: dict[str, Distribution], without: str = "") -> set[str]:
    reachable, open_names = set(), [root]
    while open_names:
        name = open_names.pop()
        if name not in reachable and name in installed and name != without:
            reachable.add(name)
            open_names += _required(installed[name])
    return reachable


def _bytes(distribution: Distribution) -> int:
    paths = (Path(str(distribution.locate_file(file))) for file in distribution.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def _import_seconds(module: str) -> float:
    command = [sys.executable, "-c", _IMPORT.format(module)]
    return min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3))


def _run(command: str) -> tuple[float, set[str]]:
    """Return the processor time of a command on one sentence, and the modules that it loads."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "note.txt").write_text(_TEXT)
        ran = [sys.executable, "-c", _RUN, command, "note.txt"]
        done = subprocess.run(ran, cwd=folder, capture_output=True, check=True, text=True)
    cost, names = json.loads(done.stderr.splitlines()[-1])
    return float(cost), set(names)


if __name__ == "__main__":
    main()
