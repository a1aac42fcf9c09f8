"""A tiny annotator for tests of corpora, jobs and the command line; some texts make it misbehave.

Run as a script, it is the ``disambig`` command with this annotator in place of all installed models.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import time
import types
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from disambig.data import Decisions, Group
from disambig.models import ModelSet

if TYPE_CHECKING:
    import pytest  # not in the processes that run this as a script

GROUPS = {
    "spelling": (Group("quite/quiet", ("quite", "quiet")),),
    "preposition": (Group("prepositions", ("during", "from", "in", "to", "until", "with", "of", "at")),),
}
blocks: list[bytearray] = []
WRONG = {"quite place": "quiet", "during 1997": "from"}


def annotate_texts(
    texts: Sequence[str], tasks: Sequence[str] = ("preposition", "spelling")
) -> list[Decisions]:
    """Decide for each candidate word in the texts, and flag those in `WRONG`."""
    for text in texts:
        if "KILLME" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "RAISE" in text:
            raise RuntimeError("the fake model was asked to fail")
        if "HANG" in text:
            time.sleep(3600)
        if "HUGE" in text:
            blocks.append(bytearray(os.urandom(1 << 20) * 400))
            time.sleep(30)
        if "SLOW" in text:
            time.sleep(0.05)
    return [_decide(task, texts) for task in tasks]


def _decide(task: str, texts: Sequence[str]) -> Decisions:
    (group,) = GROUPS[task]
    pattern = re.compile(rf"\b({'|'.join(group.candidates)})\b", re.IGNORECASE)
    rows = []
    for number, text in enumerate(texts):
        for match in pattern.finditer(text):
            right = WRONG.get(
                " ".join(text[match.start() : match.start() + 40].lower().split()[:2]).strip(".,!")
            )
            observed = group.candidates.index(match[0].lower())
            chosen = group.candidates.index(right) if right else observed
            rows.append((number, match.start(), match.end(), observed, chosen, right is not None))
    columns = list(zip(*rows, strict=True)) or [()] * 6
    documents, starts, ends, observed, chosen = (np.array(column, np.int32) for column in columns[:5])
    n, k = len(rows), len(group.candidates)
    scores = np.tile(-np.arange(k, dtype=np.float32), (n, 1))
    scores[np.arange(n), chosen] = 2.25
    return Decisions(
        task=task,
        model=f"fake/{task} 0.0.1",
        table=(group,),
        documents=documents,
        starts=starts,
        ends=ends,
        groups=np.zeros(n, np.int32),
        observed=observed,
        chosen=chosen,
        offsets=np.arange(n + 1, dtype=np.int64) * k,
        scores=scores.ravel(),
        margins=np.full(n, 2.25, np.float32),
        probabilities=np.where(columns[5], 0.9, 0.1).astype(np.float32),
        flagged=np.array(columns[5], bool),
        n_hits=np.full(n, 3, np.int32),
        n_queries=np.full(n, 14, np.int32),
    )


@dataclass(frozen=True)
class FakeSource:
    """A source for jobs; `label` stands for settings that change the decisions."""

    label: str = "a"

    def load(self):
        return annotate_texts

    def language(self):
        return "en"

    def describe(self):
        return {"models": "fake", "label": self.label}


@dataclass(frozen=True)
class FakeModel:
    name: str
    version: str = "0.0.1"
    language: str = "en"
    flags_per_1000: float = 1.0

    def candidate_probabilities(self, decisions):
        return None

    @property
    def task(self):
        return types.SimpleNamespace(name=self.name)

    @property
    def judge(self):
        return types.SimpleNamespace(flags_per_1000=1.0, limit=lambda rate=None: 0.5)


class FakeModelSet(ModelSet):
    """A set of fake models."""

    languages = ()

    def annotate(self, texts):
        return annotate_texts(texts, [model.name for model in self.models])


_USES_MODELS = re.compile(
    r"^from disambig\.(models|packs)\b|^from disambig\.api import (\([^)]*|[^(\n]*)\bload_model\b",
    re.MULTILINE,
)
"""Imports after which a module would keep a fake model."""


@cache
def _import_users_of_models() -> None:
    """Import the modules that use models: if they were imported later, they would keep the fakes."""
    plugins = {entry.module.partition(".")[0] for entry in entry_points(group="disambig")}
    for package in sorted({"disambig", *plugins}):
        home = Path(importlib.import_module(package).__file__).parent
        for path in sorted(home.rglob("*.py")):
            if _USES_MODELS.search(path.read_text(encoding="utf8")):
                parts = path.relative_to(home.parent).with_suffix("").parts
                importlib.import_module(".".join(parts).removesuffix(".__init__"))


def install_fakes(patch: pytest.MonkeyPatch) -> None:
    """Replace the modules that find and run models until `patch` is undone."""
    _import_users_of_models()
    for name, fake in fakes().items():
        patch.setitem(sys.modules, name, fake)


def fakes() -> dict[str, types.ModuleType]:
    """Return replacements for the modules that find and run models, by name."""
    packs = _copy("disambig.packs")
    packs.available = lambda: {name: Path("/nowhere") / name for name in GROUPS}
    packs.default_tasks = lambda: tuple(sorted(GROUPS))
    packs.model_folder = lambda name: Path("/nowhere") / name
    models = _copy("disambig.models")
    models.load = FakeModel
    models.annotate = lambda texts, models, **settings: annotate_texts(texts, [m.name for m in models])
    models.ModelSet = FakeModelSet
    models.protect_words = lambda view, ignore: view
    sources = _new_copy("disambig.models.sources")
    sources.load, sources.ModelSet = FakeModel, FakeModelSet
    for name, value in vars(sources).items():
        if getattr(value, "__module__", None) == sources.__name__:
            setattr(models, name, value)
    return {module.__name__: module for module in (packs, models, sources)}


def _new_copy(name: str) -> types.ModuleType:
    """Return a new copy of a module, whose functions use the names of the copy."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    previous = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look up the module there
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name) if previous is None else sys.modules.update({name: previous})
    return module


def _copy(name: str) -> types.ModuleType:
    copy = types.ModuleType(name)
    copy.__dict__.update(vars(importlib.import_module(name)))
    return copy


if __name__ in ("__main__", "__mp_main__"):
    sys.modules.update(fakes())

if __name__ == "__main__":
    from disambig.cli.main import run

    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in background processes
    run()
