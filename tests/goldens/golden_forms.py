"""The form of goldens: without messages for people, with 6 digits of floats, names for folders."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from commands import here

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OUTPUTS, MODELS = HERE / "outputs", HERE / "models"
PACKS = ROOT / "corpora"
PARSER = PACKS / "disambig_en_parser" / "models" / "parser"
CONVERTER = PACKS / "disambig_ja" / "models" / "converter"
SENSES = PACKS / "disambig_en_sense" / "models" / "sense"
PACK_MODELS = [
    *sorted((PACKS / "disambig_en" / "models").iterdir()),
    PACKS / "disambig_en_tagger" / "models" / "tag",
    SENSES,
]
PROSE = {
    "message",
    "help",
    "shortDescription",
    "fullDescription",
    "description",
    "markdown",
    "shortMessage",
    "title",
}
"""Keys of JSON whose values people read."""
HIDDEN = "..."

Files = dict[str, str]
CASES: dict[str, tuple[Callable[[Path], Files], bool]] = {}
"""The cases by their names, and whether each is slow."""


def golden(name: str, slow: bool = False) -> Callable[[Callable[[Path], Files]], Callable[[Path], Files]]:
    """Register a case: a function from a folder with the inputs to files, by name."""

    def register(case: Callable[[Path], Files]) -> Callable[[Path], Files]:
        CASES[name] = (case, slow)
        return case

    return register


def run(home: Path, *arguments: object, given: str = "", status: tuple[int, ...] = (0, 1)) -> str:
    """Run a command and return its output; raise where its exit status is another."""
    done = here(*arguments, folder=home, given=given)
    if done.returncode not in status:
        raise RuntimeError(f"disambig {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}")
    return done.stdout


def plain(value: Any) -> Any:
    """Return JSON with 6 digits of floats, without messages and values that differ between releases."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    rows = {}
    for key, item in value.items():
        prose = key in PROSE or (key == "text" and "share" in value)
        release = key == "version" and item not in ("2.1.0",)
        rows[key] = HIDDEN if prose or release else plain(item)
    return rows


def as_json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, default=str) + "\n"


def as_lines(values: Any) -> str:
    return "".join(json.dumps(plain(value), ensure_ascii=False, default=str) + "\n" for value in values)


def figures(text: str) -> str:
    """Return the numbers of each line of a text; lines without numbers are omitted."""
    rows = (re.findall(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?%?", line) for line in text.splitlines())
    return "".join(" ".join(row) + "\n" for row in rows if row)


class _Page(HTMLParser):
    """Count the tags of a page, and collect the numbers outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.text: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.inside = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.text.append(data)


def page(text: str) -> str:
    """Return the tags of a page with how often they occur, and its numbers, sorted."""
    parsed = _Page()
    parsed.feed(text)
    numbers = sorted(re.findall(r"\d+(?:\.\d+)?", " ".join(parsed.text)), key=lambda n: (float(n), n))
    tags = "".join(f"{tag} {n}\n" for tag, n in sorted(parsed.tags.items()))
    return tags + " ".join(numbers) + "\n"


def doc_rows(doc: Any) -> dict[str, Any]:
    """Return spans, labels, records, categories, tags and parses of a document."""
    spans = {
        key: [
            [s.start_char, s.end_char, s.label_, s.id_, s._.disambig if s.has_extension("disambig") else None]
            for s in group
        ]
        for key, group in doc.spans.items()
    }
    parses = [s._.parse_string for s in doc.sents] if doc.has_extension("parse") else []
    tags = " ".join(token.tag_ for token in doc).strip()
    rows = {"spans": spans, "cats": dict(doc.cats), "tags": tags, "parses": parses}
    if doc.has_annotation("DEP"):
        rows["heads"] = " ".join(f"{token.dep_}:{token.head.i}" for token in doc)
    return rows


def layout(model: Path) -> str:
    """Return the names of a saved model's files, with the keys of JSON and the arrays of archives."""
    import numpy as np

    lines = []
    for path in sorted(model.rglob("*")):
        if path.suffix == ".json":
            keys = sorted(json.loads(path.read_text(encoding="utf8")))
            lines.append(f"{path.relative_to(model)}: {' '.join(keys)}")
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                shapes = [f"{key}:{arrays[key].dtype}{list(arrays[key].shape)}" for key in sorted(arrays)]
            lines.append(f"{path.relative_to(model)}: {' '.join(shapes)}")
        elif path.is_file():
            lines.append(str(path.relative_to(model)))
    return "\n".join(lines) + "\n"
