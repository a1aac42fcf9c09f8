"""Convert dependency trees (Universal Dependencies, English) into phrase structure.

A constituent is the projection of a head word: NP for nouns, VP and S for verbs, PP for nouns with a
preposition, ADJP and ADVP for adjectives and adverbs (Xia and Palmer, Converting Dependency Structures to
Phrase Structures, HLT 2001). Universal Dependencies make the predicate the head of a clause and the noun the
head of a prepositional phrase, so verbs "to be", auxiliaries, prepositions and conjunctions, which are
dependents there, get their projections here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from disambig.api import UserError

from ._phrases import (
    ADJECTIVE_TAGS,
    ADVERB_TAGS,
    CLAUSE_ONLY,
    SUBJECTS,
    TIGHT,
    VERB_TAGS,
    WH_TAGS,
    MarkPlacer,
    PhraseBuilder,
    PhraseItem,
    TreePhrase,
    close_gaps,
    contains_any,
    first_word,
    item_label,
    last_word,
    list_words,
    penn_punctuation,
    spell_word,
    tidy_phrase,
)
from .tree import TOP, Tree

_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_WH_LABELS = {"NP": "WHNP", "ADVP": "WHADVP", "PP": "WHPP", "ADJP": "WHADJP"}
_AUXILIARIES = frozenset({"aux", "aux:pass", "cop"})
_OUTER = frozenset("parataxis discourse vocative list dislocated reparandum".split())
"""Relations of dependents outside of the verb phrase at the end of a clause."""
_SUBORDINATORS = frozenset(
    "while when although though if whether unless because that lest once whereas".split()
)
"""Conjunctions that form SBAR even without a finite verb; others form PP then: "by leaving"."""
_NO_CLAUSE = frozenset({"amod", "compound", "case", "fixed", "flat", "cc"})
"""Relations of verbs that are not predicates of a clause."""
_IN_ADJECTIVE_PHRASE = frozenset("obl xcomp ccomp fixed flat goeswith advmod nmod det".split())
"""Relations of dependents after a predicative adjective that belong to its phrase."""
_OPERATORS = frozenset(
    "am are is was were 's 're 'm have has had do does did will would can could shall should may might must "
    "wo ca ai sha".split()
)
"""Verbs that can precede their subject in a question."""


@dataclass(slots=True)
class _Clause:
    """The pieces of a clause: what precedes its verb phrase, that, and what follows."""

    left: list[PhraseItem]
    verb_phrase: TreePhrase
    right: list[PhraseItem]
    has_subject: bool
    inverted: bool = False
    verb_tag: str = ""


def lift_heads(heads: Sequence[int]) -> list[int]:
    """Return projective heads: a word whose arc crosses another gets its head's head, shortest arcs first.

    `heads` gives the index of the head of each word, -1 for the root.
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
                raise ValueError(f"the heads of word {word + 1} form a cycle or leave the sentence")


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
    spelt = [spell_word(word, tag) for word, tag in zip(words, tags, strict=True)]

    def make(item: PhraseItem) -> Tree:
        if isinstance(item, int):
            return Tree(tags[item], (), spelt[item])
        return Tree(item.label, tuple(make(child) for child in item.children))

    return Tree(TOP, (make(root),))


def read_dependency_trees(
    sentences: Iterable[tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[str]]],
) -> Iterator[Tree]:
    """Yield the phrase structure of sentences, given as words, tags, heads and relations.

    Raises D634 for heads that do not form a tree.
    """
    for number, (words, tags, heads, relations) in enumerate(sentences, 1):
        try:
            yield tree_from_dependencies(words, tags, heads, relations)
        except ValueError as problem:
            raise UserError("D634", n=number, problem=str(problem)) from None


class _Converter(PhraseBuilder):
    """Builds the phrase structure of one sentence."""

    def convert(self) -> TreePhrase:
        """Return the phrase of the whole sentence."""
        root = self.phrase(self.root, "root")
        if isinstance(root, int):
            root = TreePhrase(self._category(self.tags[root]), [root])
        if root.label == "VP":
            root = TreePhrase("S", [root])
        clause_labels = ("S", "SQ", "SBARQ", "SINV", "SBAR", "FRAG", "INTJ", "X")
        if self.marks and root.label not in clause_labels:
            root = TreePhrase("FRAG", [root])
        words = [i for i in range(len(self.words)) if i not in set(self.marks)]
        root = close_gaps(root, {word: rank for rank, word in enumerate(words)})
        tidy_phrase(root)
        lost = set(words) - set(list_words(root))
        MarkPlacer(root, self.tags, sorted({*self.marks, *lost})).place()
        return root

    def is_clause(self, head: int, relation: str) -> bool:
        """Return True if a word is the predicate of a clause."""
        relations = {self.relations[i] for i in self.below[head]}
        if relations & (SUBJECTS | _AUXILIARIES):
            return True
        if self.tags[head] not in VERB_TAGS or relation in _NO_CLAUSE:
            return False
        return not (relations & {"det", "nmod:poss", "amod"} and self.tags[head] in ("VBG", "VBN"))

    def phrase(self, head: int, relation: str, without: frozenset[int] = frozenset()) -> PhraseItem:
        """Return the constituent of a word and its dependents, except some of them."""
        if self.is_clause(head, relation):
            return self._clause_phrase(head, relation, without)
        marks = [i for i in self.below[head] if self.relations[i] == "mark" and i not in without]
        outer = [i for i in self.below[head] if self.relations[i] in CLAUSE_ONLY and i not in without]
        if not outer:
            return self._plain_phrase(head, relation, without)
        inner = self._plain_phrase(head, relation, without | frozenset(outer))
        if isinstance(inner, int):
            inner = TreePhrase(self._category(self.tags[inner]), [inner])
        if marks and len(outer) == len(marks):  # "if possible", "as usual", "than before"
            label = "SBAR" if self.words[marks[0]] in _SUBORDINATORS else "PP"
            return self._ordered(label, [*self._leaves(marks), inner])
        items = [inner, *(self._dependent(i) for i in outer if i not in marks), *self._leaves(marks)]
        if relation != "root" or inner.label == "INTJ":  # a modifier of a phrase stays in it
            return self._ordered(inner.label, items)
        return self._ordered("FRAG", items)

    def _clause_phrase(self, head: int, relation: str, without: frozenset[int]) -> TreePhrase:
        """Return the constituent of a clause: S, SQ, SBARQ, SINV, SBAR, VP or PP."""
        clause = self._coordinated_clause(head, without)
        marks = [i for i in self.below[head] if self.relations[i] == "mark" and self.tags[i] != "TO"]
        marks = [i for i in marks if i not in without and i < clause.verb_phrase.start]
        question = self._wh_item(clause.left)
        # the last subordinating conjunction in front of the subject
        conjunction = max((i for i, item in enumerate(clause.left) if contains_any(item, marks)), default=-1)
        if conjunction >= 0:
            front, rest = clause.left[: conjunction + 1], clause.left[conjunction + 1 :]
            is_gerund = clause.verb_tag == "VBG" and not clause.has_subject
            label = "PP" if is_gerund and self.words[marks[-1]] not in _SUBORDINATORS else "SBAR"
            return TreePhrase(label, [*front, self._sentence("S", rest, clause)])
        if question >= 0:
            front, rest = clause.left[: question + 1], clause.left[question + 1 :]
            direct = clause.inverted or (self.is_question and relation in ("root", "parataxis", "conj"))
            subjects = [i for i in self.below[head] if self.relations[i] in SUBJECTS]
            has_subject = any(contains_any(item, subjects) for item in rest)
            is_yes_no = direct and (clause.inverted or not has_subject)
            inner = self._sentence("SQ" if is_yes_no else "S", rest, clause)
            return TreePhrase("SBARQ" if direct else "SBAR", [*front, inner])
        if clause.inverted:
            asks = self.is_question and relation in ("root", "parataxis", "conj", "ccomp")
            starts = clause.verb_phrase.label == "VP-SPLIT" and not clause.left
            label = "SQ" if asks or starts else "SINV"
            return self._sentence(label, clause.left, clause)
        is_participle = clause.verb_tag in ("VBN", "VBG", "JJ") and not clause.has_subject
        if relation == "acl" and is_participle and not clause.right:
            return self._ordered("VP", [*clause.left, *clause.verb_phrase.children])
        sentence = self._sentence("S", clause.left, clause)
        finite = clause.has_subject and clause.verb_tag in _FINITE
        if relation in ("acl:relcl", "advcl:relcl") and clause.has_subject:
            return TreePhrase("SBAR", [sentence])
        if relation == "ccomp" and finite and head > self.heads[head] and not self._has_quote(head):
            return TreePhrase("SBAR", [sentence])
        return sentence

    def _has_quote(self, head: int) -> bool:
        """Return True if a quotation mark or a colon is between a clause and the verb that it depends on."""
        start, end = sorted((head, self.heads[head]))
        return any(start < i < end and self.tags[i] in ("``", "''", ":", ",") for i in self.marks)

    def _sentence(self, label: str, left: Sequence[PhraseItem], clause: _Clause) -> TreePhrase:
        """Return a clause with its subject; the pieces of a split verb phrase stand beside the subject."""
        verbs = clause.verb_phrase
        middle = verbs.children if verbs.label == "VP-SPLIT" else [verbs]
        wholes = [item for item in clause.right if item_label(item) in ("S", "SQ", "SBARQ", "SINV", "FRAG")]
        if label in ("S", "SINV", "SQ") and wholes:  # two clauses side by side: "I won; you lost."
            first = clause.right.index(wholes[0])
            inner = TreePhrase(label, [*left, *middle, *clause.right[:first]])
            return TreePhrase("S", [inner, *clause.right[first:]])
        return TreePhrase(label, [*left, *middle, *clause.right])

    def _wh_item(self, left: list[PhraseItem]) -> int:
        """Return the position of the interrogative or relative phrase of a clause, relabelled; -1 if none."""
        for i, item in enumerate(left):
            start = first_word(item)
            if isinstance(item, int):
                if self.tags[item] in WH_TAGS:
                    left[i] = TreePhrase("WHADVP" if self.tags[item] == "WRB" else "WHNP", [item])
                    return i
                continue
            places = [start] if item.label != "PP" else [start, min(start + 1, item.end)]
            if item.label in _WH_LABELS and any(self.tags[place] in WH_TAGS for place in places):
                item.label = self._degree_label(item) or _WH_LABELS[item.label]
                self._relabel_edge(item)
                return i
            if item.label in _WH_LABELS.values():
                return i
        return -1

    def _degree_label(self, item: TreePhrase) -> str:
        """Return the label of "how" with an adjective or adverb; empty for other phrases.

        "How much" stays a noun phrase, as "much" is without "how".
        """
        last = item.children[-1]
        if (
            self.tags[item.start] != "WRB"
            or not isinstance(last, int)
            or self.words[last] in ("much", "many")
        ):
            return ""
        return {"ADJP": "WHADJP", "ADVP": "WHADVP"}.get(self._category(self.tags[last]), "")

    def _relabel_edge(self, item: TreePhrase) -> None:
        """Relabel the phrases around an interrogative word in a phrase: "how many" in "how many days"."""
        inner = item.children[-1] if item.label == "WHPP" else item.children[0]
        while not isinstance(inner, int) and self.tags[inner.start] in WH_TAGS and inner.label in _WH_LABELS:
            inner.label = _WH_LABELS[inner.label]
            inner = inner.children[0]

    def _coordinated_clause(self, head: int, without: frozenset[int]) -> _Clause:
        """Return the pieces of a clause with its coordinated verb phrases and clauses."""
        conjuncts = [i for i in self.below[head] if self.relations[i] == "conj" and i not in without]
        # the verbs in order, with "to" of an infinitive; the predicate comes last
        verbs = [i for i in self.below[head] if self.relations[i] in _AUXILIARIES or self._is_to(i)]
        chain = [*sorted(i for i in verbs if i not in without), head]
        inner: list[int] = []
        outer: list[int] = []
        clauses: list[int] = []
        for i in conjuncts:
            relations = {self.relations[j] for j in self.below[i]}
            if clauses or relations & SUBJECTS:
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
        lead = clause.left[:cut]
        first = self._sentence("S", clause.left[cut:], clause)
        if item_label(second) in ("SBAR", "SBARQ") and lead:
            lead, first = [], TreePhrase("SBAR", [*lead, first])
        whole = TreePhrase("S-LIST", [first, *self._leaves(coordinators), second])
        return _Clause(lead, whole, [], True, False, clause.verb_tag)

    def _shares_auxiliary(self, head: int, chain: Sequence[int], conjunct: int) -> bool:
        """Return True if a conjunct shares the auxiliary of the first verb, or its verb "to be"."""
        relations = {self.relations[i] for i in self.below[conjunct]}
        if relations & _AUXILIARIES or any(self._is_to(i) for i in self.below[conjunct]):
            return False
        if self.tags[head] not in VERB_TAGS:
            return self.tags[conjunct] not in _FINITE
        return len(chain) > 1 and self.tags[conjunct] == self.tags[head]

    def _is_to(self, word: int) -> bool:
        return self.relations[word] == "mark" and self.tags[word] == "TO"

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
        predicate: PhraseItem = head
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
        items = sorted((self._dependent(i) for i in dependents), key=first_word)
        words: list[PhraseItem] = [*verbs[:-1], predicate]
        first, last = first_word(words[0]), last_word(words[-1])
        left = [item for item in items if first_word(item) < first]
        behind = [item for item in items if first_word(item) > last]
        between = [item for item in items if first < first_word(item) < last]
        expletive = any(self.relations[i] == "expl" and i > head for i in dependents)  # "is there a way"
        asks = not left and (self.is_question or expletive)
        is_tag = asks and self.words[head] in _OPERATORS  # "do you?", "isn't it?"
        late_subject = self._late_subject(behind, dependents, is_tag)
        if late_subject == 0 or (late_subject > 0 and is_tag):  # "said the boy"
            phrase = self._nest_verbs(words, between, (), inner, False)
            phrase.label = "VP-SPLIT" if is_tag else phrase.label
            return _Clause(left, phrase, behind, True, True, self.tags[verbs[0]])
        right = self._split_right(behind, dependents)
        behind = behind[: len(behind) - len(right)]
        subject = {i for i in dependents if self.relations[i] in SUBJECTS}
        is_inverted = any(contains_any(item, subject) for item in between)
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
        fronted = [
            i
            for i in dependents
            if i < late[0]
            and self.relations[i] not in SUBJECTS | {"mark", "advcl", "cc", "discourse", "vocative"}
        ]
        inside = [i for i in fronted if i < head or self.relations[i] in (*TIGHT, "nmod", "obl")]
        subjects = [i for i in dependents if self.relations[i] in SUBJECTS]
        before = min([*subjects, *late])
        inside = [i for i in inside if i < before]
        front = self._plain_phrase(head, "root", frozenset(i for i in self.below[head] if i not in inside))
        if isinstance(front, int):
            front = TreePhrase(self._category(self.tags[front]), [front])
        items = sorted((self._dependent(i) for i in dependents if i not in inside), key=first_word)
        left = sorted((item for item in [*items, front] if first_word(item) < late[0]), key=first_word)
        last = late[-1]
        between = [item for item in items if late[0] < first_word(item) < last]
        behind = [item for item in items if first_word(item) > last]
        if any(first_word(item) > late[0] and contains_any(item, subjects) for item in items):  # inverted
            if len(late) > 1:  # "what would be the price"
                phrase = self._nest_verbs(
                    late[1:], [i for i in between if first_word(i) > late[1]], behind, (), False
                )
                between = [item for item in between if first_word(item) < late[1]]
                behind = [phrase]
            split = TreePhrase("VP-SPLIT", [late[0], *between, *behind])
            return _Clause(left, split, [], True, True, self.tags[late[0]])
        phrase = self._nest_verbs(list(late), between, behind, (), False)
        if conjuncts:
            phrase = self._coordinate_verbs(phrase, conjuncts)
        return _Clause(left, phrase, [], bool(subjects), False, self.tags[late[0]])

    def _late_subject(self, behind: Sequence[PhraseItem], dependents: Sequence[int], is_tag: bool) -> int:
        """Return the position of the subject after a verb and its negation, -1 if it is not there.

        In a question an expletive is the subject ("is there a way", "isn't it"); elsewhere it is in front.
        """
        subjects = [i for i in dependents if self.relations[i] == "expl"]
        if subjects and not is_tag:
            return -1
        subjects = subjects or [i for i in dependents if self.relations[i] in ("nsubj", "nsubj:pass")]
        place = next((i for i, item in enumerate(behind) if item_label(item)), len(behind))
        return place if any(contains_any(item, subjects) for item in behind[place : place + 1]) else -1

    def _split_right(self, behind: Sequence[PhraseItem], dependents: Sequence[int]) -> list[PhraseItem]:
        """Return the last items after a verb that do not belong to its verb phrase."""
        right: list[PhraseItem] = []
        for item in reversed(behind):
            relations = {self.relations[i] for i in dependents if contains_any(item, [i])}
            if not relations or not relations <= _OUTER:
                break
            right.insert(0, item)
        return right

    def _predicate(
        self, head: int, verbs: Sequence[int], dependents: Sequence[int], conjuncts: Sequence[int]
    ) -> tuple[PhraseItem, list[int]]:
        """Return the predicate of a clause with "to be", or without a verb, and the dependents left over."""
        before = verbs[-2] if len(verbs) > 1 else -1
        subjects = [i for i in dependents if self.relations[i] in SUBJECTS]
        before = max([before, *(i for i in subjects if i < head)])
        is_adjective = self.tags[head] in ADJECTIVE_TAGS | ADVERB_TAGS | {"VBN", "VBG"}
        predicate_parts = []
        for i in dependents:
            relation = self.relations[i]
            if relation in CLAUSE_ONLY or relation == "cc":
                continue
            if i < head:
                inside = i > before and not (relation == "advmod" and self.words[i] in ("not", "n't"))
                if inside and relation == "advmod" and not is_adjective:
                    inside = any(j < i for j in dependents if j > before and self.relations[j] != "advmod")
            elif is_adjective:
                inside = relation in _IN_ADJECTIVE_PHRASE or relation.startswith(("advcl", "nmod"))
            else:
                inside = relation not in ("advmod", "xcomp", "ccomp", "obl", "obl:unmarked")
            if inside:
                predicate_parts.append(i)
        # a constituent has no gaps: what is after a dependent of the clause is not in the predicate either
        outside = [i for i in dependents if i not in predicate_parts]
        predicate_parts = [i for i in predicate_parts if i < head or not any(head < j < i for j in outside)]
        predicate_parts = [i for i in predicate_parts if i > head or not any(i < j < head for j in outside)]
        excluded = frozenset(i for i in self.below[head] if i not in predicate_parts and i not in conjuncts)
        return self._plain_phrase(head, "pred", excluded), [i for i in dependents if i not in predicate_parts]

    def _nest_verbs(
        self,
        words: Sequence[PhraseItem],
        between: Sequence[PhraseItem],
        behind: Sequence[PhraseItem],
        conjuncts: Sequence[int],
        inverted: bool,
    ) -> TreePhrase:
        """Return nested verb phrases, one for each verb of the chain."""
        predicate = words[-1]
        rest = list(words[:-1])
        if isinstance(predicate, int) and self.tags[predicate] in VERB_TAGS | {"TO"}:
            phrase = TreePhrase("VP", [predicate, *behind])
            if conjuncts:
                phrase = self._coordinate_verbs(phrase, conjuncts)
        else:
            if isinstance(predicate, int):
                predicate = TreePhrase(self._category(self.tags[predicate]), [predicate])
            if not rest:
                return TreePhrase("PRED", [predicate, *behind]) if behind else predicate
            last = rest.pop()
            mine = [item for item in between if first_word(item) > first_word(last)]
            if inverted and not rest:
                return TreePhrase("VP-SPLIT", [last, *mine, predicate, *behind])
            phrase = TreePhrase("VP", [last, *mine, predicate, *behind])
            between = [item for item in between if item not in mine]
        for n, verb in enumerate(reversed(rest)):
            mine = [
                item
                for item in between
                if first_word(item) > first_word(verb) and first_word(item) < phrase.start
            ]
            split = inverted and n == len(rest) - 1
            phrase = TreePhrase("VP-SPLIT" if split else "VP", [verb, *mine, phrase])
        return phrase

    def _coordinate_verbs(self, first: TreePhrase, conjuncts: Sequence[int]) -> TreePhrase:
        """Return verb phrases joined by conjunctions."""
        first = TreePhrase("VP", first.children) if first.label == "VP-SPLIT" else first
        items: list[PhraseItem] = [first]
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

    def _free_relative(self, head: int, dependents: Sequence[int], relative: int) -> PhraseItem:
        """Return a free relative clause, such as "what you said"."""
        clause = self._coordinated_clause(relative, frozenset())
        rest = [self._inside(i) for i in dependents if i != relative]
        label = "WHADVP" if self.tags[head] == "WRB" else "WHNP"
        items = [item for item in rest if first_word(item) < relative]
        late = [item for item in rest if first_word(item) > relative]
        wh = self._ordered(label, [head, *items])
        return self._ordered("SBAR", [wh, self._sentence("S", clause.left, clause), *late])
