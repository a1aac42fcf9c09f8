"""The parts that a training uses: the objects of a resolved config, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from disambig.config import resolve
from disambig.decision import check_decision_rule, check_error_corpus, check_fit, default_rule_config
from disambig.models import NoPreference
from disambig.text import Tokenisation, check_tokens
from disambig.types import (
    Decides,
    DecisionRule,
    FeatureExtractor,
    Learner,
    Task,
    check_declarations,
    decides,
)


@dataclass(frozen=True, eq=False)
class ResolvedConfig:
    """The objects that a config describes; without a `judge`, the task's default decision rule is used."""

    task: Task
    tokenisation: Tokenisation
    extractors: Mapping[str, FeatureExtractor]
    learner: Learner
    baseline: Learner
    judge: DecisionRule | None = None

    @classmethod
    def from_parts(cls, parts: Parts) -> ResolvedConfig:
        """Return the parts that `disambig.config.resolve` built; a `ResolvedConfig` is returned unchanged.

        The sections ``[model]`` and ``[training]`` of a config, which describe no part, are ignored.

        Raises
        ------
        TypeError
            If a part is missing or unknown.
        UserError
            D414 if the task, the tokenisation or the decision rule declares something that its contract
            excludes.
        """
        if isinstance(parts, ResolvedConfig):
            return parts
        resolved = cls(**{name: part for name, part in parts.items() if name not in ("model", "training")})
        check_declarations(resolved.task)
        check_tokens(resolved.tokenisation)
        if resolved.judge is not None:
            check_fit(resolved.judge)
        return resolved

    @cached_property
    def decides(self) -> Decides:
        """What the task decides."""
        return decides(self.task)

    @cached_property
    def has_baseline(self) -> bool:
        """Whether the baseline prefers some candidates to others."""
        return not isinstance(self.baseline, NoPreference)

    def decision_rule(self, settings: Mapping[str, Any]) -> DecisionRule:
        """Return the decision rule, by default that of the task, with the settings that apply to it.

        These are the fields of its dataclass, such as ``flags_per_1000``; other settings are ignored.

        Raises
        ------
        UserError
            D422 if the decision rule is for other tasks.
        """
        judge: Any = self.judge or resolve({"judge": default_rule_config(self.task)})["judge"]
        check_decision_rule(judge, self.task)
        names = {field.name for field in fields(judge)}
        accepted = {name: value for name, value in settings.items() if name in names and value is not None}
        rule: DecisionRule = replace(judge, **accepted)
        return rule

    def with_error_rule(self, config: dict[str, Any]) -> tuple[ResolvedConfig, dict[str, Any]]:
        """Return parts and config; if they have no decision rule, add one that learns from mistakes.

        Raises
        ------
        UserError
            D427 for a task that does not correct words, D429 for a decision rule that does not learn from
            mistakes.
        """
        if self.judge is not None:
            check_error_corpus(self.judge, self.task)
            return self, config
        section = default_rule_config(self.task, mistakes=True)
        parts = replace(self, **resolve({"judge": section}))
        return parts.with_error_rule({**config, "judge": section})


Parts = Mapping[str, Any] | ResolvedConfig
"""What the public functions of training accept: the dict that `resolve` returns, or a `ResolvedConfig`."""
