"""Binarisation of trees with context in the symbols: heads, label splits, symbol names, restoration."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from disambig.api import UserError, nearest_first
from disambig.api.settings import validate_settings, whole_number_between

from .tree import Tree, TreeNodes, fold_tree

_QUOTED = re.compile(r"[%@~^|\x00-\x20\x7f]")
_SIGN = re.compile(r"[~^|]")
_CODE = re.compile(r"%([0-9A-F]{2})")
INSIDE = "@"


@lru_cache(10_000)
def quoted(label: str) -> str:
    """Return a label with the special characters of symbols escaped."""
    return _QUOTED.sub(lambda sign: f"%{ord(sign[0]):02X}", label)


@lru_cache(100_000)
def node_label(symbol: str) -> str:
    """Return the label of a node given its symbol, which must not be an intermediate one."""
    sign = _SIGN.search(symbol)
    plain = symbol[: sign.start()] if sign else symbol
    return _CODE.sub(lambda code: chr(int(code[1], 16)), plain)


def is_inside(symbol: str) -> bool:
    """Return True if a symbol is an intermediate one, which does not occur in trees."""
    return symbol.startswith(INSIDE)


@lru_cache(100_000)
def coarse_symbol(symbol: str) -> str:
    """Return a symbol without splits and context: ``NP``, or ``@NP`` for all intermediate symbols of NP."""
    sign = _SIGN.search(symbol)
    return symbol[: sign.start()] if sign else symbol


@lru_cache(100_000)
def without_parents(symbol: str) -> str:
    """Return a node's symbol without the labels above it; for a word only its tag and split remain."""
    return symbol.partition("^")[0]


TABLE = Path(__file__).with_name("head_rules.tsv")


@dataclass(frozen=True, slots=True)
class HeadStep:
    """One search for a head among the children."""

    side: str  # start of the search; ``"last"``: only the last child
    # whether labels are searched one after the other; otherwise the first child with any of them is the head
    in_label_order: bool
    labels: tuple[str, ...]

    def find(self, children: Sequence[str]) -> int:
        """Return the index of the head, -1 if there is none."""
        order = range(len(children)) if self.side == "left" else range(len(children) - 1, -1, -1)
        seen = order[:1] if self.side == "last" else order
        for labels in ((label,) for label in self.labels) if self.in_label_order else (self.labels,):
            for i in seen:
                if children[i] in labels:
                    return i
        return -1


@cache
def head_rules() -> dict[str, tuple[HeadStep, ...]]:
    """Return the search steps for the head of each label, from the table."""
    rules: dict[str, tuple[HeadStep, ...]] = {}
    copies: dict[str, str] = {}
    for line in TABLE.read_text(encoding="utf8").splitlines():
        parent, _, rule_text = line.partition("\t")
        if line.startswith("#"):
            continue
        if " " not in rule_text:
            copies[parent] = rule_text
            continue
        steps = [tuple(step.split()) for step in rule_text.split(";")]
        rules[parent] = tuple(HeadStep(step[0], step[1] == "each", step[2:]) for step in steps)
    return rules | {parent: rules[other] for parent, other in copies.items()}


def head_child(label: str, children: Sequence[str]) -> int:
    """Return the index of the head child.

    `children` are labels without function tags. The default for unknown labels is a search from the left.
    """
    steps = head_rules().get(label, ())
    for step in steps:
        head = step.find(children)
        if head >= 0:
            break
    else:
        head = len(children) - 1 if steps and steps[-1].side == "right" else 0
    if head > 1 and children[head - 1] == "CC":  # in a coordination the first conjunct is the head
        return head - 2
    return head


@dataclass(frozen=True, slots=True, eq=False)
class Headed:
    """A tree with the head of each node."""

    tree: Tree
    children: tuple[Headed, ...]
    head: int  # index of the head child; -1 for a word
    place: int  # the head word, as an index into the sentence
    # the head word and its tag
    word: str
    tag: str


def heads(tree: Tree) -> Headed:
    """Return a tree with the head child and the head word of each constituent."""
    place = -1

    def make(node: Tree, children: Sequence[Headed]) -> Headed:
        nonlocal place
        if node.word is not None:
            place += 1
            return Headed(node, (), -1, place, node.word, node.label)
        head = head_child(node.label, [child.tree.label for child in children])
        below = children[head]
        return Headed(node, tuple(children), head, below.place, below.word, below.tag)

    return fold_tree(tree, make)


_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
_BE = frozenset("be am is are was were been being 's 're 'm".split())
_HAVE = frozenset("have has had having 've 'd".split())
_DO = frozenset("do does did doing done".split())
_NAMED_IN = frozenset({"of", "that", "than"})


def auxiliary(tree: TreeNodes, i: int) -> str:
    """Distinguish forms of "be" and "have" from other verbs."""
    if tree.label(i) not in _VERBS or tree.label(i) == "MD":
        return ""
    word = tree.word(i)
    return "be" if word in _BE else "have" if word in _HAVE else ""


def preposition(tree: TreeNodes, i: int) -> str:
    """Distinguish "of", "that" and "than" from other words with the tag IN."""
    return tree.word(i) if tree.label(i) == "IN" and tree.word(i) in _NAMED_IN else ""


_PREPOSITIONS = frozenset("of to in for with on by at from as about like than that".split())


def frequent_preposition(tree: TreeNodes, i: int) -> str:
    """Distinguish the most frequent words with the tag IN or TO from the others."""
    is_one = tree.label(i) in ("IN", "TO") and tree.word(i) in _PREPOSITIONS
    return tree.word(i) if is_one else ""


def clause_form(tree: TreeNodes, i: int) -> str:
    """Distinguish coordinated clauses, and clauses whose verb has no subject, from other clauses."""
    if tree.label(i) != "S":
        return ""
    below = tree.labels_below(i)
    if "S" in below:
        return "clauses"
    before = below[: below.index("VP")] if "VP" in below else ["NP"]
    return "" if "NP" in before or "SBAR" in before else "subjectless"


def auxiliary_do(tree: TreeNodes, i: int) -> str:
    """Distinguish forms of "do", which stands before the subject of a question and before "not"."""
    return "do" if tree.label(i) in _VERBS and tree.word(i) in _DO else ""


def wh_quantity(tree: TreeNodes, i: int) -> str:
    """Distinguish "how much" and "how many", which can be noun phrases, from "how old"."""
    if tree.label(i) != "JJ" or tree.word(i) not in ("much", "many"):
        return ""
    return "quantity" if tree.label(tree.parents[i]).startswith("WH") else ""


def alone(tree: TreeNodes, i: int) -> str:
    """Mark determiners and adverbs that form a constituent on their own."""
    if tree.label(i) not in ("DT", "RB"):
        return ""
    return "alone" if len(tree.children[tree.parents[i]]) == 1 else ""


def base(tree: TreeNodes, i: int) -> str:
    """Mark noun phrases that contain no constituent."""
    if tree.label(i) != "NP":
        return ""
    return "base" if all(tree.nodes[child].word is not None for child in tree.children[i]) else ""


def verb_form(tree: TreeNodes, i: int) -> str:
    """Mark verb phrases by the form of their verb: finite, infinitive, participle."""
    if tree.label(i) != "VP":
        return ""
    node = i
    while tree.label(node) == "VP" and tree.children[node]:
        node = tree.children[node][head_child(tree.label(node), tree.labels_below(node))]
        if tree.label(node) in _VERBS or tree.label(node) == "TO":
            break
    tag = tree.label(node)
    return "fin" if tag in ("VBD", "VBZ", "VBP", "MD") else tag.lower() if tag in (*_VERBS, "TO") else ""


SPLITS: dict[str, Callable[[TreeNodes, int], str]] = {
    split.__name__: split
    for split in (
        auxiliary, preposition, frequent_preposition, clause_form, auxiliary_do, wh_quantity, alone, base,
        verb_form,
    )
}  # fmt: skip
"""All splits by name."""
DEFAULT = ("auxiliary", "preposition", "alone", "base", "verb_form")
"""The best for small treebanks. Others that were tried (single children, genitives, clauses without subject,
"not", "but", noun phrases with a verb) gained nothing on section 00, of which three parts were held out in
turn; `frequent_preposition`, `clause_form` and `auxiliary_do` do on treebanks of ten thousand sentences,
where `wh_quantity` mends questions. The form of SQ (auxiliary, subject gap, tag), the case of pronouns
and "how" apart from other words were tried there, and gained nothing.
"""

_STATEMENTS = {"SQ": "S", "SINV": "S", "WHNP": "NP", "WHADJP": "ADJP", "WHADVP": "ADVP", "WHPP": "PP"}
"""Labels of questions and inverted clauses, and the label that they have in statements."""


@dataclass(frozen=True, slots=True)
class Binarisation:
    """Binarises trees and annotates their symbols."""

    horizontal: int = 1  # number of previous siblings' labels in an intermediate symbol
    vertical: int = 2  # 1: no context from above; 2: the parent's label; 3: also the grandparent's label
    tag_parents: bool = True  # whether tags include their parent's label
    # names of `disambig_exponentiated_gradient.treebank.binarisation.SPLITS`
    splits: tuple[str, ...] = DEFAULT
    # whether the labels above a node are those that statements have: the verb phrase of a question (``SQ``)
    # has the symbol of one in a statement (``S``), the words of ``WHNP`` those of words in ``NP``. For
    # treebanks with few questions
    merge_questions: bool = False

    def __post_init__(self) -> None:
        horizontal, vertical = (whole_number_between(least, 9, "D633") for least in (0, 1))
        validate_settings(self, horizontal=horizontal, vertical=vertical)
        for name in self.splits:
            if name not in SPLITS:
                wanted = f"one of {nearest_first(str(name), SPLITS)}"
                raise UserError("D633", setting="Binarisation.splits", value=name, wanted=wanted)

    def __call__(self, tree: Tree) -> Tree:
        """Return a tree whose nodes have two children, one child or a word, with symbols as labels."""
        at = TreeNodes.from_tree(tree)
        marks = [SPLITS[name] for name in self.splits]
        nodes, parents = at.nodes, at.parents
        plain = [quoted(node.label) for node in nodes]
        context = [_STATEMENTS.get(label, label) for label in plain] if self.merge_questions else plain
        binarised: list[Tree | None] = [None] * len(nodes)
        for i in range(len(nodes) - 1, -1, -1):  # in preorder, children come after their parents
            symbol = plain[i] + "".join("~" + mark for split in marks if (mark := split(at, i)))
            levels = self.vertical if nodes[i].word is None else 1 + self.tag_parents
            above = i
            for _ in range(levels - 1):
                above = parents[above]
                if above < 0:
                    break
                symbol += "^" + context[above]
            if nodes[i].word is not None:
                binarised[i] = Tree(symbol, (), nodes[i].word)
                continue
            below = at.children[i]
            children = [child for j in below if (child := binarised[j]) is not None]
            binarised[i] = Tree(symbol, self._paired(symbol, children, [plain[j] for j in below]))
        root = binarised[0]
        assert root is not None
        return root

    def _paired(self, symbol: str, children: list[Tree], labels: list[str]) -> tuple[Tree, ...]:
        """Return one or two children instead of many: the first child is split from the others, and so on.

        Intermediate symbols do not include the node's parent: with small treebanks this is best.
        """
        pair = tuple(children[-2:])
        for first in range(len(children) - 2, 0, -1):
            siblings = "_".join(labels[max(0, first - self.horizontal) : first])
            intermediate = INSIDE + without_parents(symbol) + ("|" + siblings if siblings else "")
            pair = (children[first - 1], Tree(intermediate, pair))
        return pair


def restore_tree(tree: Tree) -> Tree:
    """Return the original tree of a tree made by a `Binarisation`."""

    def make(node: Tree, children: Sequence[list[Tree]]) -> list[Tree]:
        if node.word is not None:
            return [Tree(node_label(node.label), (), node.word)]
        below = [child for group in children for child in group]
        return below if is_inside(node.label) else [Tree(node_label(node.label), tuple(below))]

    return fold_tree(tree, make)[0]
