"""A synthetic grammar with the size and statistics of a Markovised treebank grammar, and its sentences.

Few coarse symbols, each with many fine ones of Zipfian frequency; frequent symbols have many productions, the
others few, and all follow those of their coarse ones, so that a coarse pass knows something. Each word may be
the tag that it was drawn with, or one of a few others, which are less likely.
"""

from __future__ import annotations

import numpy as np

from disambig.decode import BinaryGrammar, WordScores

TAG, PHRASE = 0, 1


def zipf(n, power=1.3):
    weights = 1.0 / np.arange(1, n + 1) ** power
    return weights / weights.sum()


class MadeGrammar:
    """A grammar and a source of sentences that have a parse."""

    def __init__(self, seed=0, *, coarse=(30, 60), fine=(45, 1955), productions=40, coarse_productions=6):
        self.rng = rng = np.random.default_rng(seed)
        self.coarse_of = np.concatenate(
            [
                np.append(np.arange(coarse[TAG]), rng.integers(0, coarse[TAG], fine[TAG] - coarse[TAG])),
                coarse[TAG]
                + np.append(
                    np.arange(coarse[PHRASE]),
                    rng.choice(coarse[PHRASE], fine[PHRASE] - coarse[PHRASE], p=zipf(coarse[PHRASE])),
                ),
            ]
        ).astype(np.int32)
        self.coarse_of[fine[TAG]] = coarse[TAG]  # the root
        first = (0, coarse[TAG])
        members = [np.flatnonzero(self.coarse_of == c) for c in range(sum(coarse))]
        chances = [zipf(len(group)) for group in members]
        frequency = {
            int(s): p for pair in zip(members, chances, strict=True) for s, p in zip(*pair, strict=True)
        }
        coarse_weights = [zipf(n) for n in coarse]
        coarse_table = {
            (parent, kinds): [
                tuple(first[kind] + rng.choice(coarse[kind], p=coarse_weights[kind]) for kind in kinds)
                for _ in range(coarse_productions)
            ]
            for parent in range(coarse[TAG], sum(coarse))
            for kinds in np.ndindex(2, 2)
        }
        self.table, rules, scores = {}, [], []
        for parent in range(fine[TAG], sum(fine)):
            drawn = {}
            for kinds in np.ndindex(2, 2):
                options = coarse_table[int(self.coarse_of[parent]), kinds]
                n = 1 + rng.poisson(productions * frequency[parent])
                expansions = {
                    tuple(int(rng.choice(members[c], p=chances[c])) for c in options[which]): None
                    for which in rng.choice(len(options), n, p=zipf(len(options)))
                }
                self.table[parent, kinds] = list(expansions)
                drawn |= dict(zip(expansions, zipf(len(expansions)) / 4, strict=True))
            rules += [(parent, *children) for children in drawn]
            scores += list(drawn.values())
        self.n_tags, self.root = fine[TAG], fine[TAG]
        chains = np.unique(
            np.column_stack([rng.integers(fine[TAG], sum(fine), 400), rng.integers(0, sum(fine), 400)]),
            axis=0,
        )
        binary, weights = np.array(rules, np.int32), np.array(scores)
        grammar_arrays = binary, np.log(weights), chains.astype(np.int32), rng.normal(-3.0, 1.0, len(chains))
        names = tuple(map(str, range(sum(fine))))
        coarser = self._projected(binary, weights, grammar_arrays[2], np.exp(grammar_arrays[3]), members)
        self.grammar = BinaryGrammar(names, self.root, *grammar_arrays, coarser, self.coarse_of)

    def _projected(self, binary, weights, unary, unary_weights, members):
        """Return the coarser grammar: the mean over the fine symbols of each coarse one."""
        sizes = np.array([len(group) for group in members])

        def arrays(rules, amounts):
            distinct, which = np.unique(self.coarse_of[rules], axis=0, return_inverse=True)
            return distinct, np.log(np.bincount(which.ravel(), amounts) / sizes[distinct[:, 0]])

        names = tuple(f"c{i}" for i in range(len(members)))
        return BinaryGrammar(
            names, int(self.coarse_of[self.root]), *arrays(binary, weights), *arrays(unary, unary_weights)
        )

    def sentence(self, length, *, tags=4):
        """Return the possible symbols of the words of a sentence that has a parse."""
        rng, places, symbols, scores = self.rng, [], [], []
        agenda = [(self.root, 0, length)]
        while agenda:
            symbol, start, end = agenda.pop()
            if end == start + 1:
                others = rng.integers(0, self.n_tags, tags)
                possible = np.unique([symbol, *others])
                places += [start] * len(possible)
                symbols += possible.tolist()
                scores += (rng.normal(-8.0, 1.0, len(possible)) - 3.0 * (possible != symbol)).tolist()
                continue
            split = int(
                rng.integers(start + 1, min(start + 4, end))
            )  # left parts are short, as English's are
            kinds = (min(split - start - 1, 1), min(end - split - 1, 1))
            options = self.table[symbol, kinds]
            left, right = options[rng.choice(len(options), p=zipf(len(options)))]
            agenda += [(left, start, split), (right, split, end)]
        return WordScores(
            length, np.array(places, np.int32), np.array(symbols, np.int32), np.array(scores, np.float64)
        )
