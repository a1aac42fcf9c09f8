"""Derive trees of constructions that the treebank hardly has from its other trees.

The web text of EWT has two tag questions ("It works, doesn't it?") and few quotations before an inverted
verb ("'Help!' cried the boy."). A grammar that is read from it takes the pronoun of a tag, and the subject
after the verb, for an object. So rules of English make tag questions from statements and commands, and put
subjects after verbs of quotations. Only trees of the training part are used, none that is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice

from disambig_exponentiated_gradient.treebank import Tree

N_TAG_QUESTIONS, N_INVERSIONS = 400, 120
"""Numbers of tag questions and of inverted quotations."""
LONGEST = 15
"""Maximum number of words of a statement that gets a tag question."""
_PRONOUNS = frozenset("i you he she it we they".split())
_PRONOUN_OF = {"this": "it", "that": "it", "these": "they", "those": "they", "there": "there"}
_PEOPLE = frozenset("everybody everyone somebody someone nobody".split())
_NEGATIVE = frozenset("n't not never nobody nothing hardly".split())
_FULL = {"'ve": "have", "'re": "are", "'m": "am", "'ll": "will", "ca": "can", "wo": "will"}
_SHORT = {"can": "ca", "will": "wo", "am": "are", "may": "might"}
"""What stands before "n't" for some verbs."""
_OPERATORS = frozenset(
    "am are is was were have has had do does did will would can could should must may might".split()
)
_BE = frozenset("am are is was were".split())
_DO = {"VBZ": "does", "VBP": "do", "VBD": "did"}


def derived_trees(trees: Sequence[Tree]) -> list[Tree]:
    """Return tag questions and inverted quotations that are derived from some of the trees."""
    tagged = [derived for tree in trees if (derived := tag_question(tree)) is not None]
    return [*_spread(tagged, N_TAG_QUESTIONS), *islice(inverted_quotations(trees), N_INVERSIONS)]


def _spread(trees: Sequence[Tree], maximum: int) -> list[Tree]:
    """Return at most this number of trees, at equal distances."""
    return [trees[i * len(trees) // maximum] for i in range(maximum)] if len(trees) > maximum else list(trees)


def _leaf(tag: str, word: str) -> Tree:
    return Tree(tag, (), word)


def tag_question(tree: Tree) -> Tree | None:
    """Return a statement with a question tag, or a command with "will you"; None for other trees."""
    (clause,) = tree.children[:1]
    if clause.label != "S" or len(tree.words()) > LONGEST or clause.children[-1].label != ".":
        return None
    labels = [child.label for child in clause.children[:-1]]
    if labels in (["VP"], ["INTJ", "VP"]):
        question = _tag_of_command(clause.children[-2])
    elif labels in (["NP", "VP"], ["NP", "ADVP", "VP"], ["ADVP", "NP", "VP"]):
        question = _tag_of_statement(clause.children[labels.index("NP")], clause.children[-2])
    else:
        return None
    if question is None:
        return None
    inner = Tree("S", clause.children[:-1])
    return Tree(tree.label, (Tree("S", (inner, _leaf(",", ","), question, _leaf(".", "?"))),))


def _tag_of_command(phrase: Tree) -> Tree | None:
    first, *rest = phrase.children
    if first.label != "VB":
        return None
    lets = (first.word or "").lower() == "let" and bool(rest) and rest[0].words() == ["'s"]
    verb, pronoun = ("shall", "we") if lets else ("will", "you")
    return Tree("SQ", (_leaf("MD", verb), Tree("NP", (_leaf("PRP", pronoun),))))


def _tag_of_statement(subject: Tree, phrase: Tree) -> Tree | None:
    pronoun, verb = _pronoun(subject), phrase.children[0]
    operator = None if verb.word is None else _operator(phrase, verb)
    if pronoun is None or operator is None:
        return None
    words = {word.lower() for word in [*subject.words(), *_near_verb(phrase)]}
    last = _leaf("EX" if pronoun == "there" else "PRP", "I" if pronoun == "i" else pronoun)
    word = operator.word or ""
    if words & _NEGATIVE:
        before = [_leaf(operator.label, word)]
    else:
        before = [_leaf(operator.label, _SHORT.get(word, word)), _leaf("RB", "n't")]
    return Tree("SQ", (*before, Tree("NP", (last,))))


def _pronoun(subject: Tree) -> str | None:
    """Return the pronoun for a subject, None if it is not plain."""
    words, tags = [word.lower() for word in subject.words()], subject.tags()
    if len(words) == 1 and (words[0] in _PRONOUNS or words[0] in _PRONOUN_OF):
        return _PRONOUN_OF.get(words[0], words[0])
    if words[0] in _PEOPLE or tags[-1] in ("NNS", "NNPS"):
        return "they"
    if any(child.word is None for child in subject.children) or "CC" in tags:
        return None
    if tags[-1] == "NNP":  # which of the three it is does not matter for the rules
        return ("he", "she", "it")[sum(map(len, words)) % 3]
    return "it" if tags[-1] == "NN" else None


def _near_verb(phrase: Tree) -> list[str]:
    """Return the words beside the first verb, such as "not"."""
    near = [child for child in phrase.children if child.word is not None or child.label == "ADVP"]
    return [word for child in near for word in child.words()]


def _operator(phrase: Tree, verb: Tree) -> Tree | None:
    """Return the auxiliary of a tag for the first verb of a verb phrase."""
    word = (verb.word or "").lower()
    word = _FULL.get(word, word)
    if word == "'s":
        word = "has" if any(child.words()[0] in ("been", "got") for child in phrase.children[1:]) else "is"
    if word == "'d":
        word = "would" if verb.label == "MD" else "had"
    helps = any(child.label == "VP" for child in phrase.children)
    if word in _BE or (word in _OPERATORS and (helps or verb.label == "MD")):
        return _leaf(verb.label, word)
    return _leaf(verb.label, _DO[verb.label]) if verb.label in _DO else None


def inverted_quotations(trees: Sequence[Tree]) -> Iterator[Tree]:
    """Yield quotations whose subject stands after the verb, as in ``"...," said the boy``.

    Every third ends with an exclamation mark, and every third is a question of the treebank. Pronouns, which
    do not stand after such a verb, are replaced by other subjects.
    """
    quotations = [tree for tree in trees if _is_quotation(tree.children[0])]
    subjects, questions = cycle(_plain_subjects(trees)), cycle(_questions(trees))
    marks = cycle((",", "!", "?"))
    for tree in cycle(quotations):
        opening, clause, comma, closing, _, phrase, stop = tree.children[0].children
        verb, *rest = phrase.children
        mark = next(marks)
        ends = {
            ",": (clause, comma),
            "!": (Tree(clause.label, (*clause.children, _leaf(".", "!"))),),
            "?": (next(questions),),
        }[mark]
        children = (opening, *ends, closing, Tree("VP", (verb,)), next(subjects), *rest, stop)
        yield Tree(tree.label, (Tree("SINV", children),))


def _is_quotation(clause: Tree) -> bool:
    """Return True for a quoted clause in front of its subject and verb."""
    if [child.label for child in clause.children] != ["``", "S", ",", "''", "NP", "VP", "."]:
        return False
    verb, *rest = clause.children[5].children
    return verb.label in ("VBD", "VBZ") and all(child.label in ("PP", "ADVP", "NP") for child in rest)


def _questions(trees: Sequence[Tree]) -> list[Tree]:
    """Return the short questions, with their question marks."""
    clauses = ((tree.children[0], tree.words()) for tree in trees)
    return [
        clause
        for clause, words in clauses
        if clause.label in ("SQ", "SBARQ") and words[-1] == "?" and len(words) <= LONGEST
    ]


def _plain_subjects(trees: Sequence[Tree]) -> list[Tree]:
    """Return the subjects of statements that are a noun with a determiner or a name."""
    return [
        subject
        for tree in trees
        for subject in tree.children[0].children[:1]
        if subject.label == "NP" and subject.tags() in (["DT", "NN"], ["PRP$", "NN"], ["NNP"], ["NNP", "NNP"])
    ]
