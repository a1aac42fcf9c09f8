"""Decisions as CoNLL-U: in the column MISC of the token where each begins.

``Disambig=preposition:during:from:0.93:flag`` says: the task, what stands there, what has the best
score, the probability that what stands there is wrong (of a label: that it is right), and whether
it is flagged. Several are separated by ``;``. What has a meaning in MISC or here is written ``%XX``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from disambig.formats.conllu.reader import parse
from disambig.formats.conllu.sentences import COLUMNS, MISC
from disambig.formats.conllu.tokens import Tokens, tokenised
from disambig.formats.documents import Kind
from disambig.formats.results import Annotated, records

KEY = "Disambig"
_SAFE = "'\N{RIGHT SINGLE QUOTATION MARK}-_.,!?/$&+*()"


@dataclass(frozen=True, slots=True)
class ConlluFormat:
    """CoNLL-U as it came, with decisions in MISC; other texts as the tokens of spaCy's blank tokeniser."""

    language: str = "en"
    name: str = "conllu"
    suffix: str = ".conllu"
    mirrors: tuple[Kind, ...] = ("conllu",)

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents, each of which ends with a blank line if another follows."""
        kept = [result for result in results if not result.document.blank]
        foreign = [result.document for result in kept if result.document.kind != "conllu"]
        tokens = iter(tokenised(foreign, self.language) if foreign else ())
        return b"".join(
            _apart(
                [
                    _annotated(result) if result.document.kind == "conllu" else _written(result, next(tokens))
                    for result in kept
                ]
            )
        )

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in _apart(chunks):
            write(chunk)


def _apart(parts: Iterable[bytes]) -> Iterable[bytes]:
    """Yield the parts with a line end or two between them where the one before needs it."""
    ended, before = True, b""
    for part in parts:
        if not part:
            continue
        if not ended:
            yield b"\n" if before.endswith(b"\n") else b"\n\n"
        yield part
        ended = part.endswith((b"\n\n", b"\n\r\n"))
        before = part


def _annotated(result: Annotated) -> bytes:
    """Return the document's own bytes with decisions added; all else stays as it was."""
    parsed = parse(result.document.source.decode(), result.document.path, result.document.line)
    lines = result.document.source.decode().split("\n")
    for index, values in _by_token(result, parsed.starts).items():
        line = parsed.lines[index]
        body = lines[line].removesuffix("\r")
        columns = body.split("\t")
        columns[MISC] = _with_key(columns[MISC], values)
        lines[line] = "\t".join(columns) + lines[line][len(body) :]
    return "\n".join(lines).encode()


def _written(result: Annotated, tokens: Tokens) -> bytes:
    """Return a document that was no CoNLL-U."""
    marks = _by_token(result, tokens.starts)
    out = [f"# newdoc id = {_on_one_line(result.document.id)}"]
    text = result.document.text
    for number, (first, last) in enumerate(tokens.sentences, 1):
        if number in tokens.paragraphs:
            out.append("# newpar")
        out.append(f"# sent_id = {number}")
        words = [_on_one_line(text[tokens.starts[i] : tokens.ends[i]]) or "_" for i in range(first, last)]
        joined = [tokens.ends[i] == tokens.starts[i + 1] for i in range(first, last - 1)] + [False]
        out.append(
            "# text = " + "".join(w + " " * (not j) for w, j in zip(words, joined, strict=True)).strip()
        )
        for i, (word, no_space) in enumerate(zip(words, joined, strict=True)):
            misc = "SpaceAfter=No" if no_space else "_"
            if first + i in marks:
                misc = _with_key(misc, marks[first + i])
            out.append("\t".join([str(i + 1), word, *["_"] * (COLUMNS - 3), misc]))
        out.append("")
    return ("\n".join(out) + "\n").encode(errors="replace")


def _by_token(result: Annotated, starts: Sequence[int]) -> dict[int, list[str]]:
    """Return the values to write at each token that has any."""
    found: dict[int, list[str]] = {}
    for record in records(result):
        index = max(bisect_right(starts, record["start"]) - 1, 0)
        if starts:
            found.setdefault(index, []).append(_value(record))
    return found


def _value(record: dict[str, Any]) -> str:
    fields = [record["task"], record["observed"], record["chosen"], f"{record['probability']:.2f}"]
    return ":".join([escaped(field) for field in fields] + ["flag"] * record["flagged"])


def escaped(text: str) -> str:
    """Return `text` with spaces, ``| = : ; %`` and controls as ``%XX``; letters stay."""
    return "".join(
        character
        if character.isalnum() or character in _SAFE
        else quote(character, safe="", errors="replace")
        for character in text
    )


def _with_key(misc: str, values: Sequence[str]) -> str:
    """Add the key to a MISC column, in the place of an older one."""
    kept = [part for part in misc.split("|") if part not in ("", "_") and not part.startswith(f"{KEY}=")]
    return "|".join([*kept, f"{KEY}={';'.join(values)}"])


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
