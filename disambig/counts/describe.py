"""What a person sees of a table: the lines of `info`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from disambig.counts.building.pruning import in_words
from disambig.counts.index.layout import RECORDS
from disambig.counts.table import CountTable
from disambig.errors import UserError
from disambig.visible import visible


def described(table: CountTable) -> Iterator[str]:
    """Yield lines that say where `table` comes from and what it covers.

    Raises
    ------
    UserError
        D105 for a header whose values are of other types than are written there.
    """
    try:
        lines = list(_lines(table))
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as problem:
        raise UserError("D105", path=table.path, section="header") from problem
    yield from map(visible, lines)


def _lines(table: CountTable) -> Iterator[str]:
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
            which = (
                f"kept (seen {least:,} times or more) of {distinct:,} different" if least > 1 else "different"
            )
            yield (
                f"  {order} {label.removesuffix('s') if order == '1' else label:9} {kept:,} {which}, "
                f"{seen:,} in all"
            )
    if left_out := in_words({int(order): int(least) for order, least in info.get("min_counts", {}).items()}):
        yield f"left out      {left_out}"
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
