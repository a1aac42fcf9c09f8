"""The contract of a feature extractor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disambig.data.instances import Instances
from disambig.fields import requires
from disambig.testing.checks import (
    Check,
    checks_of,
    require,
    require_batch,
    require_close,
    require_equal,
    require_state,
)
from disambig.text.view import Tokenisation
from disambig.types import DescribesTogether, FeatureExtractor, Features, Task


def check_extractor(
    extractor: FeatureExtractor,
    task: Task,
    texts: Sequence[str],
    tokenisation: Tokenisation | None = None,
) -> list[Check]:
    """Return the checks of a feature extractor, which is fitted on `texts` first.

    Parameters
    ----------
    extractor : FeatureExtractor
    task : Task
        Finds the instances; one that passes `check_task`.
    texts : sequence of str
    tokenisation : Tokenisation, optional
        By default ``disambig.words.v1``.
    """
    if tokenisation is None:
        from disambig.text.tokenisations.words import Words

        tokenisation = Words()
    return checks_of(_Checks(extractor, task, list(texts), tokenisation))


@dataclass
class _Checks:
    _extractor: FeatureExtractor
    _task: Task
    _texts: list[str]
    _tokenisation: Tokenisation

    def says_what_it_requires(self) -> None:
        layers = requires(self._extractor)
        good = not isinstance(layers, str) and all(isinstance(layer, str) for layer in layers)
        require(good, f"requires is {layers!r}, not a sequence of names of layers")

    def makes_batches_in_order(self) -> None:
        for name, features in self._features().items():
            require_batch(features.batch, f"group {name}")

    def costs_nothing_where_the_text_is_right(self) -> None:
        for name, (features, found) in self._by_group().items():
            offsets, cost = features.batch.offsets, features.batch.cost
            require(
                len(offsets) == len(found) + 1, f"group {name}: {len(offsets) - 1} of {len(found)} instances"
            )
            known = found.observed >= 0
            observed = (offsets[:-1] + found.observed)[known]
            require(
                bool((cost[observed] == 0).all()), f"group {name}: the observed candidate costs something"
            )

    def counts_its_evidence(self) -> None:
        for name, features in self._features().items():
            found, asked, n_rows = features.found, features.asked, len(features.batch.cost)
            require(
                found.shape == asked.shape == (n_rows,), f"group {name}: evidence is not one number a row"
            )
            require(bool(((found >= 0) & (found <= asked)).all()), f"group {name}: found more than asked")

    def keeps_all_in_its_state(self) -> None:
        fitted = self._fit(self._extractor)
        state = fitted.state()
        require_state(state, "extractor")
        again = self._extractor.from_state({name: array.copy() for name, array in state.items()})
        expected = self._features(fitted)
        for name, features in self._features(again).items():
            probe = np.random.default_rng(0).normal(size=len(features.batch.columns))
            seen, wanted = features.batch.scores(probe), expected[name].batch.scores(probe)
            require_equal(seen, wanted, f"group {name} after from_state")

    def sees_each_instance_by_itself(self) -> None:
        fitted = self._fit(self._extractor)
        view = self._tokenisation(self._texts)
        for name, (features, found) in self._by_group().items():
            group = next(group for group in self._task.groups if group.name == name)
            alone = fitted.transform(view, found.take(np.array([len(found) - 1])), group).batch
            probe = np.random.default_rng(0).normal(size=len(alone.columns))
            last = features.batch.scores(probe)[features.batch.offsets[-2] :]
            require_close(alone.scores(probe), last, f"group {name}: an instance alone", within=1e-5)

    def describes_groups_together_as_alone(self) -> None:
        fitted = self._fit(self._extractor)
        by_group = self._by_group(fitted)
        own = any(found.own is not None for _, found in by_group.values())
        if not by_group or own or not isinstance(fitted, DescribesTogether):
            return
        view = self._tokenisation(self._texts)
        groups = {group.name: group for group in self._task.groups}
        parts = [(found, groups[name]) for name, (_, found) in by_group.items()]
        together = fitted.transform_all(view, parts)
        require_equal(len(together), len(parts), "groups by transform_all")
        for (name, (features, _)), seen in zip(by_group.items(), together, strict=True):
            probe = np.random.default_rng(0).normal(size=len(features.batch.columns))
            scores = features.batch.scores(probe)
            require_equal(seen.batch.scores(probe), scores, f"group {name} by transform_all")
            require_equal(seen.batch.cost, features.batch.cost, f"costs of group {name} by transform_all")
            for kind in ("found", "asked"):
                alone = getattr(features, kind)
                require_equal(getattr(seen, kind), alone, f"{kind} of group {name} by transform_all")

    def takes_no_instances(self) -> None:
        fitted = self._fit(self._extractor)
        view = self._tokenisation([])
        for group in self._task.groups:
            features = fitted.transform(view, self._task.instances(view), group)
            require(len(features.batch.cost) == 0, f"group {group.name}: rows without instances")

    def _fit(self, extractor: FeatureExtractor) -> FeatureExtractor:
        view = self._tokenisation(self._texts)
        return extractor.fit(view, self._task.instances(view), self._task.groups)

    def _features(self, fitted: FeatureExtractor | None = None) -> dict[str, Features]:
        return {name: features for name, (features, _) in self._by_group(fitted).items()}

    def _by_group(self, fitted: FeatureExtractor | None = None) -> dict[str, tuple[Features, Instances]]:
        extractor = self._fit(self._extractor) if fitted is None else fitted
        view = self._tokenisation(self._texts)
        instances = self._task.instances(view)
        require(len(instances) > 0, "the task finds nothing in these texts")
        parts = {}
        for g in np.unique(instances.groups):
            group, part = self._task.groups[g], instances.take(instances.groups == g)
            parts[group.name] = (extractor.transform(view, part, group), part)
        return parts
