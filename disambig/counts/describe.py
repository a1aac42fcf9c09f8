"""What a person sees of a table and of work on it: the lines of `info`, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from disambig.counts.layout import RECORDS
from disambig.counts.table import CountTable


def described(table: CountTable) -> Iterator[str]:
    """Yield lines that say where `table` comes from and what it covers."""
    info: dict[str, Any] = table.header.get("info", {})
    size = table.path.stat().st_size
    each = f", {size / table.n_ngrams:.2f} bytes each" if table.n_ngrams else ""
    yield f"{table.path}"
    yield f"n-grams       {table.n_ngrams:,} of 1 to {table.orders} words; {size:,} bytes{each}"
    for name in table.tokenisations:
        yield f"words         {name}" + (", also patterns with a gap" if name in table.gaps else "")
    record = RECORDS[table.header["record"]]
    rounded = ": large ones rounded" if record.growth else ""
    yield f"counts        {record.name}{rounded}, up to {int(table.values.max()):,}"
    yield f"              an absent n-gram is taken for another once in {1 << record.fingerprint:,}"
    for what, label in (("ngrams", "words"), ("patterns", "with gap")):
        numbers = info.get(what, {})
        for order in sorted(numbers.get("kept", {}), key=int):
            seen, distinct, kept = (numbers[name][order] for name in ("seen", "distinct", "kept"))
            least = info.get("min_counts", {}).get(order, 1)
            yield (
                f"  {order} {label.removesuffix('s') if order == '1' else label:9} {kept:,} kept "
                f"(seen {least} times or more) of {distinct:,} different, {seen:,} in all"
            )
    if table.has_keys:
        yield "keys          stored: the table can be merged and pruned"
    words = info.get("keep_words")
    if words:
        yield f"restricted    to n-grams with one of {len(words):,} words: {', '.join(words[:12])}" + (
            ", ..." if len(words) > 12 else ""
        )
    for name, view in info.get("views", {}).items():
        for why, lines in view.get("left_out", {}).items():
            if lines:
                reason = "a part-of-speech tag" if why == "tagged" else f"a word that {name} cuts otherwise"
                yield f"left out      lines with {reason}: {lines:,}"
    yield f"licence       {info.get('licence') or 'not stated'}"
    views = list(info.get("views", {}).values()) or [info]
    sources = list(views[0].get("sources", []))
    for view in views[1:]:
        sources += [source for source in view.get("sources", []) if source not in sources]
    for source in sources[:20]:
        size_said = f" ({source['bytes']:,} bytes)" if "bytes" in source else ""
        yield f"source        {source.get('name') or source.get('file') or 'not named'}{size_said}"
    if len(sources) > 20:
        yield f"              and {len(sources) - 20:,} more"


@contextmanager
def progress_bar(total: int, *, unit: str = "B") -> Iterator[Callable[[str, int], None]]:
    """Show a bar on standard error, if that is a terminal; yield what to tell ``(stage, done)``."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage, done: None
        return
    from tqdm import tqdm

    with tqdm(total=total or None, unit=unit, unit_scale=True, leave=False, file=sys.stderr) as bar:

        def move(stage: str, done: int) -> None:
            if stage != "count" and bar.unit == "B":
                bar.reset(None)
                bar.unit, bar.desc = " n-grams", "writing: "
            bar.update(done - bar.n)

        yield move
