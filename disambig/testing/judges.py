"""The contract of a judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disambig.errors import UserError
from disambig.testing.checks import Check, checks_of, require, require_equal, require_state
from disambig.testing.material import material as made
from disambig.testing.material import taken
from disambig.types import Flags, Judge, Judged, JudgesTogether, KeepsSilent, KnowsGains, Material, Scored

RATES = (0.0, 0.1, 1.0, 10.0, 1000.0, float("inf"))
_COLUMNS = ("chosen", "margins", "probabilities", "flagged", "said")


def check_judge(judge: Judge, material: Material | None = None) -> list[Check]:
    """Return the checks of a judge.

    Parameters
    ----------
    judge : Judge
        As a config describes it, not fitted yet.
    material : Material, optional
        Examples of a task that the judge is for; by default `disambig.testing.material`: a few of words.
        Its `rng` must draw the same numbers each time.
    """
    return checks_of(_Checks(judge, made() if material is None else material))


@dataclass
class _Checks:
    _judge: Judge
    _material: Material

    def becomes_a_judge_by_fitting(self) -> None:
        before = self._judge.state()
        fitted = self._fit()
        for name in ("fit", "judge", "probabilities", "state", "from_state"):
            require(callable(getattr(fitted, name, None)), f"what fit returned has no {name}")
        for name, array in self._judge.state().items():
            require_equal(array, before[name], f"{name} of the judge that was fitted: fit changed it")

    def is_repeatable(self) -> None:
        first, second = self._fit(), self._fit()
        for name, array in first.state().items():
            require_equal(second.state()[name], array, f"{name} of a second fit")
        for scored in self._parts():
            self._same(first.judge(scored), first.judge(scored), "judged again")

    def gives_an_entry_an_instance(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            n, judged = len(scored.observed), fitted.judge(scored)
            for name, kinds in zip(_COLUMNS, ("iu", "f", "f", "b", "b"), strict=True):
                column = np.asarray(getattr(judged, name))
                require(column.shape == (n,), f"{name} of shape {column.shape} for {n} instances")
                require(column.dtype.kind in kinds, f"{name} is of {column.dtype}")

    def chooses_inside_the_list(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            chosen, sizes = fitted.judge(scored).chosen, np.diff(scored.offsets)
            inside = (chosen >= 0) & (chosen < sizes)
            require(bool(inside.all()), f"chosen {chosen[~inside]} of lists of {sizes[~inside]} candidates")

    def gives_numbers_that_mean_something(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            judged = fitted.judge(scored)
            require(bool((judged.margins >= 0).all()), "a margin is negative, or no number")
            sure = (judged.probabilities >= 0) & (judged.probabilities <= 1)
            require(bool(sure.all()), f"probabilities {judged.probabilities[~sure]}")

    def gives_candidates_probabilities_or_none(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            found = fitted.probabilities(scored)
            if found is None or not len(scored.observed):
                continue
            require(
                found.shape == scored.scores.shape,
                f"probabilities of shape {found.shape} for {len(scored.scores)} candidates",
            )
            require(bool((found >= 0).all()), "a candidate's probability is negative, or no number")
            sums = np.add.reduceat(found, scored.offsets[:-1])
            require(bool(np.allclose(sums, 1.0, atol=1e-9)), f"probabilities of an instance sum to {sums}")

    def keeps_all_in_its_state(self) -> None:
        fitted, groups = self._fit(), self._material.task.groups
        state = fitted.state()
        require_state(state, "judge")
        again = self._judge.from_state({name: array.copy() for name, array in state.items()}, groups)
        for scored in self._parts():
            self._same(again.judge(scored), fitted.judge(scored), "after from_state")
            first, second = fitted.probabilities(scored), again.probabilities(scored)
            require((first is None) == (second is None), "after from_state there are other probabilities")
            if first is not None:
                require_equal(second, first, "probabilities of candidates after from_state")

    def judges_each_instance_by_itself(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            together, n = fitted.judge(scored), len(scored.observed)
            for i in range(n):
                alone = fitted.judge(taken(scored, np.array([i])))
                self._near(fitted, alone, _at(together, slice(i, i + 1)), f"of instance {i}")

    def judges_groups_together_as_one_by_one(self) -> None:
        fitted, parts = self._fit(), self._parts()
        if isinstance(fitted, JudgesTogether) and parts:
            found = fitted.judge_all(parts)
            require(len(found) == len(parts), f"judge_all gave {len(found)} answers for {len(parts)} parts")
            for scored, judged in zip(parts, found, strict=True):
                self._near(
                    fitted, fitted.judge(scored), judged, f"of {scored.group.name}, with other groups,"
                )

    def leaves_scores_alone(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            given = replace(scored, scores=scored.scores.copy())
            fitted.judge(given)
            fitted.probabilities(given)
            require_equal(given.scores, scored.scores, "scores after judging")

    def takes_no_instances(self) -> None:
        fitted = self._fit()
        for number in range(len(self._material.task.groups)):
            nothing = taken(self._material.scored(number), np.empty(0, np.int64))
            judged = fitted.judge(nothing)
            for name in _COLUMNS:
                require(len(getattr(judged, name)) == 0, f"{name} of no instances is not empty")

    def flags_only_what_it_may(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            if not isinstance(fitted, Flags):
                for rate in (None, *RATES):
                    judged = fitted.judge(scored, flags_per_1000=rate)
                    require(not judged.flagged.any(), "it flags, but is no Flags: it has no flags_per_1000")
                continue
            require(fitted.flags_per_1000 >= 0, f"flags_per_1000 is {fitted.flags_per_1000}")
            seen = np.zeros(len(scored.observed), bool)
            for rate in RATES:
                judged, limit = fitted.judge(scored, flags_per_1000=rate), fitted.limit(rate)
                require(rate > 0 or not judged.flagged.any(), "it flags at a rate of 0")
                require(bool((judged.flagged | ~seen).all()), f"it flags less at {rate} than at a lower rate")
                seen = judged.flagged
                sure = judged.probabilities[seen]
                require(bool((sure >= limit - 1e-9).all()), f"it flags at {sure}, its limit is {limit}")
                right = judged.chosen[seen] != scored.observed[seen]
                require(bool(right.all()), "it flags the word that it chooses itself")

    def refuses_an_impossible_rate(self) -> None:
        fitted = self._fit()
        if not isinstance(fitted, Flags):
            return
        for rate in (-1.0, float("nan")):
            try:
                fitted.limit(rate)
            except UserError:
                continue
            require(False, f"a rate of {rate} is no UserError")

    def knows_what_it_gains(self) -> None:
        fitted = self._fit()
        if not isinstance(fitted, KnowsGains):
            return
        known, again = fitted.gains(), fitted.from_state(fitted.state(), self._material.task.groups)
        kept = again.gains() if isinstance(again, KnowsGains) else None
        require((known is None) == (kept is None), "from_state forgets or invents gains")
        for rates, gains in filter(None, (known, kept)):
            require(rates.shape == gains.shape and rates.ndim == 1, "rates and gains have other shapes")
            require(bool((rates > 0).all() and (np.diff(rates) > 0).all()), f"rates do not rise: {rates}")
            good = (gains >= 0).all() and (gains <= 1).all() and (np.diff(gains) >= 0).all()
            require(bool(good), f"gains are no shares that rise: {gains}")

    def says_nothing_below_its_margin(self) -> None:
        fitted = self._fit()
        if not isinstance(fitted, KeepsSilent):
            return
        groups = self._material.task.groups
        for scored in self._parts():
            plain = fitted.with_least_margin(0.0).judge(scored)
            require(bool(plain.said.all()), "with a least margin of 0 something is left unsaid")
            margins = plain.margins.astype(np.float32)  # as records keep them
            for least in (float(np.median(margins)), float(margins.max()) + 1.0):
                silent = fitted.with_least_margin(least)
                require(isinstance(silent, KeepsSilent), "with_least_margin returned no KeepsSilent")
                for judge in (silent, silent.from_state(silent.state(), groups)):
                    require_equal(
                        judge.judge(scored).said, margins >= least, f"said at a least margin of {least}"
                    )

    def _fit(self) -> Judge:
        return self._judge.fit(self._material)

    def _parts(self) -> list[Scored]:
        parts = [self._material.scored(number) for number in range(len(self._material.task.groups))]
        return [replace(part, scores=part.scores.copy()) for part in parts if len(part.observed)]

    def _near(self, fitted: Judge, alone: Judged, together: Judged, what: str) -> None:
        """Refuse what is judged otherwise together than alone, but for rounding."""
        sure = np.asarray(together.probabilities)
        for name in _COLUMNS:
            one, other = np.asarray(getattr(alone, name)), np.asarray(getattr(together, name))
            same = np.isclose(one, other, rtol=1e-9, atol=1e-12)
            if name == "flagged" and isinstance(fitted, Flags):  # just at the limit, rounding decides
                same = same | np.isclose(sure, fitted.limit(), rtol=1e-9)
            require(bool(same.all()), f"{name} {what} is {other}, judged alone {one}")

    def _same(self, seen: Judged, expected: Judged, what: str) -> None:
        for name in _COLUMNS:
            require_equal(getattr(seen, name), getattr(expected, name), f"{name} {what}")


def _at(judged: Judged, rows: slice) -> Judged:
    return Judged(*(getattr(judged, name)[rows] for name in _COLUMNS))
