"""The items of a run, with workers that are told here what becomes of each attempt."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from disambig.jobs import ItemQueue, PendingItem, ignore_progress

TRIES = 3


@dataclass
class MadeWorkers:
    """Workers that end attempts in any order; `fails` has the number of attempts that fail, by item."""

    queue: ItemQueue
    workers: int
    fails: dict[int, int]
    numbers: random.Random
    held: list[PendingItem] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    most_ahead: int = 0

    def n_workers(self) -> int:
        return self.workers

    def dispatch(self) -> None:
        while self.queue.waiting and len(self.held) < self.workers:
            self.held.append(self.queue.waiting.popleft())
            self.sent.append(self.held[-1].index)

    def busy(self) -> bool:
        return bool(self.held)

    def receive(self):
        task = self.held.pop(self.numbers.randrange(len(self.held)))
        if task.failed < self.fails.get(task.index, 0):
            outcome = self.queue.fail(task, "it ended its worker")
            return [] if outcome is None else [outcome]
        return [task.outcome(task.item * 2)]


def run(items: int, workers: int, ordered: bool, fails: dict[int, int], seed: int):
    queue = ItemQueue(iter(range(items)), TRIES, ordered, ignore_progress)
    made = MadeWorkers(queue, workers, fails, random.Random(seed))
    return list(queue.outcomes(made)), made


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_item_has_one_outcome_in_order_where_that_is_asked_for(ordered, workers):
    for seed in range(20):
        numbers = random.Random(seed)
        fails = {index: numbers.randrange(1, TRIES + 1) for index in numbers.sample(range(40), 8)}
        outcomes, _ = run(40, workers, ordered, fails, seed)
        indices = [outcome.index for outcome in outcomes]
        assert sorted(indices) == list(range(40))
        assert not ordered or indices == list(range(40))
        left = {outcome.index for outcome in outcomes if outcome.problem is not None}
        assert left == {index for index, times in fails.items() if times >= TRIES}
        assert all(outcome.result == outcome.item * 2 for outcome in outcomes if outcome.index not in left)


def test_an_item_is_sent_as_often_as_allowed_and_is_next_after_a_failure():
    outcomes, made = run(4, 1, False, {1: TRIES}, 0)
    assert made.sent == [0, 1, 1, 1, 2, 3]
    assert [outcome.problem for outcome in outcomes] == [None, "it ended its worker", None, None]


def test_another_attempt_in_progress_keeps_an_item_from_waiting_again():
    queue = ItemQueue(iter("a"), TRIES, False, ignore_progress)
    queue.fill(1)
    task = queue.waiting.popleft()
    task.running = 1
    assert queue.fail(task, "lost") is None
    assert not queue.waiting
    task.running = 0
    assert queue.fail(task, "lost") is None
    assert list(queue.waiting) == [task]
    assert queue.fail(task, "lost").problem == "lost"


def test_few_items_are_taken_while_the_first_has_no_outcome():
    taken = []

    def items():
        for item in range(1000):
            taken.append(item)
            yield item

    class FirstIsSlow(MadeWorkers):
        def receive(self):
            return [self.held.pop().outcome(None)]  # the first one only if no other is left

    queue = ItemQueue(items(), TRIES, True, ignore_progress)
    outcomes = queue.outcomes(FirstIsSlow(queue, 2, {}, random.Random(0)))
    assert next(outcomes).index == 0
    assert len(taken) == 2 * 4  # four per worker
    assert [outcome.index for outcome in outcomes] == list(range(1, 1000))
