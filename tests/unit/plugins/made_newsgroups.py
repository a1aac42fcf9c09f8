"""A made archive in the layout of 20 Newsgroups: few short documents, their words made up."""

from __future__ import annotations

import io
import tarfile

import numpy as np
from disambig_random_subspace.experiments import PARTS, SUB_OF, TOP_OF


def text(rng, group):
    """Return a document whose words tell its category well, its sub-domain and its group."""
    top, sub = SUB_OF[group]
    words = [f"{top}word{n}" for n in rng.integers(0, 8, 5)]
    words += [f"{top}sub{sub}word{n}" for n in rng.integers(0, 5, 5)]
    words += [f"{group.replace('.', '')}{n}" for n in rng.integers(0, 4, 4)]
    words += [f"common{n}" for n in rng.integers(0, 20, 6)]
    return "Subject: caf\xe9\n\n" + " ".join(rng.permutation(words)) + "\n"


def members(documents=6, seed=0):
    """Return name and content of every file."""
    rng = np.random.default_rng(seed)
    return {
        f"{folder}/{group}/{number}": text(rng, group).encode("latin-1")
        for folder in PARTS
        for group in TOP_OF
        for number in range(documents)
    }


def pack(path, contents, extra=()):
    """Write a tar.xz of files, and of further members as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member)
