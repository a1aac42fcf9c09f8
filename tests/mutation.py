"""Mutation testing of one package with cosmic-ray, on a random sample of its mutants (extra ``mutation``).

    python -m tests.mutation disambig/metrics tests/unit/metrics --sample 20

Mutants are written into the checkout and reverted, so run it in a clean one (``git worktree add``). The same
seed and the same source give the same mutants, so that two versions of the tests can be compared.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

CONFIG = """
[cosmic-ray]
module-path = "{package}"
timeout = {timeout}
excluded-modules = ["{package}/_kernels.py"]
test-command = "{python} -m pytest -q -x -n 0 -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
"""
# `X | Y` is nearly always a type; compiled functions would be compiled again for each mutant
EQUIVALENT = ("ReplaceBinaryOperator_BitOr", "AddNot_Type")


def sample_mutants(session: Path, size: int, seed: int) -> None:
    """Mark all mutants as skipped, apart from a random sample."""
    with use_db(session) as db:
        mutants = [(mutant, item.job_id) for item in db.work_items for mutant in item.mutations]
        jobs = {f"{m.module_path} {m.operator_name} {m.occurrence:06}": job for m, job in mutants}
        names = sorted(name for name in jobs if not any(operator in name for operator in EQUIVALENT))
        chosen = set(random.Random(seed).sample(names, min(size, len(names))))
        skipped = WorkResult(WorkerOutcome.SKIPPED)
        db.set_multiple_results({jobs[name] for name in jobs.keys() - chosen}, skipped)
    print(f"{len(chosen)} of {len(names)} mutants")


def report(session: Path) -> None:
    """Print how many mutants were killed, and where the others are."""
    with use_db(session) as db:
        mutants = {item.job_id: item.mutations[0] for item in db.work_items}
        results = [
            (job, result) for job, result in db.results if result.worker_outcome != WorkerOutcome.SKIPPED
        ]
    counts = Counter(str(result.test_outcome and result.test_outcome.value) for _, result in results)
    print(f"killed {len(results) - counts['survived']} of {len(results)}: {dict(counts)}")
    for job, result in results:
        if not result.is_killed:
            mutant = mutants[job]
            print(f"survived: {mutant.module_path}:{mutant.start_pos[0]} {mutant.operator_name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", help="folder of the package, such as disambig/metrics")
    parser.add_argument("tests", nargs="+", help="files or folders of tests")
    parser.add_argument("--sample", type=int, default=20, metavar="N", help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--timeout", type=float, default=300.0, metavar="SECONDS", help="of one run of the tests"
    )
    options = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet", "--", options.package], check=False).returncode:
        parser.error(f"{options.package} has changes that are not committed")
    with tempfile.TemporaryDirectory() as folder:
        config, session = Path(folder) / "mutation.toml", Path(folder) / "session.sqlite"
        values = {"package": options.package, "timeout": options.timeout, "python": sys.executable}
        config.write_text(CONFIG.format(**values, tests=" ".join(options.tests)))
        command = [sys.executable, "-m", "cosmic_ray.cli"]
        try:
            subprocess.run([*command, "init", config, session], check=True)
            sample_mutants(session, options.sample, options.seed)
            subprocess.run([*command, "exec", config, session], check=True)
        finally:
            subprocess.run(["git", "checkout", "--quiet", "--", options.package], check=True)
        report(session)


if __name__ == "__main__":
    main()
