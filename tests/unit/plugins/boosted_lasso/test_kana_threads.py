"""One converter may be asked by several threads at once, and be copied after it was asked."""

from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

from disambig_boosted_lasso.kana import _search_kernels as nbest_kernels
from kana_words import converter

LINES = ["わたしははしをわたる。" * 3, "とりはにわでなく。", "2008ねんにはしができる。", "ぬゎABC"]


def said(lists):
    return [lists.texts, lists.scores.tolist(), lists.offsets.tolist()]


def test_threads_share_no_memory_that_kernels_write_to(monkeypatch):
    convert, met, used = nbest_kernels.find_conversions, threading.Barrier(2), []

    def waiting(*given):
        met.wait(60)  # both are at work
        used.append(given[7:9])
        return convert(*given)

    made = converter()
    made.best(LINES)
    monkeypatch.setattr(nbest_kernels, "find_conversions", waiting)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda line: made.nbest([line], 5), LINES[:2]))
    monkeypatch.undo()
    (one, searched), (other, searched_too) = used
    pairs = [*zip(one, other, strict=True), *zip(searched, searched_too, strict=True)]
    assert not any(a is b for a, b in pairs)
    assert [said(each) for each in found] == [said(made.nbest([line], 5)) for line in LINES[:2]]


def test_threads_find_what_one_alone_finds():
    made = converter()
    wanted = [said(made.nbest([line] * 5, 20)) for line in LINES]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert [said(each) for each in pool.map(lambda line: made.nbest([line] * 5, 20), LINES)] == wanted


def test_a_copy_of_one_that_was_asked_is_its_own():
    made = converter()
    wanted = said(made.nbest(LINES, 20))
    assert said(copy.deepcopy(made).nbest(LINES, 20)) == wanted == said(copy.copy(made).nbest(LINES, 20))
