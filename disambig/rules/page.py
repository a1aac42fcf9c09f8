"""The description of the rules: for a terminal, and as the page ``README.md``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from disambig.formatting import FEW_MEASURED, describe_share
from disambig.rules.catalogue import CATALOGUE, PAGE, local_page
from disambig.rules.naming import Rule

MIN_FLAGS = 10
"""Minimum number of flags on which a share is measured."""
MEASURED = Path(__file__).with_name("measured.json")
"""The measured shares of right flags of the shared rules, written by ``corpora/disambig_en/scoring.py``."""


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """The share of a rule's flags that were right."""

    share: float  # the share in text with the usual number of mistakes (see ``disambig/checking/README.md``)
    flags: int  # number of flags on which it was measured

    def __str__(self) -> str:
        """Return the share in per cent, or in tenths if it was measured on few flags."""
        return describe_share(self.share, self.flags)


@lru_cache(maxsize=1)
def measured_shares() -> dict[str, MeasuredShare]:
    """Return the measured share of each shared rule with enough flags."""
    saved = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {name: MeasuredShare(**measured) for name, measured in saved["rules"].items()}


def measured_text() -> str:
    """Return the description of the text on which the shares were measured."""
    return str(json.loads(MEASURED.read_text(encoding="utf-8"))["text"])


def save_measured(shares: Mapping[str, MeasuredShare], *, text: str) -> None:
    """Replace the measured shares of the shared rules, and write the page again.

    Parameters
    ----------
    shares : mapping from str to MeasuredShare
        By rule; those of at least `MIN_FLAGS` flags are kept.
    text : str
        Description of the text on which they were measured.
    """
    kept = {name: asdict(share) for name, share in shares.items() if share.flags >= MIN_FLAGS}
    MEASURED.write_text(json.dumps({"text": text, "rules": kept}, indent=1) + "\n", encoding="utf-8")
    measured_shares.cache_clear()
    local_page().write_text(rules_page(), encoding="utf-8")


def rule_text(rule: Rule) -> str:
    """Return the description of a rule as lines of text."""
    lines = [rule.name, "", rule.title]
    lines += [rule.description] if rule.description else []
    for example in rule.examples:
        lines += ["", f"  wrong: {example.wrong}", f"  right: {example.right}"]
    lines += ["", f"Right: {_share_text(rule)}."]
    lines += [f"Silence: <!-- disambig: ignore-next-line[{rule.name}] --> above a line, or", ""]
    lines += [f'    ignore_rules = ["{rule.name}"]', "", "in disambig.toml."]
    lines += [f"More: {rule.url}"] if rule.url and not rule.url.startswith(PAGE) else []
    return "\n".join(lines) + "\n"


def _share_text(rule: Rule) -> str:
    share = measured_shares().get(rule.name)
    return "too few such flags to measure" if share is None else f"{share} of such flags"


_HEAD = """# Rules

A flag has a rule, which says what is wrong. The same correction has the same rule, whichever model proposes
it. `disambig rules` lists the rules in the terminal, and `disambig rules NAME` explains one.

*Right* is the share of flags whose correction is the writer's own, at the usual rates of the models of
[disambig_en](../../corpora/disambig_en/README.md). It was measured on
{text}
([how far to trust a flag](../checking/README.md#how-far-to-trust-a-flag)). Reports show another share with
each flag: that of the flags of its task, or of its pair of words, that are about as certain, whatever their
rule. It can be higher or lower, and also exists for rules with too few flags to measure. A share that was
measured on fewer than {few} flags is given in tenths.

| to silence a rule | write |
|---|---|
| in a line | `<!-- disambig: ignore-next-line[agreement] -->` above it, or `ignore-line[agreement]` in it |
| in a part | `<!-- disambig: off[agreement] -->` before it, `<!-- disambig: on[agreement] -->` after it |
| in a file | `<!-- disambig: ignore[agreement] -->` |
| in a project | `ignore_rules = ["agreement"]` in `disambig.toml` |
| once | `disambig check --ignore-rule agreement` |

`rules = ["agreement"]` and `--rule agreement` show this rule only. In other formats than Markdown, use
[their comments](../checking/README.md#formats). Names of tasks can stand for rules. A task of a plugin can
declare [rules of its own](../../plugins/README.md#rules); otherwise its flags have one rule, with the name
of the task. This page is written by `python -m disambig.rules.page`.
"""


def rules_page() -> str:
    """Return the page of the shared rules in Markdown."""
    parts = [_HEAD.format(text=measured_text(), few=FEW_MEASURED)]
    for rule in CATALOGUE:
        parts.append(f"\n## {rule.name}\n\n{rule.title} {rule.description}\n\n")
        parts += [f"* {example.wrong} → {example.right}\n" for example in rule.examples]
        parts.append(f"* Right: {_share_text(rule)}.\n")
    return "".join(parts)


if __name__ == "__main__":
    local_page().write_text(rules_page(), encoding="utf-8")
