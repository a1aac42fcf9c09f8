"""What a person sees of a table and of work on it: the lines of `info`, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from disambig.counts.table import CountTable


def described(table: CountTable) -> Iterator[str]:
    """Yield lines that say where `table` comes from and what it covers."""
    info: dict[str, Any] = table.header.get("info", {})
    size = table.path.stat().st_size
    each = f", {size / table.n_ngrams:.2f} bytes each" if table.n_ngrams else ""
    yield f"{table.path}"
    yield f"n-grams       {table.n_ngrams:,} of 1 to {table.orders} words; {size:,} bytes{each}"
    yield f"words         {table.tokenisation}"
    exact = f"exact, up to {int(table.values.max()):,}"
    yield f"counts        {exact if table.header['record'] == 'exact' else 'compact: large ones rounded'}"
    numbers = info.get("ngrams", {})
    for order in sorted(numbers.get("kept", {}), key=int):
        seen, distinct, kept = (numbers[name][order] for name in ("seen", "distinct", "kept"))
        least = info.get("min_counts", {}).get(order, 1)
        yield (
            f"  {order} word{'s' if order != '1' else ' '}     {kept:,} kept (seen {least} times or more) "
            f"of {distinct:,} different, {seen:,} in all"
        )
    words = info.get("keep_words")
    if words:
        yield f"restricted    to n-grams with one of {len(words):,} words: {', '.join(words[:12])}" + (
            ", ..." if len(words) > 12 else ""
        )
    yield f"licence       {info.get('licence') or 'not stated'}"
    sources = info.get("sources", [])
    for source in sources[:20]:
        size_said = f" ({source['bytes']:,} bytes)" if "bytes" in source else ""
        yield f"source        {source.get('name') or source.get('file') or 'not named'}{size_said}"
    if len(sources) > 20:
        yield f"              and {len(sources) - 20:,} more"


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, int], None]]:
    """Show a bar on standard error, if that is a terminal; yield what to tell ``(stage, done)``."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage, done: None
        return
    from tqdm import tqdm

    with tqdm(total=total or None, unit="B", unit_scale=True, leave=False, file=sys.stderr) as bar:

        def move(stage: str, done: int) -> None:
            if stage != "count" and bar.unit == "B":
                bar.reset(None)
                bar.unit, bar.desc = " n-grams", "writing: "
            bar.update(done - bar.n)

        yield move
