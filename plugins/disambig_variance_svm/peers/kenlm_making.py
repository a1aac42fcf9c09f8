"""A KenLM model of the text that the pack counts: made by its own programs on first use, then cached."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from disambig.api import UserError, Words
from disambig.api.experiments import Progress, cached

from ..plain_text import EVERY_NTH, PACK_COUNTED, PACK_DOMAINS, files, pack_paragraphs
from .kenlm import KenLM

PROGRAMS = ("lmplz", "build_binary")
ORDER = 5
PRUNE = ("0", "0", "0", "1", "1")
"""4- and 5-grams that were seen once are left out."""
_AT_ONCE = 20_000
_LAYOUT = 1


def missing(data: Path) -> str:
    """Say what a model cannot be made without; empty where all is there."""
    if find_spec("kenlm") is None:
        return "its Python module: pip install 'disambig[kenlm]'"
    programs = [name for name in PROGRAMS if shutil.which(name) is None]
    if programs:
        return f"its program{'s' * (len(programs) > 1)} {' and '.join(programs)} on the PATH"
    return next((f"{name} in the data" for name in PACK_COUNTED if not (data / name).exists()), "")


def kenlm_of(data: Path, *, progress: Progress) -> KenLM:
    """Return a 5-gram model of the text that the pack counts, made where it is not in the cache.

    Raises
    ------
    UserError
        D746 where a program fails, D722 where the cache cannot be written to; those of `text_lines`.
    """
    sources = files(data, PACK_COUNTED)

    def paragraphs() -> Iterator[str]:
        for number, domain in enumerate(PACK_DOMAINS):
            progress("making KenLM's model", number, len(PACK_DOMAINS))
            yield from pack_paragraphs(data, domain)

    about = {
        "order": ORDER,
        "prune": PRUNE,
        "tokenisation": Words.name,
        "layout": _LAYOUT,
        "every": dict(EVERY_NTH),
    }
    path = cached("kenlm", ".bin", sources=sources, about=about, make=lambda path: make(paragraphs(), path))
    return KenLM(path=path)


def make(paragraphs: Iterable[str], path: Path) -> None:
    """Make a model of paragraphs: ``lmplz`` and ``build_binary`` are run.

    Raises
    ------
    UserError
        D746 where one of them fails.
    """
    with TemporaryDirectory(dir=path.parent) as folder, open(Path(folder, "said"), "w+") as said:
        arpa = Path(folder, "model.arpa")
        orders = ["-o", str(ORDER), "--prune", *PRUNE, "--discount_fallback"]
        command = ["lmplz", *orders, "-S", "30%", "-T", folder, "--arpa", str(arpa)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=said, stdout=said, text=True
        ) as counting:
            assert counting.stdin is not None
            with suppress(BrokenPipeError):  # it has failed, and says why
                _write(paragraphs, counting.stdin)
        _check("lmplz", counting.returncode, said)
        command = ["build_binary", "trie", str(arpa), str(path)]
        _check("build_binary", subprocess.run(command, stderr=said, stdout=said).returncode, said)


def sentences(texts: list[str]) -> Iterator[str]:
    """Yield the sentences of texts in the words of `disambig.words.v1`, boundary words left out."""
    view = Words()(texts)
    words = KenLM(path="").words(view)
    for first, stop in pairwise(view.sentences.tolist()):
        yield " ".join(words[first + 1 : stop - 1])


def _write(paragraphs: Iterable[str], out: IO[str]) -> None:
    held: list[str] = []
    for paragraph in paragraphs:
        held.append(paragraph)
        if len(held) == _AT_ONCE:
            out.writelines(f"{sentence}\n" for sentence in sentences(held))
            held = []
    out.writelines(f"{sentence}\n" for sentence in sentences(held))


def _check(program: str, status: int, said: IO[str]) -> None:
    if status:
        said.seek(0)
        lines = said.read().split("\n")
        problem = next((line for line in lines[::-1] if line.strip()), "it said nothing")
        raise UserError("D746", program=program, status=status, problem=problem.strip())
