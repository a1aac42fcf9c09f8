"""Conversion of dependency trees (Universal Dependencies, English) into phrase structure.

A constituent is the projection of a head word: NP for nouns, VP and S for verbs, PP for nouns with a
preposition, ADJP and ADVP for adjectives and adverbs (Xia and Palmer, Converting Dependency Structures to
Phrase Structures, HLT 2001). Universal Dependencies make the predicate the head of a clause and the noun the
head of a prepositional phrase, so verbs "to be", auxiliaries, prepositions and conjunctions, which are
dependents there, get their projections here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from disambig.api import UserError

from .tree import TOP, Tree, escape_word

VERB_TAGS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_NOUN_TAGS = frozenset(
    "NN NNS NNP NNPS PRP PRP$ EX WP WP$ WDT DT PDT CD $ ADD FW LS SYM GW AFX NFP POS".split()
)
_ADJECTIVE_TAGS = frozenset({"JJ", "JJR", "JJS"})
_ADVERB_TAGS = frozenset({"RB", "RBR", "RBS", "WRB"})
_WH_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
_WH_LABELS = {"NP": "WHNP", "ADVP": "WHADVP", "PP": "WHPP", "ADJP": "WHADJP"}
_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "csubj:outer", "expl"})
_AUXILIARIES = frozenset({"aux", "aux:pass", "cop"})
_NOMINAL = frozenset(
    "nsubj nsubj:pass nsubj:outer obj iobj nmod nmod:poss obl obl:agent obl:unmarked nmod:unmarked appos "
    "vocative dislocated".split()
)
"""Relations of dependents that are noun phrases whatever their tag."""
_BASE = frozenset(
    "det det:predet amod nummod nmod:poss compound advmod cc:preconj nmod:desc reparandum".split()
)
_TIGHT = frozenset("flat fixed goeswith compound nummod compound:prt".split())
"""Relations that stay in the base noun phrase to the right of the noun."""
_OUTER = frozenset("parataxis discourse vocative list dislocated reparandum".split())
"""Relations of dependents outside of the verb phrase at the end of a clause."""
_CLAUSE_ONLY = frozenset("mark advcl parataxis discourse vocative dislocated expl list".split()) | _SUBJECTS
_SUBORDINATORS = frozenset(
    "while when although though if whether unless because that lest once whereas".split()
)
"""Conjunctions that form SBAR even without a finite verb; others form PP then: "by leaving"."""
_COLONS = frozenset(
    {";", ":", "--", "-", "---", "...", "....", "\N{EN DASH}", "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}"}
)
_QUOTE_SIGNS = frozenset(
    {'"', "``", "''", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"}
)
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})


@dataclass(slots=True)
class _Phrase:
    """A constituent that is being built: a label, and phrases and words (indices) in order."""

    label: str
    children: list[_Phrase | int] = field(default_factory=list)

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


_Item = _Phrase | int


def _start(item: _Item) -> int:
    return item if isinstance(item, int) else item.start


def _end(item: _Item) -> int:
    return item if isinstance(item, int) else item.end


def _label(item: _Item) -> str:
    return "" if isinstance(item, int) else item.label


@dataclass(slots=True)
class _Clause:
    """The pieces of a clause: what precedes its verb phrase, that, and what follows."""

    left: list[_Item]
    verb_phrase: _Phrase
    right: list[_Item]
    has_subject: bool
    inverted: bool = False
    verb_tag: str = ""


def penn_punctuation(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags with semicolons, dashes and ellipses as ``:``, as in the Penn Treebank.

    EWT has ``,`` for many of them; hyphens within words (``HYPH``) and symbols are unchanged.
    """
    changed = {",", ".", ":", "NFP"}
    return [":" if word in _COLONS and tag in changed else tag for word, tag in zip(words, tags, strict=True)]


def lift_heads(heads: Sequence[int]) -> list[int]:
    """Return projective heads: a word whose arc crosses another gets its head's head, shortest arcs first.

    Parameters
    ----------
    heads : sequence of int
        Index of the head of each word, -1 for the root.
    """
    lifted = list(heads)
    while True:
        crossing = [
            (abs(i - head), i)
            for i, head in enumerate(lifted)
            if head >= 0 and not _is_projective(lifted, i, head)
        ]
        if not crossing:
            return lifted
        _, word = min(crossing)
        lifted[word] = lifted[lifted[word]]


def _is_projective(heads: Sequence[int], word: int, head: int) -> bool:
    """Return True if the head dominates all words between it and its dependent."""
    for between in range(min(word, head) + 1, max(word, head)):
        above = between
        while above >= 0 and above != head:
            above = heads[above]
        if above < 0:
            return False
    return True


def check_heads(heads: Sequence[int]) -> None:
    """Raise ValueError unless the heads form one tree."""
    if list(heads).count(-1) != 1:
        raise ValueError(f"a sentence of {len(heads)} words has {list(heads).count(-1)} roots")
    for word in range(len(heads)):
        above, steps = word, 0
        while above >= 0:
            above, steps = heads[above], steps + 1
            if steps > len(heads) or above >= len(heads):
                raise ValueError(f"the heads of word {word + 1} form a circle or leave the sentence")


def tree_from_dependencies(
    words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> Tree:
    """Return the phrase structure of a sentence.

    Parameters
    ----------
    words : sequence of str
    tags : sequence of str
        Tags of the Penn Treebank (XPOS); semicolons, dashes and ellipses become ``:``.
    heads : sequence of int
        Index of the head of each word, -1 for the root.
    relations : sequence of str
        Relations of Universal Dependencies with subtypes, as in UD English EWT.

    Raises
    ------
    ValueError
        If the heads do not form a tree.
    """
    check_heads(heads)
    tags = penn_punctuation(words, tags)
    root = _Converter(words, tags, lift_heads(heads), relations).convert()
    spelt = [_spell(word, tag) for word, tag in zip(words, tags, strict=True)]

    def make(item: _Item) -> Tree:
        if isinstance(item, int):
            return Tree(tags[item], (), spelt[item])
        return Tree(item.label, tuple(make(child) for child in item.children))

    return Tree(TOP, (make(root),))


def _spell(word: str, tag: str) -> str:
    """Return a word in treebank spelling."""
    if word in _QUOTE_SIGNS and tag in ("``", "''"):
        return tag
    return escape_word(word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


def read_dependency_trees(
    sentences: Iterable[tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[str]]],
) -> Iterator[Tree]:
    """Yield the phrase structure of sentences, given as words, tags, heads and relations.

    Raises
    ------
    UserError
        D634 for heads that do not form a tree.
    """
    for number, (words, tags, heads, relations) in enumerate(sentences, 1):
        try:
            yield tree_from_dependencies(words, tags, heads, relations)
        except ValueError as problem:
            raise UserError("D634", n=number, problem=str(problem)) from None


def _close_gaps(root: _Phrase, rank: dict[int, int]) -> _Phrase:
    """Return a phrase without gaps: what stands behind foreign words moves up until there are none.

    Shared dependents of conjuncts can leave a gap. The longest run of a phrase keeps its label.
    """

    def close(node: _Phrase) -> list[_Item]:
        children: list[_Item] = []
        for child in node.children:
            children += [child] if isinstance(child, int) else close(child)
        children.sort(key=_start)
        runs: list[list[_Item]] = [[]]
        for child in children:
            if runs[-1] and rank[_start(child)] != rank[_end(runs[-1][-1])] + 1:
                runs.append([])
            runs[-1].append(child)
        longest = max(runs, key=lambda run: rank[_end(run[-1])] - rank[_start(run[0])])
        whole: list[_Item] = []
        for run in runs:
            whole += [_Phrase(node.label, run)] if run is longest else run
        return whole

    items = close(root)
    if len(items) == 1 and isinstance(items[0], _Phrase):
        return items[0]
    return _Phrase(root.label, items)  # pragma: no cover - the root has all words


def _words(item: _Item) -> list[int]:
    """Return the words of a phrase in order."""
    if isinstance(item, int):
        return [item]
    return [word for child in item.children for word in _words(child)]


_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG", "SBAR", "INTJ"})
_SPLICED = frozenset({"X-FLAT", "PRED", "VP-SPLIT"})
"""Labels of auxiliary phrases, whose children belong to the phrase above."""


def _tidy(node: _Phrase) -> None:
    """Remove auxiliary phrases, and phrases with no other child than one of the same label."""
    children: list[_Item] = []
    for child in node.children:
        if isinstance(child, int):
            children.append(child)
            continue
        _tidy(child)
        children += child.children if child.label in _SPLICED else [child]
    node.children = children
    if node.label == "S-LIST":
        node.label = "S"
    only = node.children[0]
    if len(node.children) == 1 and not isinstance(only, int) and only.label == node.label:
        node.children = only.children


class _Converter:
    """Builds the phrase structure of one sentence."""

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
            if relations[i] == "punct" and not below[i] and i != self.root and tags[i] in _PUNCTUATION
        ]
        marks = set(self.marks)
        self.below = [[i for i in children if i not in marks] for children in below]
        self.is_question = any(words[i] in ("?", "?!", "??", "???") for i in marks)

    def convert(self) -> _Phrase:
        """Return the phrase of the whole sentence."""
        root = self._root_phrase()
        words = [i for i in range(len(self.words)) if i not in set(self.marks)]
        root = _close_gaps(root, {word: rank for rank, word in enumerate(words)})
        _tidy(root)
        for opening, closing in self._pairs():
            self._put_pair(root, opening, closing)
        lost = set(words) - set(_words(root))
        for word in sorted({*self.marks, *lost}):
            self._put_mark(root, word)
        return root

    # clauses ------------------------------------------------------------------------------------------

    def _root_phrase(self) -> _Phrase:
        head = self.root
        item = self.phrase(head, "root")
        if isinstance(item, int):
            item = _Phrase(self._category(self.tags[item]), [item])
        if item.label == "VP":
            item = _Phrase("S", [item])
        clause_labels = ("S", "SQ", "SBARQ", "SINV", "SBAR", "FRAG", "INTJ", "X")
        if self.marks and item.label not in clause_labels:
            return _Phrase("FRAG", [item])
        return item

    def is_clause(self, head: int, relation: str) -> bool:
        """Return True if a word is the predicate of a clause."""
        relations = {self.relations[i] for i in self.below[head]}
        if relations & (_SUBJECTS | _AUXILIARIES):
            return True
        if self.tags[head] not in VERB_TAGS or relation in (
            "amod",
            "compound",
            "case",
            "fixed",
            "flat",
            "cc",
        ):
            return False
        return not (relations & {"det", "nmod:poss", "amod"} and self.tags[head] in ("VBG", "VBN"))

    def phrase(self, head: int, relation: str, without: frozenset[int] = frozenset()) -> _Item:
        """Return the constituent of a word and its dependents, except some of them."""
        if self.is_clause(head, relation):
            return self._clause_phrase(head, relation, without)
        marks = [i for i in self.below[head] if self.relations[i] == "mark" and i not in without]
        outer = [i for i in self.below[head] if self.relations[i] in _CLAUSE_ONLY and i not in without]
        if not outer:
            return self._plain_phrase(head, relation, without)
        inner = self._plain_phrase(head, relation, without | frozenset(outer))
        if isinstance(inner, int):
            inner = _Phrase(self._category(self.tags[inner]), [inner])
        if marks and len(outer) == len(marks):  # "if possible", "as usual", "than before"
            label = "SBAR" if self.words[marks[0]] in _SUBORDINATORS else "PP"
            return self._ordered(label, [*self._leaves(marks), inner])
        items = [inner, *(self._dependent(i) for i in outer if i not in marks), *self._leaves(marks)]
        label = inner.label if inner.label in ("INTJ",) else "FRAG"
        if relation != "root":  # a modifier of a phrase stays in it
            label = inner.label
        return self._ordered(label, items)

    def _clause_phrase(self, head: int, relation: str, without: frozenset[int]) -> _Phrase:
        """Return the constituent of a clause: S, SQ, SBARQ, SINV, SBAR, VP or PP."""
        clause = self._coordinated_clause(head, without)
        marks = [i for i in self.below[head] if self.relations[i] == "mark" and self.tags[i] != "TO"]
        marks = [i for i in marks if i not in without and i < clause.verb_phrase.start]
        question = self._wh_item(clause.left)
        conjunction = self._find_conjunction(clause.left, marks) if marks else -1
        is_root = relation in ("root", "parataxis", "conj", "ccomp")
        if conjunction >= 0:
            front, rest = clause.left[: conjunction + 1], clause.left[conjunction + 1 :]
            word = self.words[marks[-1]]
            if clause.verb_tag == "VBG" and not clause.has_subject and word not in _SUBORDINATORS:
                return _Phrase("PP", [*front, self._sentence("S", rest, clause)])
            return _Phrase("SBAR", [*front, self._sentence("S", rest, clause)])
        if question >= 0:
            front, rest = clause.left[: question + 1], clause.left[question + 1 :]
            direct = clause.inverted or (self.is_question and is_root and relation != "ccomp")
            inner = self._sentence("SQ" if direct else "S", rest, clause)
            return _Phrase("SBARQ" if direct else "SBAR", [*front, inner])
        if clause.inverted:
            asks = self.is_question and relation in ("root", "parataxis", "conj", "ccomp")
            starts = clause.verb_phrase.label == "VP-SPLIT" and not clause.left
            label = "SQ" if asks or (starts and not self._starts_with_negation(clause)) else "SINV"
            return self._sentence(label, clause.left, clause)
        is_participle = clause.verb_tag in ("VBN", "VBG", "JJ") and not clause.has_subject
        if relation == "acl" and is_participle and not clause.right:
            return self._ordered("VP", [*clause.left, *clause.verb_phrase.children])
        sentence = self._sentence("S", clause.left, clause)
        finite = clause.has_subject and clause.verb_tag in _FINITE
        if relation in ("acl:relcl", "advcl:relcl") and clause.has_subject:
            return _Phrase("SBAR", [sentence])
        if relation == "ccomp" and finite and head > self.heads[head] and not self._has_quote(head):
            return _Phrase("SBAR", [sentence])
        return sentence

    def _has_quote(self, head: int) -> bool:
        """Return True if a quotation mark or a colon is between a clause and the verb that it depends on."""
        start, end = sorted((head, self.heads[head]))
        return any(start < i < end and self.tags[i] in ("``", "''", ":", ",") for i in self.marks)

    def _starts_with_negation(self, clause: _Clause) -> bool:
        return bool(clause.left) and self.words[_start(clause.left[0])] in (
            "never",
            "nor",
            "neither",
            "not",
            "only",
        )

    def _sentence(self, label: str, left: Sequence[_Item], clause: _Clause) -> _Phrase:
        """Return a clause with its subject; the pieces of a split verb phrase stand beside the subject."""
        verbs = clause.verb_phrase
        middle: list[_Item] = (
            [verbs] if verbs.label == "VP" or verbs.label not in ("VP-SPLIT",) else verbs.children
        )
        wholes = [item for item in clause.right if _label(item) in ("S", "SQ", "SBARQ", "SINV", "FRAG")]
        if label in ("S", "SINV", "SQ") and wholes:  # two clauses side by side: "I won; you lost."
            first = clause.right.index(wholes[0])
            inner = _Phrase(label, [*left, *middle, *clause.right[:first]])
            return _Phrase("S", [inner, *clause.right[first:]])
        return _Phrase(label, [*left, *middle, *clause.right])

    def _find_conjunction(self, left: Sequence[_Item], marks: Sequence[int]) -> int:
        """Return the position of the last subordinating conjunction in front of the subject, -1 if none."""
        places = [
            i for i, item in enumerate(left) if any(_start(item) <= mark <= _end(item) for mark in marks)
        ]
        return places[-1] if places else -1

    def _wh_item(self, left: list[_Item]) -> int:
        """Return the position of the interrogative or relative phrase of a clause, relabelled; -1 if none."""
        for i, item in enumerate(left):
            start = _start(item)
            if isinstance(item, int):
                if self.tags[item] in _WH_TAGS:
                    left[i] = _Phrase("WHADVP" if self.tags[item] == "WRB" else "WHNP", [item])
                    return i
                continue
            places = [start] if item.label != "PP" else [start, min(start + 1, item.end)]
            if item.label in _WH_LABELS and any(self.tags[place] in _WH_TAGS for place in places):
                item.label = _WH_LABELS[item.label]
                self._relabel_edge(item)
                return i
            if item.label in _WH_LABELS.values():
                return i
        return -1

    def _relabel_edge(self, item: _Phrase) -> None:
        """Relabel the phrases around an interrogative word in a phrase: "how many" in "how many days"."""
        inner = item.children[-1] if item.label == "WHPP" else item.children[0]
        while not isinstance(inner, int) and self.tags[inner.start] in _WH_TAGS and inner.label in _WH_LABELS:
            inner.label = _WH_LABELS[inner.label]
            inner = inner.children[0]

    def _coordinated_clause(self, head: int, without: frozenset[int]) -> _Clause:
        """Return the pieces of a clause with its coordinated verb phrases and clauses."""
        conjuncts = [i for i in self.below[head] if self.relations[i] == "conj" and i not in without]
        chain = self._chain(head, without)
        inner: list[int] = []
        outer: list[int] = []
        clauses: list[int] = []
        for i in conjuncts:
            relations = {self.relations[j] for j in self.below[i]}
            if clauses or relations & (_SUBJECTS - {"expl"}) or "expl" in relations:
                clauses.append(i)
            elif not outer and self._shares_auxiliary(head, chain, i):
                inner.append(i)
            elif outer or self.is_clause(i, "conj") or self.tags[i] in VERB_TAGS:
                outer.append(i)
            else:
                inner.append(i)
        clause = self._simple_clause(head, chain, without | frozenset(conjuncts), inner, outer)
        for i in clauses:
            clause = self._add_clause(clause, i)
        return clause

    def _add_clause(self, clause: _Clause, conjunct: int) -> _Clause:
        """Return a clause that is coordinated with another one."""
        coordinators = self._coordinators(conjunct)
        second = self.phrase(conjunct, "conj", frozenset(coordinators))
        if clause.verb_phrase.label == "S-LIST":
            parts = clause.verb_phrase.children
            parts += [*self._leaves(coordinators), second]
            return clause
        marks = [item for item in clause.left if isinstance(item, int) and self.relations[item] == "mark"]
        question = self._wh_item(clause.left)
        cut = max([clause.left.index(item) for item in marks] + [question]) + 1
        lead = clause.left[:cut] if _label(second) not in ("SBAR", "SBARQ") else []
        if not lead:
            cut = 0
        first: _Item = self._sentence("S", clause.left[cut:], clause)
        if cut == 0 and (marks or question >= 0):
            split = max([clause.left.index(item) for item in marks] + [question]) + 1
            inner = self._sentence("S", clause.left[split:], clause)
            first = _Phrase("SBAR", [*clause.left[:split], inner])
        whole = _Phrase("S-LIST", [first, *self._leaves(coordinators), second])
        return _Clause(lead, whole, [], True, False, clause.verb_tag)

    def _shares_auxiliary(self, head: int, chain: Sequence[int], conjunct: int) -> bool:
        """Return True if a conjunct shares the auxiliary of the first verb, or its verb "to be"."""
        own = {self.relations[i] for i in self.below[conjunct]}
        if own & _AUXILIARIES or any(self._is_to(i) for i in self.below[conjunct]):
            return False
        if self.tags[head] not in VERB_TAGS:
            return self.tags[conjunct] not in _FINITE
        return len(chain) > 1 and self.tags[conjunct] == self.tags[head]

    def _is_to(self, word: int) -> bool:
        return self.relations[word] == "mark" and self.tags[word] == "TO"

    def _chain(self, head: int, without: frozenset[int]) -> list[int]:
        """Return the verbs of a clause in order, with "to" of an infinitive; the predicate comes last."""
        verbs = [i for i in self.below[head] if self.relations[i] in _AUXILIARIES or self._is_to(i)]
        return [*sorted(i for i in verbs if i not in without), head]

    def _simple_clause(
        self,
        head: int,
        chain: Sequence[int],
        without: frozenset[int],
        inner: Sequence[int],
        outer: Sequence[int],
    ) -> _Clause:
        """Return the pieces of a clause; `inner` and `outer` conjuncts share its verb and its auxiliaries."""
        verbs = list(chain)
        dependents = [i for i in self.below[head] if i not in without and i not in verbs]
        late = [i for i in verbs[:-1] if i > head]  # "what it is": the verb follows its predicate
        if late:
            return self._fronted_predicate(head, late, dependents, [*inner, *outer])
        copulas = [i for i in verbs[:-1] if self.relations[i] == "cop"]
        predicate: _Item = head
        if copulas and self.tags[head] in VERB_TAGS:  # "the aim is to win"
            after = frozenset(i for i in self.below[head] if i <= copulas[-1])
            outside = after | {i for i in dependents if self.relations[i] in _OUTER}
            outside |= without - frozenset(inner)
            predicate = self._clause_phrase(head, "xcomp", outside)
            verbs = [*(i for i in verbs if i <= copulas[-1]), head]
            dependents = [i for i in dependents if i in outside]
            inner = ()
        elif self.tags[head] not in VERB_TAGS:
            predicate, dependents = self._predicate(head, verbs, dependents, inner)
            inner = ()
        items = sorted((self._dependent(i) for i in dependents), key=_start)
        words: list[_Item] = [*verbs[:-1], predicate]
        first, last = _start(words[0]), _end(words[-1])
        left = [item for item in items if _start(item) < first]
        behind = [item for item in items if _start(item) > last]
        between = [item for item in items if first < _start(item) < last]
        late_subject = [
            item
            for item in behind[:1]
            for i in dependents
            if self.relations[i] in ("nsubj", "nsubj:pass") and _start(item) <= i <= _end(item)
        ]
        if late_subject and not any(self.relations[i] == "expl" for i in dependents):  # "said the boy"
            phrase = self._nest_verbs(words, between, (), inner, False)
            return _Clause(left, phrase, behind, True, True, self.tags[verbs[0]])
        right = self._split_right(behind, dependents)
        behind = behind[: len(behind) - len(right)]
        subject = {i for i in dependents if self.relations[i] in _SUBJECTS}
        is_inverted = any(_start(item) <= i <= _end(item) for item in between for i in subject)
        has_subject = bool(subject)
        phrase = self._nest_verbs(words, between, behind, inner, is_inverted)
        if outer:
            phrase = self._coordinate_verbs(phrase, outer)
        tag = self.tags[verbs[0]] if len(verbs) > 1 else self.tags[head]
        return _Clause(left, phrase, right, has_subject, is_inverted, tag)

    def _fronted_predicate(
        self, head: int, late: Sequence[int], dependents: Sequence[int], conjuncts: Sequence[int]
    ) -> _Clause:
        """Return a clause whose predicate precedes its verb: "where are the keys", "what it is"."""
        own = [
            i
            for i in dependents
            if i < late[0]
            and self.relations[i] not in _SUBJECTS | {"mark", "advcl", "cc", "discourse", "vocative"}
        ]
        inside = [i for i in own if i < head or self.relations[i] in (*_TIGHT, "nmod", "obl")]
        subjects = [i for i in dependents if self.relations[i] in _SUBJECTS]
        before = min([*subjects, *late])
        inside = [i for i in inside if i < before]
        front = self._plain_phrase(head, "root", frozenset(i for i in self.below[head] if i not in inside))
        if isinstance(front, int):
            front = _Phrase(self._category(self.tags[front]), [front])
        rest = [i for i in dependents if i not in inside]
        items = sorted((self._dependent(i) for i in rest), key=_start)
        left = [item for item in [*items, front] if _start(item) < late[0]]
        left.sort(key=_start)
        last = late[-1]
        between = [item for item in items if late[0] < _start(item) < last]
        behind = [item for item in items if _start(item) > last]
        inverted = any(
            _start(item) > late[0] for item in items for i in subjects if _start(item) <= i <= _end(item)
        )
        if inverted:
            cut = [*late[:1], *sorted([*between, *late[1:], *behind], key=_start)]
            return _Clause(left, _Phrase("VP-SPLIT", list(cut)), [], True, True, self.tags[late[0]])
        phrase = self._nest_verbs(list(late), between, behind, (), False)
        if conjuncts:
            phrase = self._coordinate_verbs(phrase, conjuncts)
        return _Clause(left, phrase, [], bool(subjects), False, self.tags[late[0]])

    def _split_right(self, behind: Sequence[_Item], dependents: Sequence[int]) -> list[_Item]:
        """Return the last items behind a verb that do not belong to its verb phrase."""
        relation = {i: self.relations[i] for i in dependents}
        right: list[_Item] = []
        for item in reversed(behind):
            own = [relation[i] for i in dependents if _start(item) <= i <= _end(item)]
            if not own or not set(own) <= _OUTER:
                break
            right.insert(0, item)
        return right

    def _predicate(
        self, head: int, verbs: Sequence[int], dependents: Sequence[int], conjuncts: Sequence[int]
    ) -> tuple[_Item, list[int]]:
        """Return the predicate of a clause with "to be", or without a verb, and the dependents left over."""
        before = verbs[-2] if len(verbs) > 1 else -1
        subjects = [i for i in dependents if self.relations[i] in _SUBJECTS]
        before = max([before, *(i for i in subjects if i < head)])
        is_adjective = self.tags[head] in _ADJECTIVE_TAGS | _ADVERB_TAGS | {"VBN", "VBG"}
        own = []
        for i in dependents:
            relation = self.relations[i]
            if relation in _CLAUSE_ONLY or relation == "cc":
                continue
            if i < head:
                inside = i > before and not (relation == "advmod" and self.words[i] in ("not", "n't"))
                if inside and relation == "advmod" and not is_adjective:
                    inside = any(j < i for j in dependents if j > before and self.relations[j] != "advmod")
            elif is_adjective:
                inside = relation in (
                    "obl",
                    "xcomp",
                    "ccomp",
                    "fixed",
                    "flat",
                    "goeswith",
                    "advmod",
                    "nmod",
                    "det",
                )
                inside = inside or relation.startswith("advcl") or relation.startswith("nmod")
            else:
                inside = relation not in ("advmod", "xcomp", "ccomp", "obl", "obl:unmarked")
            if inside:
                own.append(i)
        # a constituent has no gaps: what is behind a dependent of the clause is not in the predicate either
        outside = [i for i in dependents if i not in own]
        own = [i for i in own if i < head or not any(head < j < i for j in outside)]
        own = [i for i in own if i > head or not any(i < j < head for j in outside)]
        excluded = frozenset(i for i in self.below[head] if i not in own and i not in conjuncts)
        return self._plain_phrase(head, "pred", excluded), [i for i in dependents if i not in own]

    def _nest_verbs(
        self,
        words: Sequence[_Item],
        between: Sequence[_Item],
        behind: Sequence[_Item],
        conjuncts: Sequence[int],
        inverted: bool,
    ) -> _Phrase:
        """Return nested verb phrases, one for each verb of the chain."""
        predicate = words[-1]
        in_verb = isinstance(predicate, int) and self.tags[predicate] in VERB_TAGS | {"TO"}
        phrase: _Phrase | None = None
        if in_verb:
            phrase = _Phrase("VP", [predicate, *behind])
            if conjuncts:
                phrase = self._coordinate_verbs(phrase, conjuncts)
            rest = list(words[:-1])
        else:
            rest = list(words[:-1])
            if isinstance(predicate, int):
                predicate = _Phrase(self._category(self.tags[predicate]), [predicate])
            if not rest:
                return _Phrase("PRED", [predicate, *behind]) if behind else predicate
            last = rest.pop()
            mine = [item for item in between if _start(item) > _start(last)]
            if inverted and not rest:
                return _Phrase("VP-SPLIT", [last, *mine, predicate, *behind])
            phrase = _Phrase("VP", [last, *mine, predicate, *behind])
            between = [item for item in between if item not in mine]
        for n, verb in enumerate(reversed(rest)):
            mine = [item for item in between if _start(item) > _start(verb) and _start(item) < phrase.start]
            split = inverted and n == len(rest) - 1
            phrase = _Phrase("VP-SPLIT" if split else "VP", [verb, *mine, phrase])
        return phrase

    def _coordinate_verbs(self, first: _Phrase, conjuncts: Sequence[int]) -> _Phrase:
        """Return verb phrases joined by conjunctions."""
        first = _Phrase("VP", first.children) if first.label == "VP-SPLIT" else first
        items: list[_Item] = [first]
        for i in conjuncts:
            coordinators = self._coordinators(i)
            items += self._leaves(coordinators)
            clause = self._coordinated_clause(i, frozenset(coordinators))
            phrase = clause.verb_phrase
            if clause.left or clause.right or phrase.label == "VP-SPLIT":
                label = "VP" if phrase.label in ("VP", "VP-SPLIT") else phrase.label
                phrase = self._ordered(label, [*clause.left, *phrase.children, *clause.right])
            items.append(phrase)
        return self._ordered(self._joint_label(items), items)

    # other phrases ------------------------------------------------------------------------------------

    def _category(self, tag: str) -> str:
        if tag in _ADJECTIVE_TAGS:
            return "ADJP"
        if tag in _ADVERB_TAGS:
            return "WHADVP" if tag == "WRB" else "ADVP"
        if tag in VERB_TAGS:
            return "VP"
        return {"IN": "PP", "TO": "PP", "RP": "PRT", "UH": "INTJ", "CC": "CONJP", "WP": "WHNP"}.get(tag, "NP")

    def _dependent(self, word: int) -> _Item:
        """Return the constituent of a dependent in a clause."""
        relation, tag = self.relations[word], self.tags[word]
        if relation in ("mark", "cc", "cc:preconj", "case", "fixed", "goeswith"):
            leaves = self._leaves([word])
            if len(leaves) == 1:
                return leaves[0]
            return _Phrase(
                "CONJP" if relation.startswith("cc") else "PP" if relation == "case" else "X-FLAT", leaves
            )
        if relation == "compound:prt" and not self.below[word]:
            return _Phrase("PRT", [word])
        if relation == "advmod" and not self.below[word] and self.words[word] in ("not", "n't"):
            return word
        item = self.phrase(word, relation)
        if isinstance(item, int):
            label = self._category(tag)
            if relation in _NOMINAL and label not in ("NP", "WHNP"):
                label = "NP"
            if relation == "advmod" and label in ("PP", "NP", "VP", "ADJP", "CONJP"):
                label = "ADVP"
            item = _Phrase(label, [item])
        return item

    def _leaves(self, heads: Sequence[int]) -> list[_Item]:
        """Return the words of function words and all below them."""
        words = list(heads)
        for word in words:
            words += [i for i in self.below[word] if i not in words]
        return list(sorted(words))

    def _coordinators(self, conjunct: int) -> list[int]:
        """Return the conjunctions that stand before a conjunct."""
        return [i for i in self.below[conjunct] if self.relations[i] == "cc" and i < conjunct]

    def _plain_phrase(self, head: int, relation: str, without: frozenset[int]) -> _Item:
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
        if tag in _WH_TAGS and len(relatives) == 1 and relatives[0] > head:
            return self._free_relative(head, dependents, relatives[0])
        is_noun = tag in _NOUN_TAGS or relation in _NOMINAL or (tag in VERB_TAGS and relation != "amod")
        if any(self.relations[i] in ("det", "nmod:poss", "amod") for i in dependents):
            is_noun = True
        if is_noun:
            return self._noun_phrase(head, relation, dependents)
        if not dependents:
            return head
        items = [self._inside(i) for i in dependents]
        label = "ADJP" if tag in VERB_TAGS else self._category(tag)
        return self._ordered(label, [head, *items])

    def _inside(self, word: int) -> _Item:
        """Return a dependent within a phrase: one word is left bare."""
        if (
            not self.below[word]
            and self.relations[word] not in _NOMINAL
            and self.relations[word] not in _CLAUSE_ONLY
        ):
            if self.relations[word] in ("ccomp", "xcomp", "acl", "acl:relcl", "obl", "parataxis"):
                return self._dependent(word)
            return word
        return self._dependent(word)

    def _prepositional(
        self, head: int, relation: str, without: frozenset[int], cases: list[int], conjuncts: list[int]
    ) -> _Item:
        """Return a prepositional phrase, or several joined by conjunctions."""
        others = [i for i in conjuncts if any(self.relations[j] == "case" for j in self.below[i])]
        if conjuncts and others == conjuncts:  # each has its own preposition
            first = self._prepositional(head, relation, without | frozenset(conjuncts), cases, [])
            return self._joined(first, conjuncts)
        early = [i for i in self.below[head] if i < cases[0] and i not in without]
        inner = self._plain_phrase(head, "nmod", without | frozenset(cases) | frozenset(early))
        if isinstance(inner, int):
            label = self._category(self.tags[inner])
            inner = _Phrase("NP" if label in ("VP", "PP", "PRT", "CONJP") else label, [inner])
        phrase: _Item = inner
        for case in reversed(cases):
            leaves = self._leaves([case])
            phrase = _Phrase("PP", [*leaves, phrase])
        if early:
            assert isinstance(phrase, _Phrase)
            phrase = self._ordered("PP", [*(self._dependent(i) for i in early), *phrase.children])
        return phrase

    def _coordination(self, head: int, relation: str, without: frozenset[int], conjuncts: list[int]) -> _Item:
        """Return phrases joined by conjunctions; plain words are joined without phrases of their own."""
        last = conjuncts[-1]
        late = [i for i in self.below[head] if i > conjuncts[0] and i not in conjuncts and i not in without]
        own = [i for i in self.below[head] if i not in without and i not in conjuncts and i not in late]
        simple = all(set(self.below[i]) == set(self._coordinators(i)) for i in conjuncts)
        simple = simple and all(i < head for i in own) and all(self._alike(head, i) for i in conjuncts)
        excluded = without | frozenset(conjuncts) | frozenset(late)
        if simple:
            first = self._plain_phrase(head, relation, excluded)
            label = _label(first) or self._category(self.tags[head])
            if label in ("VP", "PP") and isinstance(first, int):
                label = "ADJP" if relation == "amod" else "NP"
            items: list[_Item] = [first] if isinstance(first, int) else list(first.children)
            for i in conjuncts:
                items += [*self._leaves(self._coordinators(i)), i]
            whole: _Item = self._ordered(label, items)
        else:
            first = self._plain_phrase(head, relation, excluded)
            if isinstance(first, int):
                label = self._category(self.tags[first])
                first = _Phrase("NP" if relation in _NOMINAL and label != "WHNP" else label, [first])
            whole = self._joined(first, conjuncts, relation)
        if late:
            items = [self._dependent(i) for i in late]
            assert isinstance(whole, _Phrase)
            if all(i > last for i in late) and whole.label == "NP":
                whole = self._ordered("NP", [whole, *items])
            else:
                whole = self._ordered(whole.label, [*whole.children, *items])
        return whole

    def _alike(self, head: int, other: int) -> bool:
        return self._category(self.tags[head]) == self._category(self.tags[other])

    def _joined(self, first: _Item, conjuncts: Sequence[int], relation: str = "conj") -> _Phrase:
        """Return the phrases of conjuncts behind the first one, with their conjunctions."""
        items: list[_Item] = [first]
        for i in conjuncts:
            coordinators = self._coordinators(i)
            items += self._leaves(coordinators)
            nominal = relation if relation in _NOMINAL else "conj"
            item = self.phrase(i, nominal, frozenset(coordinators))
            if isinstance(item, int):
                label = self._category(self.tags[item])
                item = _Phrase("NP" if relation in _NOMINAL and label != "WHNP" else label, [item])
            items.append(item)
        return self._ordered(self._joint_label(items), items)

    def _joint_label(self, items: Sequence[_Item]) -> str:
        labels = {
            "NP" if item.label in ("NML", "QP") else item.label for item in items if not isinstance(item, int)
        }
        labels -= {"CONJP", "PRN", "X-FLAT", "INTJ"}
        if labels <= {"S", "SQ", "SBARQ", "SINV"}:
            return "S"
        return labels.pop() if len(labels) == 1 else "UCP"

    def _free_relative(self, head: int, dependents: Sequence[int], relative: int) -> _Item:
        """Return a free relative clause, such as "what you said"."""
        clause = self._coordinated_clause(relative, frozenset())
        rest = [self._inside(i) for i in dependents if i != relative]
        label = "WHADVP" if self.tags[head] == "WRB" else "WHNP"
        items = [item for item in rest if _start(item) < relative]
        late = [item for item in rest if _start(item) > relative]
        wh = self._ordered(label, [head, *items])
        return self._ordered("SBAR", [wh, self._sentence("S", clause.left, clause), *late])

    def _noun_phrase(self, head: int, relation: str, dependents: Sequence[int]) -> _Item:
        """Return a noun phrase: the noun with what precedes it, then its modifiers."""
        base: list[_Item] = [head]
        outer: list[_Item] = []
        last = head
        blocked = False
        for i in sorted(dependents):
            kind = self.relations[i]
            if i < head:
                if kind in _CLAUSE_ONLY or kind in ("advcl", "cc", "nmod", "obl", "ccomp", "xcomp"):
                    outer.append(self._dependent(i))
                else:
                    base.append(self._premodifier(i))
            elif not blocked and (kind in _TIGHT or self.tags[i] == "POS"):
                base += self._leaves([i])
                last = i
            else:
                blocked = True
                outer.append(self._postmodifier(i, kind))
        if not base[1:] and not outer and relation in ("compound", "nummod", "det", "amod", "flat"):
            return head
        starts = [_start(item) for item in outer]
        wedged = [item for item in outer if min(map(_start, base)) < _start(item) < last]
        if wedged:
            base += wedged
            outer = [item for item in outer if item not in wedged]
        label = self._base_label(head, base, relation)
        inner = self._ordered(label, base)
        if not starts or not outer:
            return inner
        return self._ordered("NP", [inner, *outer])

    def _base_label(self, head: int, base: Sequence[_Item], relation: str) -> str:
        if relation == "compound" and self.tags[head] not in ("CD",):
            return "NML"
        if self.tags[head] == "CD" and relation in ("nummod", "compound"):
            return "QP"
        if self.tags[head] in ("WP", "WDT"):
            return "WHNP" if relation in ("root", "pred") else "NP"
        return "NP"

    def _premodifier(self, word: int) -> _Item:
        """Return a dependent before the noun; single words stay bare."""
        kind, tag = self.relations[word], self.tags[word]
        if kind == "nmod:poss" and tag != "PRP$" and tag != "WP$":
            item = self.phrase(word, "nmod:poss")
            return _Phrase("NP", [item]) if isinstance(item, int) else item
        if not self.below[word]:
            return word
        if kind in ("det", "det:predet"):
            leaves = self._leaves([word])
            return _Phrase("QP" if tag == "CD" else "ADJP" if tag in _ADJECTIVE_TAGS else "NP", leaves)
        if kind in ("case", "cc:preconj"):
            return self._dependent(word)
        item = self.phrase(word, kind)
        if not isinstance(item, int) and item.label == "NP" and kind == "compound":
            item.label = "NML"
        return item

    def _postmodifier(self, word: int, kind: str) -> _Item:
        item = self._dependent(word)
        if not isinstance(item, int) and item.label == "VP" and kind == "conj":
            item = _Phrase("S", [item])
        return item

    def _ordered(self, label: str, items: Sequence[_Item]) -> _Phrase:
        return _Phrase(label, sorted(items, key=_start))

    # punctuation --------------------------------------------------------------------------------------

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

    def _put_pair(self, root: _Phrase, opening: int, closing: int) -> None:
        """Put a pair of marks around whole constituents, into the same phrase; brackets form PRN.

        If no phrase has only whole children between them, they are left to `_put_mark`.
        """
        node = root
        while True:
            inside = [
                k for k, item in enumerate(node.children) if opening < _start(item) and _end(item) < closing
            ]
            below = [item for item in node.children if not isinstance(item, int)]
            around = [item for item in below if item.start < opening and item.end > closing]
            partly = [
                item
                for item in below
                if item.start < opening < item.end <= closing or opening <= item.start < closing < item.end
            ]
            if around or (len(partly) == 1 and not inside):
                node = [*around, *partly][0]
                continue
            break
        if partly or not inside:
            return
        is_bracket = self.tags[opening] == "-LRB-"
        first, last = inside[0], inside[-1] + 1
        if is_bracket and not (node is root and last - first == len(node.children)):
            node.children[first:last] = [_Phrase("PRN", [opening, *node.children[first:last], closing])]
        else:
            node.children[first:last] = [opening, *node.children[first:last], closing]
        self.marks = [i for i in self.marks if i not in (opening, closing)]

    def _put_mark(self, root: _Phrase, mark: int) -> None:
        """Attach a mark to the lowest constituent that contains both words beside it, else to the root.

        A full stop or question mark behind a clause that something else follows belongs to that clause.
        """
        node = root
        if node.start < mark < node.end:
            while True:
                around = [
                    item
                    for item in node.children
                    if not isinstance(item, int) and item.start < mark < item.end
                ]
                if not around:
                    break
                node = around[0]
        place = sum(_start(item) < mark for item in node.children)
        before = node.children[place - 1] if place else mark
        is_inside = self.tags[mark] == "." and place < len(node.children)
        if is_inside and not isinstance(before, int) and before.label in _CLAUSES:
            before.children.append(mark)
        else:
            node.children.insert(place, mark)
