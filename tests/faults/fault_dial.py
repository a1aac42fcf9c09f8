"""The one dial: how much of the suite is done, and by which seed.

The environment variable ``DISAMBIG_FAULTS`` is ``short`` (as if not given), ``whole``, or a share of the
whole such as 0.1. ``DISAMBIG_FAULTS_SEED`` repeats what a failed test says it was.
"""

from __future__ import annotations

import os
import random
import zlib

DIAL = os.environ.get("DISAMBIG_FAULTS", "short")
SEED = int(os.environ.get("DISAMBIG_FAULTS_SEED") or random.SystemRandom().randrange(1 << 32))


def amount(short: int, whole: int) -> int:
    """Return how many of something there are: documents, kills, seconds."""
    if DIAL == "short":
        return short
    return whole if DIAL == "whole" else max(short, round(whole * float(DIAL)))


def chance(*what: object) -> random.Random:
    """Return the random numbers of one trial, the same whichever trials were before it."""
    return random.Random(zlib.crc32(repr((SEED, what)).encode()))
