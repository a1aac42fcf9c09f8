from __future__ import annotations

import logging
import threading

from disambig.lsp import ThreadQueue


def test_work_is_done_in_order_whatever_fails_until_the_end(caplog):
    worker, done, ended = ThreadQueue(), [], threading.Event()
    with caplog.at_level(logging.ERROR):
        for work in (lambda: done.append(1), lambda: 1 // 0, lambda: done.append(2), ended.set):
            worker.submit(work)
        assert ended.wait(10)
    assert done == [1, 2]
    assert "failed" in caplog.text
    (thread,) = [each for each in threading.enumerate() if each.name == "disambig-lsp"]
    worker.end()
    thread.join(10)
    assert not thread.is_alive()
