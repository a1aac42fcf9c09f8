"""20 Newsgroups: reading its archive, and the hierarchy of the paper's figure 4.

The archive is the version by date, as distributed: headers are kept, except those that the distributors left
out since they name the group (Newsgroups, Xref, Path, Followup-To, Date).
"""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from disambig.api import UserError

ARCHIVE = "labelled/20newsgroups/20news-bydate.tar.xz"
PARTS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
HIERARCHY = {
    "comp": (
        ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
        ("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    ),
    "rec": (("rec.sport.baseball", "rec.sport.hockey"), ("rec.autos", "rec.motorcycles")),
    "sci": (("sci.crypt", "sci.electronics", "sci.med", "sci.space"),),
    "talk": (
        ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
        ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    ),
    "misc": (("misc.forsale",),),
}
"""Top-level categories, their sub-domains ((a) to (h) in the paper), and the groups of these."""

TOP_OF = {group: top for top, subs in HIERARCHY.items() for groups in subs for group in groups}
SUB_OF = {group: (top, n) for top, subs in HIERARCHY.items() for n, sub in enumerate(subs) for group in sub}

LARGEST = 4_000_000
"""Bytes of a document, at most (the largest real one has 160,616)."""
TOTAL = 200_000_000
"""Bytes of all documents, at most (they are 35,855,003)."""
MEMBERS = 100_000
"""Files and directories in the archive, at most (there are 18,888)."""

Documents = dict[tuple[str, str], list[str]]


def read(path: Path) -> Documents:
    """Return the documents of each part (``"train"``, ``"test"``) and group, in the order of their names.

    Nothing is unpacked to the disk. Files elsewhere than in ``20news-bydate-PART/GROUP/`` are passed over.

    Raises
    ------
    UserError
        D728 for an archive that is broken or cannot be read, D729 for a member that is no plain file,
        D730 for more than the corpus can have, D731 where a part lacks a group.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {
        (part, group): [] for part in PARTS.values() for group in TOP_OF
    }
    for name, text in _members(path):
        folder, _, rest = name.removeprefix("./").partition("/")
        group, _, number = rest.partition("/")
        key = PARTS.get(folder, ""), group
        if key in found:
            found[key].append((number, text))
    missing = [f"{group} ({part})" for (part, group), documents in found.items() if not documents]
    if missing:
        raise UserError("D731", path=path, first=missing[0], n=len(missing))
    return {key: [text for _, text in sorted(documents)] for key, documents in found.items()}


def _members(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file; sizes are looked at before anything is read."""
    total = 0
    try:
        with tarfile.open(path, "r|xz") as archive:
            for number, member in enumerate(archive, start=1):
                total += member.size
                _bounded(path, "files", number, MEMBERS)
                _bounded(path, f"bytes in {member.name!r}", member.size, LARGEST)
                _bounded(path, "bytes", total, TOTAL)
                if member.isdir():
                    continue
                file = archive.extractfile(member) if member.isreg() else None
                if file is None:
                    raise UserError("D729", path=path, member=member.name)
                yield member.name, _text(file, member.size)
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as problem:
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        raise UserError("D728", path=path, problem=said) from problem


def _bounded(path: Path, what: str, seen: int, most: int) -> None:
    if seen > most:
        raise UserError("D730", path=path, what=what, seen=seen, most=most)


def _text(file: IO[bytes], size: int) -> str:
    content = file.read()
    if len(content) < size:
        raise EOFError("it ends in the middle of a document")
    return content.decode("latin-1")
