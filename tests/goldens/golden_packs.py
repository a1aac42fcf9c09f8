"""Decisions of the models in the packs on sample texts: rounded for goldens, and exact digests."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path

from golden_forms import PACK_MODELS, PACKS, ROOT, Files, as_lines, golden, run


def sample_texts() -> dict[str, str]:
    """Return the texts on which the packs are compared, about 5,000 words."""
    paths = sorted((PACKS / "samples").glob("*.txt")) + sorted((ROOT / "tests" / "texts").glob("clean-*.txt"))
    return {path.name: path.read_text(encoding="utf8") for path in paths}


def bits() -> str:
    """Return digests of all arrays of the decisions of each model on the sample texts."""
    import numpy as np

    from disambig.api import annotate, load_model

    texts = list(sample_texts().values())
    lines = [
        f"texts {hashlib.sha256(''.join(texts).encode()).hexdigest()} {sum(len(t.split()) for t in texts)}"
    ]
    for path in PACK_MODELS:
        (made,) = annotate(texts, [load_model(str(path))])
        for field in fields(made):
            array = getattr(made, field.name)
            if isinstance(array, np.ndarray):
                digest = hashlib.sha256(array.tobytes()).hexdigest()
                lines.append(f"{path.name} {field.name} {array.dtype} {array.shape} {digest}")
    return "\n".join(lines) + "\n"


@golden("packs", slow=True)
def packs(home: Path) -> Files:
    """Return the flags of each pack on the sample texts, a digest of its choices, and a mean probability."""
    files = {}
    for name, text in sample_texts().items():
        (home / name).write_text(text, encoding="utf8")
    for path in PACK_MODELS:
        made = run(home, "annotate", *sample_texts(), "--model", path, "--format", "jsonl", "--no-text", "-q")
        rows = []
        for line in made.splitlines():
            document = json.loads(line)
            for row in document["decisions"]:
                keys = ("start", "end", "observed", "chosen", "probability", "score", "margin", "flagged")
                rows.append([document["id"], *(row.get(key) for key in keys)])
        chosen = [[*row[:5], row[-1]] for row in rows]  # exact; probabilities may differ in the last digit
        digest = hashlib.sha256(as_lines(chosen).encode()).hexdigest()
        probabilities = [row[5] for row in rows if row[5] is not None]
        mean = round(sum(probabilities) / max(len(probabilities), 1), 6)
        flagged = [row for row in rows if row[-1]]
        files[f"{path.name}.jsonl"] = as_lines([[len(rows), digest, mean], *flagged])
    return files
