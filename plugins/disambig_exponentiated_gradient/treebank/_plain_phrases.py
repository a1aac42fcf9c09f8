"""Phrases of words that are not predicates of a clause: nouns, adjectives, adverbs, prepositions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ._phrases import PUNCTUATION, PhraseItem, TreePhrase, first_word, item_label

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
    """Builds the phrases of a sentence; a subclass adds those of clauses.

    Parameters
    ----------
    heads : sequence of int, length n
        Projective heads, -1 for the root.
    """

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
            leaves = self._leaves([case])
            phrase = TreePhrase("PP", [*leaves, phrase])
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
        simple = simple and all(i < head for i in modifiers) and all(self._alike(head, i) for i in conjuncts)
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

    def _alike(self, head: int, other: int) -> bool:
        return self._category(self.tags[head]) == self._category(self.tags[other])

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
                outer.append(self._postmodifier(i, kind))
        if not base[1:] and not outer and relation in ("compound", "nummod", "det", "amod", "flat"):
            return head
        wedged = [item for item in outer if min(map(first_word, base)) < first_word(item) < last]
        if wedged:
            base += wedged
            outer = [item for item in outer if item not in wedged]
        label = self._base_label(head, relation)
        inner = self._ordered(label, base)
        if not outer:
            return inner
        return self._ordered("NP", [inner, *outer])

    def _base_label(self, head: int, relation: str) -> str:
        """Return the label of a noun with what precedes it."""
        if relation == "compound" and self.tags[head] != "CD":
            return "NML"
        if self.tags[head] == "CD" and relation in ("nummod", "compound"):
            return "QP"
        if self.tags[head] in ("WP", "WDT"):
            return "WHNP" if relation in ("root", "pred") else "NP"
        return "NP"

    def _premodifier(self, word: int) -> PhraseItem:
        """Return a dependent before the noun; single words stay bare."""
        kind, tag = self.relations[word], self.tags[word]
        if kind == "nmod:poss" and tag != "PRP$" and tag != "WP$":
            item = self.phrase(word, "nmod:poss")
            return TreePhrase("NP", [item]) if isinstance(item, int) else item
        if not self.below[word]:
            return word
        if kind in ("det", "det:predet"):
            leaves = self._leaves([word])
            return TreePhrase("QP" if tag == "CD" else "ADJP" if tag in ADJECTIVE_TAGS else "NP", leaves)
        if kind in ("case", "cc:preconj"):
            return self._dependent(word)
        item = self.phrase(word, kind)
        if not isinstance(item, int) and item.label == "NP" and kind == "compound":
            item.label = "NML"
        return item

    def _postmodifier(self, word: int, kind: str) -> PhraseItem:
        item = self._dependent(word)
        if not isinstance(item, int) and item.label == "VP" and kind == "conj":
            item = TreePhrase("S", [item])
        return item

    def _ordered(self, label: str, items: Sequence[PhraseItem]) -> TreePhrase:
        return TreePhrase(label, sorted(items, key=first_word))
