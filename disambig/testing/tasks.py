"""The contract of a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disambig.data.instances import Instances
from disambig.testing.checks import Check, checks_of, require, require_equal
from disambig.text.hashing import hash_words
from disambig.text.view import Tokenisation, TokenView
from disambig.types import Task


def check_task(task: Task, texts: Sequence[str], tokenisation: Tokenisation | None = None) -> list[Check]:
    """Return the checks of a task.

    Parameters
    ----------
    task : Task
    texts : sequence of str
        Documents in which the task finds something to decide.
    tokenisation : Tokenisation, optional
        By default ``disambig.words.v1``.
    """
    if tokenisation is None:
        from disambig.text.words import Words

        tokenisation = Words()
    return checks_of(_Checks(task, list(texts), tokenisation))


@dataclass
class _Checks:
    _task: Task
    _texts: list[str]
    _tokenisation: Tokenisation

    def has_name_and_language(self) -> None:
        name, language = self._task.name, self._task.language
        require(isinstance(name, str) and name.isidentifier(), f"name {name!r} is no identifier")
        require(isinstance(language, str), f"language is {language!r}, not a code such as 'en' or ''")

    def has_groups_of_candidates(self) -> None:
        groups = self._task.groups
        require(isinstance(groups, tuple) and len(groups) > 0, "groups is no tuple, or empty")
        names = [group.name for group in groups]
        require(len(set(names)) == len(names), f"two groups share a name: {sorted(names)}")
        for group in groups:
            known = set(group.candidates)
            require(
                len(known) == len(group.candidates) > 1, f"{group.name}: fewer than two different candidates"
            )
            strange = [name for variants in group.variants for name in variants if name not in known]
            require(not strange, f"{group.name}: variants {strange} are no candidates")

    def finds_instances(self) -> None:
        found = self._find(self._texts)[1]
        require(len(found) > 0, "no instance in these texts: give texts with something to decide")

    def keeps_text_order(self) -> None:
        found = self._find(self._texts)[1]
        require(bool((np.diff(found.positions) >= 0).all()), f"positions fall: {found.positions}")

    def points_at_groups_and_candidates(self) -> None:
        found, groups = self._find(self._texts)[1], self._task.groups
        require(
            bool(((found.groups >= 0) & (found.groups < len(groups))).all()), "a group index is out of range"
        )
        sizes = np.array([len(group.candidates) for group in groups])[found.groups]
        require(bool(((found.observed >= -1) & (found.observed < sizes)).all()), "observed is out of range")

    def stays_inside_sentences(self) -> None:
        view, found = self._find(self._texts)
        require(bool((found.lengths > 0).all()), "an instance has no token")
        documents = getattr(self._task, "instances_are", "places") == "documents"
        for position, length in zip(found.positions, found.lengths, strict=True):
            inside = np.arange(position, position + length)
            where = inside[[0, -1]] if documents else inside  # a document has sentences
            require(
                bool((view.ends[where] > view.starts[where]).all()), f"token {position} is a sentence's end"
            )

    def observes_what_stands_there(self) -> None:
        view, found = self._find(self._texts)
        for i in np.flatnonzero(found.observed >= 0):
            candidate = self._task.groups[found.groups[i]].candidates[found.observed[i]]
            seen = view.hashes[found.positions[i] : found.positions[i] + found.lengths[i]]
            require_equal(seen, hash_words(candidate.split(" ")), f"words observed as {candidate!r}")

    def takes_texts_one_by_one(self) -> None:
        together = self._find(self._texts)
        starts = together[0].documents
        apart = [self._find([text])[1] for text in self._texts]
        shifted = [found.positions + starts[i] for i, found in enumerate(apart)]
        require_equal(np.concatenate(shifted), together[1].positions, "positions of texts taken one by one")
        groups = np.concatenate([found.groups for found in apart])
        require_equal(groups, together[1].groups, "groups of texts taken one by one")

    def finds_the_same_twice(self) -> None:
        first, second = self._find(self._texts)[1], self._find(self._texts)[1]
        require_equal(second.positions, first.positions, "positions the second time")
        require_equal(second.observed, first.observed, "candidates the second time")

    def takes_texts_without_words(self) -> None:
        for texts in ([], [""], [" \n"], ["", ""]):
            require(len(self._find(texts)[1]) == 0, f"instances in {texts!r}")

    def _find(self, texts: list[str]) -> tuple[TokenView, Instances]:
        view = self._tokenisation(texts)
        return view, self._task.instances(view)
