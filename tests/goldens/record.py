"""Record the goldens: ``python -m tests.goldens.record [CASE...]``; see Tests in CONTRIBUTING."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("DISAMBIG_TELL_COMPILING", "0")

from golden_cases import record, train
from golden_forms import CASES, MODELS, OUTPUTS, run
from golden_packs import bits
from golden_texts import configs, write_inputs


def save_models() -> None:
    """Train the saved models again; only necessary if their format changes."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_inputs(home)
        for name in configs():
            _keep(train(home, name), name)
        run(home, "train-parser", "trees.mrg", "--output", "parser", "-q")
        _keep(home / "parser", "parser")


def _keep(source: Path, name: str) -> None:
    target = MODELS / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("README.md"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"default: all of {', '.join(CASES)}")
    parser.add_argument("--bits", action="store_true", help="print digests of what the packs decide")
    parser.add_argument("--models", action="store_true", help="train the saved models anew")
    chosen = parser.parse_args()
    if chosen.bits:
        print(bits(), end="")
        return
    if chosen.models:
        save_models()
    with tempfile.TemporaryDirectory() as folder:
        for name, files in record(Path(folder), chosen.cases or list(CASES)).items():
            target = OUTPUTS / name
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for file, text in files.items():
                (target / file).write_text(text, encoding="utf8", newline="")
            print(f"{name}: {len(files)} files")


if __name__ == "__main__":
    main()
