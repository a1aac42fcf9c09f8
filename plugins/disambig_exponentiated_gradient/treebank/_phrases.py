"""Phrases while a tree is built from dependencies.

Those of nouns, adjectives, adverbs and prepositions; gaps, auxiliary phrases, and places of punctuation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .tree import escape_word

_COLONS = frozenset(
    {";", ":", "--", "-", "---", "...", "....", "\N{EN DASH}", "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}"}
)
_QUOTE_SIGNS = frozenset(
    {'"', "``", "''", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"}
)
PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})
"""Tags of punctuation."""


@dataclass(slots=True)
class TreePhrase:
    """A constituent that is being built: a label, and phrases and words (indices) in order."""

    label: str
    children: list[TreePhrase | int] = field(default_factory=list)

    @property
    def start(self) -> int:
        """Index of the first word."""
        first = self.children[0]
        return first if isinstance(first, int) else first.start

    @property
    def end(self) -> int:
        """Index of the last word."""
        last = self.children[-1]
        return last if isinstance(last, int) else last.end


PhraseItem = TreePhrase | int
"""A phrase, or the index of a word that has no phrase of its own."""


def first_word(item: PhraseItem) -> int:
    """Return the index of the first word."""
    return item if isinstance(item, int) else item.start


def last_word(item: PhraseItem) -> int:
    """Return the index of the last word."""
    return item if isinstance(item, int) else item.end


def contains_any(item: PhraseItem, words: Iterable[int]) -> bool:
    """Return True if one of the words is in a phrase."""
    return any(first_word(item) <= word <= last_word(item) for word in words)


def item_label(item: PhraseItem) -> str:
    """Return the label of a phrase, empty for a word."""
    return "" if isinstance(item, int) else item.label


def list_words(item: PhraseItem) -> list[int]:
    """Return the words of a phrase in order."""
    if isinstance(item, int):
        return [item]
    return [word for child in item.children for word in list_words(child)]


def close_gaps(root: TreePhrase, rank: dict[int, int]) -> TreePhrase:
    """Return a phrase without gaps: what stands after foreign words moves up until there are none.

    Shared dependents of conjuncts can leave a gap. The longest run of a phrase keeps its label.
    """

    def close(node: TreePhrase) -> list[PhraseItem]:
        children: list[PhraseItem] = []
        for child in node.children:
            children += [child] if isinstance(child, int) else close(child)
        children.sort(key=first_word)
        runs: list[list[PhraseItem]] = [[]]
        for child in children:
            if runs[-1] and rank[first_word(child)] != rank[last_word(runs[-1][-1])] + 1:
                runs.append([])
            runs[-1].append(child)
        longest = max(runs, key=lambda run: rank[last_word(run[-1])] - rank[first_word(run[0])])
        whole: list[PhraseItem] = []
        for run in runs:
            whole += [TreePhrase(node.label, run)] if run is longest else run
        return whole

    items = close(root)
    if len(items) == 1 and isinstance(items[0], TreePhrase):
        return items[0]
    return TreePhrase(root.label, items)  # pragma: no cover - the root has all words


_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG", "SBAR", "INTJ"})
_SPLICED = frozenset({"X-FLAT", "PRED", "VP-SPLIT"})
"""Labels of auxiliary phrases, whose children belong to the phrase above."""


def tidy_phrase(node: TreePhrase) -> None:
    """Remove auxiliary phrases, and phrases with no other child than one of the same label."""
    children: list[PhraseItem] = []
    for child in node.children:
        if isinstance(child, int):
            children.append(child)
            continue
        tidy_phrase(child)
        children += child.children if child.label in _SPLICED else [child]
    node.children = children
    if node.label == "S-LIST":
        node.label = "S"
    only = node.children[0]
    if len(node.children) == 1 and not isinstance(only, int) and only.label == node.label:
        node.children = only.children


def penn_punctuation(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags with semicolons, dashes and ellipses as ``:``, as in the Penn Treebank.

    EWT has ``,`` for many of them; hyphens within words (``HYPH``) and symbols are unchanged.
    """
    changed = {",", ".", ":", "NFP"}
    return [":" if word in _COLONS and tag in changed else tag for word, tag in zip(words, tags, strict=True)]


def spell_word(word: str, tag: str) -> str:
    """Return a word in treebank spelling."""
    if word in _QUOTE_SIGNS and tag in ("``", "''"):
        return tag
    return escape_word(word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


@dataclass(slots=True)
class MarkPlacer:
    """Puts punctuation into a phrase that lacks it."""

    root: TreePhrase  # the phrase of all words; it is changed
    tags: Sequence[str]  # tags of all words, with those of the marks
    marks: list[int]  # indices of the marks, in order

    def place(self) -> None:
        """Put pairs of brackets and of quotation marks around what they enclose, then the other marks."""
        for opening, closing in self._pairs():
            self._put_pair(opening, closing)
        for mark in self.marks:
            self._put_mark(mark)

    def _pairs(self) -> list[tuple[int, int]]:
        """Return pairs of brackets and of quotation marks, inner ones first."""
        pairs = []
        for left, right in (("-LRB-", "-RRB-"), ("``", "''")):
            open_: list[int] = []
            for i in self.marks:
                if self.tags[i] == left:
                    open_.append(i)
                elif self.tags[i] == right and open_:
                    pairs.append((open_.pop(), i))
        return pairs

    def _put_pair(self, opening: int, closing: int) -> None:
        """Put a pair of marks around whole constituents, into the same phrase; brackets form PRN.

        If no phrase has only whole children between them, they are put like other marks.
        """
        node = self.root
        while True:
            inside = [
                k
                for k, item in enumerate(node.children)
                if opening < first_word(item) and last_word(item) < closing
            ]
            below = [item for item in node.children if not isinstance(item, int)]
            around = [item for item in below if item.start < opening and item.end > closing]
            partly = [
                item
                for item in below
                if item.start < opening < item.end <= closing or opening <= item.start < closing < item.end
            ]
            if not around and (len(partly) != 1 or inside):
                break
            node = [*around, *partly][0]
        if partly or not inside:
            return
        is_bracket = self.tags[opening] == "-LRB-"
        first, last = inside[0], inside[-1] + 1
        if is_bracket and not (node is self.root and last - first == len(node.children)):
            node.children[first:last] = [TreePhrase("PRN", [opening, *node.children[first:last], closing])]
        else:
            node.children[first:last] = [opening, *node.children[first:last], closing]
        self.marks = [i for i in self.marks if i not in (opening, closing)]

    def _put_mark(self, mark: int) -> None:
        """Attach a mark to the lowest constituent that contains both words beside it, else to the root.

        A full stop or question mark after a clause that something else follows belongs to that clause.
        """
        node, around = self.root, [self.root] if self.root.start < mark < self.root.end else []
        while around:
            node = around[0]
            around = [
                item for item in node.children if not isinstance(item, int) and item.start < mark < item.end
            ]
        place = sum(first_word(item) < mark for item in node.children)
        before = node.children[place - 1] if place else mark
        is_inside = self.tags[mark] == "." and place < len(node.children)
        if is_inside and not isinstance(before, int) and before.label in _CLAUSES:
            before.children.append(mark)
        else:
            node.children.insert(place, mark)


VERB_TAGS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
NOUN_TAGS = frozenset(
    "NN NNS NNP NNPS PRP PRP$ EX WP WP$ WDT DT PDT CD $ ADD FW LS SYM GW AFX NFP POS".split()
)
ADJECTIVE_TAGS = frozenset({"JJ", "JJR", "JJS"})
ADVERB_TAGS = frozenset({"RB", "RBR", "RBS", "WRB"})
WH_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "csubj:outer", "expl"})
NOMINAL = frozenset(
    "nsubj nsubj:pass nsubj:outer obj iobj nmod nmod:poss obl obl:agent obl:unmarked nmod:unmarked appos "
    "vocative dislocated".split()
)
"""Relations of dependents that are noun phrases whatever their tag."""
TIGHT = frozenset("flat fixed goeswith compound nummod compound:prt".split())
"""Relations that stay in the base noun phrase to the right of the noun."""
CLAUSE_ONLY = frozenset("mark advcl parataxis discourse vocative dislocated expl list".split()) | SUBJECTS


class PhraseBuilder(ABC):
    """Builds the phrases of a sentence, whose heads are projective; a subclass adds those of clauses."""

    def __init__(
        self, words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
    ) -> None:
        self.words = [word.lower() for word in words]
        self.tags = list(tags)
        self.heads = list(heads)
        self.relations = list(relations)
        self.root = self.heads.index(-1)
        below: list[list[int]] = [[] for _ in words]
        for i, head in enumerate(heads):
            if head >= 0:
                below[head].append(i)
        # marks without dependents of their own are attached last, to the places that the phrases leave
        self.marks = [
            i
            for i in range(len(words))
            if relations[i] == "punct" and not below[i] and i != self.root and tags[i] in PUNCTUATION
        ]
        marks = set(self.marks)
        self.below = [[i for i in children if i not in marks] for children in below]
        self.is_question = any(words[i] in ("?", "?!", "??", "???") for i in marks)

    @abstractmethod
    def phrase(self, head: int, relation: str, without: frozenset[int] = frozenset()) -> PhraseItem:
        """Return the constituent of a word and its dependents, except some of them."""

    @abstractmethod
    def _free_relative(self, head: int, dependents: Sequence[int], relative: int) -> PhraseItem:
        """Return a free relative clause, such as "what you said"."""

    def _category(self, tag: str) -> str:
        """Return the label of the phrase that a word with a tag projects."""
        if tag in ADJECTIVE_TAGS:
            return "ADJP"
        if tag in ADVERB_TAGS:
            return "WHADVP" if tag == "WRB" else "ADVP"
        if tag in VERB_TAGS:
            return "VP"
        return {"IN": "PP", "TO": "PP", "RP": "PRT", "UH": "INTJ", "CC": "CONJP", "WP": "WHNP"}.get(tag, "NP")

    def _dependent(self, word: int) -> PhraseItem:
        """Return the constituent of a dependent in a clause."""
        relation, tag = self.relations[word], self.tags[word]
        if relation in ("mark", "cc", "cc:preconj", "case", "fixed", "goeswith"):
            leaves = self._leaves([word])
            if len(leaves) == 1:
                return leaves[0]
            return TreePhrase(
                "CONJP" if relation.startswith("cc") else "PP" if relation == "case" else "X-FLAT", leaves
            )
        if relation == "compound:prt" and not self.below[word]:
            return TreePhrase("PRT", [word])
        if relation == "advmod" and not self.below[word] and self.words[word] in ("not", "n't"):
            return word
        item = self.phrase(word, relation)
        if isinstance(item, int):
            label = self._category(tag)
            if relation in NOMINAL and label not in ("NP", "WHNP"):
                label = "NP"
            if relation == "advmod" and label in ("PP", "NP", "VP", "ADJP", "CONJP"):
                label = "ADVP"
            item = TreePhrase(label, [item])
        return item

    def _leaves(self, heads: Sequence[int]) -> list[PhraseItem]:
        """Return the words of function words and all below them."""
        words = list(heads)
        for word in words:
            words += [i for i in self.below[word] if i not in words]
        return [*sorted(words)]

    def _coordinators(self, conjunct: int) -> list[int]:
        """Return the conjunctions that stand before a conjunct."""
        return [i for i in self.below[conjunct] if self.relations[i] == "cc" and i < conjunct]

    def _plain_phrase(self, head: int, relation: str, without: frozenset[int]) -> PhraseItem:
        """Return the phrase of a noun, adjective, adverb or other word that is not a predicate."""
        dependents = [i for i in self.below[head] if i not in without]
        cases = [i for i in dependents if self.relations[i] == "case" and i < head and self.tags[i] != "POS"]
        conjuncts = [i for i in dependents if self.relations[i] == "conj"]
        if cases:
            return self._prepositional(head, relation, without, cases, conjuncts)
        if conjuncts:
            return self._coordination(head, relation, without, conjuncts)
        tag = self.tags[head]
        relatives = [i for i in dependents if self.relations[i] in ("acl:relcl", "advcl:relcl")]
        if tag in WH_TAGS and len(relatives) == 1 and relatives[0] > head:
            return self._free_relative(head, dependents, relatives[0])
        is_noun = tag in NOUN_TAGS or relation in NOMINAL or (tag in VERB_TAGS and relation != "amod")
        if any(self.relations[i] in ("det", "nmod:poss", "amod") for i in dependents):
            is_noun = True
        if is_noun:
            return self._noun_phrase(head, relation, dependents)
        if not dependents:
            return head
        items = [self._inside(i) for i in dependents]
        label = "ADJP" if tag in VERB_TAGS else self._category(tag)
        return self._ordered(label, [head, *items])

    def _inside(self, word: int) -> PhraseItem:
        """Return a dependent within a phrase: one word is left bare."""
        own_phrase = NOMINAL | CLAUSE_ONLY | {"ccomp", "xcomp", "acl", "acl:relcl", "obl", "parataxis"}
        if self.below[word] or self.relations[word] in own_phrase:
            return self._dependent(word)
        return word

    def _prepositional(
        self, head: int, relation: str, without: frozenset[int], cases: list[int], conjuncts: list[int]
    ) -> PhraseItem:
        """Return a prepositional phrase, or several joined by conjunctions."""
        others = [i for i in conjuncts if any(self.relations[j] == "case" for j in self.below[i])]
        if conjuncts and others == conjuncts:  # each has its own preposition
            first = self._prepositional(head, relation, without | frozenset(conjuncts), cases, [])
            return self._joined(first, conjuncts)
        early = [i for i in self.below[head] if i < cases[0] and i not in without]
        inner = self._plain_phrase(head, "nmod", without | frozenset(cases) | frozenset(early))
        if isinstance(inner, int):
            label = self._category(self.tags[inner])
            inner = TreePhrase("NP" if label in ("VP", "PP", "PRT", "CONJP") else label, [inner])
        phrase: PhraseItem = inner
        for case in reversed(cases):
            phrase = TreePhrase("PP", [*self._leaves([case]), phrase])
        if early:
            assert isinstance(phrase, TreePhrase)
            phrase = self._ordered("PP", [*(self._dependent(i) for i in early), *phrase.children])
        return phrase

    def _coordination(
        self, head: int, relation: str, without: frozenset[int], conjuncts: list[int]
    ) -> PhraseItem:
        """Return phrases joined by conjunctions; plain words are joined without phrases of their own."""
        last = conjuncts[-1]
        late = [i for i in self.below[head] if i > conjuncts[0] and i not in conjuncts and i not in without]
        modifiers = [i for i in self.below[head] if i not in without and i not in conjuncts and i not in late]
        simple = all(set(self.below[i]) == set(self._coordinators(i)) for i in conjuncts)
        simple = (
            simple
            and all(i < head for i in modifiers)
            and all(self._category(self.tags[i]) == self._category(self.tags[head]) for i in conjuncts)
        )
        excluded = without | frozenset(conjuncts) | frozenset(late)
        first = self._plain_phrase(head, relation, excluded)
        if simple:
            label = item_label(first) or self._category(self.tags[head])
            if label in ("VP", "PP") and isinstance(first, int):
                label = "ADJP" if relation == "amod" else "NP"
            items: list[PhraseItem] = [first] if isinstance(first, int) else list(first.children)
            for i in conjuncts:
                items += [*self._leaves(self._coordinators(i)), i]
            whole: PhraseItem = self._ordered(label, items)
        else:
            if isinstance(first, int):
                label = self._category(self.tags[first])
                first = TreePhrase("NP" if relation in NOMINAL and label != "WHNP" else label, [first])
            whole = self._joined(first, conjuncts, relation)
        if late:
            items = [self._dependent(i) for i in late]
            assert isinstance(whole, TreePhrase)
            if all(i > last for i in late) and whole.label == "NP":
                whole = self._ordered("NP", [whole, *items])
            else:
                whole = self._ordered(whole.label, [*whole.children, *items])
        return whole

    def _joined(self, first: PhraseItem, conjuncts: Sequence[int], relation: str = "conj") -> TreePhrase:
        """Return the phrases of conjuncts after the first one, with their conjunctions."""
        items: list[PhraseItem] = [first]
        for i in conjuncts:
            coordinators = self._coordinators(i)
            items += self._leaves(coordinators)
            nominal = relation if relation in NOMINAL else "conj"
            item = self.phrase(i, nominal, frozenset(coordinators))
            if isinstance(item, int):
                label = self._category(self.tags[item])
                item = TreePhrase("NP" if relation in NOMINAL and label != "WHNP" else label, [item])
            items.append(item)
        return self._ordered(self._joint_label(items), items)

    def _joint_label(self, items: Sequence[PhraseItem]) -> str:
        """Return the label of coordinated phrases: their common one, or UCP."""
        labels = {
            "NP" if item.label in ("NML", "QP") else item.label for item in items if not isinstance(item, int)
        }
        labels -= {"CONJP", "PRN", "X-FLAT", "INTJ"}
        if labels <= {"S", "SQ", "SBARQ", "SINV"}:
            return "S"
        return labels.pop() if len(labels) == 1 else "UCP"

    def _noun_phrase(self, head: int, relation: str, dependents: Sequence[int]) -> PhraseItem:
        """Return a noun phrase: the noun with what precedes it, then its modifiers."""
        base: list[PhraseItem] = [head]
        outer: list[PhraseItem] = []
        last = head
        blocked = False
        for i in sorted(dependents):
            kind = self.relations[i]
            if i < head:
                if kind in CLAUSE_ONLY or kind in ("advcl", "cc", "nmod", "obl", "ccomp", "xcomp"):
                    outer.append(self._dependent(i))
                else:
                    base.append(self._premodifier(i))
            elif not blocked and (kind in TIGHT or self.tags[i] == "POS"):
                base += self._leaves([i])
                last = i
            else:
                blocked = True
                item = self._dependent(i)
                is_verbal = kind == "conj" and item_label(item) == "VP"
                outer.append(TreePhrase("S", [item]) if is_verbal else item)
        if not base[1:] and not outer and relation in ("compound", "nummod", "det", "amod", "flat"):
            return head
        wedged = [item for item in outer if min(map(first_word, base)) < first_word(item) < last]
        outer = [item for item in outer if item not in wedged]
        label, tag = "NP", self.tags[head]
        if tag == "CD" and relation in ("nummod", "compound"):
            label = "QP"
        elif relation == "compound":
            label = "NML"
        elif tag in ("WP", "WDT") and relation in ("root", "pred"):
            label = "WHNP"
        inner = self._ordered(label, [*base, *wedged])
        return self._ordered("NP", [inner, *outer]) if outer else inner

    def _premodifier(self, word: int) -> PhraseItem:
        """Return a dependent before the noun; single words stay bare."""
        kind, tag = self.relations[word], self.tags[word]
        if kind == "nmod:poss" and tag not in ("PRP$", "WP$"):
            item = self.phrase(word, "nmod:poss")
            return TreePhrase("NP", [item]) if isinstance(item, int) else item
        if not self.below[word]:
            return word
        if kind in ("det", "det:predet"):
            label = "QP" if tag == "CD" else "ADJP" if tag in ADJECTIVE_TAGS else "NP"
            return TreePhrase(label, self._leaves([word]))
        if kind in ("case", "cc:preconj"):
            return self._dependent(word)
        item = self.phrase(word, kind)
        if not isinstance(item, int) and item.label == "NP" and kind == "compound":
            item.label = "NML"
        return item

    def _ordered(self, label: str, items: Sequence[PhraseItem]) -> TreePhrase:
        return TreePhrase(label, sorted(items, key=first_word))
