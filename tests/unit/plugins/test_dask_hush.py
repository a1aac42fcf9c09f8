"""While a job is on a cluster, Dask's loggers say nothing."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

pytest.importorskip("distributed")

from disambig_dask import quiet_logging

FIRST_USE = """
import logging
from disambig_dask.session import quiet_logging
with quiet_logging():
    import distributed.client, distributed.gc
    for name in ("distributed", "distributed.client", "distributed.gc", "distributed.core", "asyncio"):
        logging.getLogger(name).critical("said by %s", name)
logging.getLogger("distributed.client").warning("afterwards")
"""


def test_dask_is_imported_while_it_is_quiet():
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "said by" not in done.stderr and "afterwards" in done.stderr


def test_blocks_that_overlap():
    log = logging.getLogger("distributed.client")
    before = log.level
    first, second = quiet_logging(), quiet_logging()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not log.isEnabledFor(logging.CRITICAL)
    second.__exit__(None, None, None)
    assert log.level == before and log.isEnabledFor(logging.CRITICAL)
