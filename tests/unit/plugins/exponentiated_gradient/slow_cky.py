"""CKY in plain Python: the best derivation by the docstring of `BinaryGrammar`, slow and easy to read."""

from __future__ import annotations

from disambig_exponentiated_gradient.grammar import Derivation

NEVER = float("-inf")


def best_derivation(grammar, words):
    """Return the best derivation of a sentence and its score; None where it has no parse."""
    n = words.length
    below = {(i, j): {} for i in range(n) for j in range(i + 1, n + 1)}
    above = {span: {} for span in below}
    for place, symbol, score in zip(
        words.positions.tolist(), words.symbols.tolist(), words.scores, strict=True
    ):
        below[place, place + 1][symbol] = (float(score), None, None)
    rules = list(zip(range(len(grammar.binary)), grammar.binary.tolist(), grammar.binary_scores, strict=True))
    chains = list(zip(range(len(grammar.unary)), grammar.unary.tolist(), grammar.unary_scores, strict=True))
    for size in range(1, n + 1):
        for start in range(n - size + 1):
            end = start + size
            cell = below[start, end]
            for middle in range(start + 1, end):
                left, right = above[start, middle], above[middle, end]
                for rule, (parent, one, other), score in rules:
                    if one in left and other in right:
                        total = float(score) + left[one][0] + right[other][0]
                        if total > cell.get(parent, (NEVER,))[0]:
                            cell[parent] = (total, rule, middle)
            made = {symbol: (found[0], None, symbol) for symbol, found in cell.items()}
            for rule, (parent, child), score in chains:
                if child in cell and float(score) + cell[child][0] > made.get(parent, (NEVER,))[0]:
                    made[parent] = (float(score) + cell[child][0], rule, child)
            above[start, end] = made
    if grammar.root not in above[0, n]:
        return None
    binary, unary, tags = [], [], [0] * n
    open_ = [(0, n, grammar.root)]
    while open_:
        start, end, symbol = open_.pop()
        _, chain, child = above[start, end][symbol]
        if chain is not None:
            unary.append((chain, start, end))
        _, rule, middle = below[start, end][child]
        if rule is None:
            tags[start] = child
            continue
        binary.append((rule, start, middle, end))
        _, left, right = grammar.binary[rule].tolist()
        open_ += [(start, middle, left), (middle, end, right)]
    return Derivation.from_rows(binary, unary, tags), above[0, n][grammar.root][0]
