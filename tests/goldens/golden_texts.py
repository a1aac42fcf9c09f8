"""The inputs of the goldens: texts, labelled examples and configs, all written for them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

NOTES = """It depends of the weather, and its hard to find a quite place. It was better then we had hoped.

She waited a hour for the the bus. The results shows that we was right, and there house is near of the lake.

We sat on the bank of the river. He has an interest in old maps, and it is clear that he will loose them.
"""
PHRASES = """She has went home, and they had wrote to her before. I didn't knew that they could of came.

We look forward to meet you. The storm wrecked havoc, and it wets my appetite. He poured over the the
the map, and we went to the  the shop on the
the corner. She go home, and your welcome to stay.
"""
PARAGRAPHS = [paragraph for paragraph in NOTES.split("\n") if paragraph]
MARKDOWN = f"""# Notes

{PARAGRAPHS[0]}

- Its tail is long; `its hard` stays.

<!-- disambig: ignore-next-line -->
It was better then before.

> {PARAGRAPHS[1]}
"""
LATEX = r"""\documentclass{article}
\begin{document}
\section{Notes}
It depends of the weather~\cite{its}, and $then$ its hard. It was better then we had hoped.
\end{document}
"""
CODE = '''"""It depends of the weather."""

its = "a hour"  # its better then before
'''
CONLLU = """# text = It was better then before.
1\tIt\tit\tPRON\tPRP\t_\t3\tnsubj\t_\t_
2\twas\tbe\tAUX\tVBD\t_\t3\tcop\t_\t_
3\tbetter\tgood\tADJ\tJJR\t_\t0\troot\t_\t_
4\tthen\tthen\tADV\tRB\t_\t3\tadvmod\t_\t_
5\tbefore\tbefore\tADV\tRB\t_\t4\tadvmod\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
KANA = "かれはまいにちパンをたべる。\nねこはにわでなく。\nはしをわたる。\n"
PLAIN = "The cat saw the dog with a bell. These results suggest that the gene is required for growth.\n"

WORD_LINES = [
    "Please bring me a chair.",
    "She will bring her brother to the party.",
    "Bring your own cup when you come.",
    "It will take an hour.",
    "You should take care of it.",
    "Take a look at the map before you go.",
] * 12
PLACES = [
    "is important to know that",
    "was hard to find a room",
    "is easy to see why",
    "was nice to meet you",
]
THINGS = ["ate the bread", "broke the new cup", "lost the long race", "sold three old cars"]
SENSES = {
    "shore": ["the muddy {} of the river", "a grassy {} by the stream", "fishing from the {} at dusk"],
    "money": ["the {} lent me money", "an account at the {}", "a loan from our {} today"],
}
TOPICS = {
    "cooking": "bread flour oven butter soup pan recipe onion dough sugar".split(),
    "sport": "ball goal team match coach player referee stadium league trainer".split(),
}
RIGHT = ["the", "quiet", "house", "by", "their", "lake"]
WRONG = {"quiet": "quite", "their": "there", "by": "buy"}
TREES = (
    "(TOP (S (NP (PRP {who})) (VP (VBD found) (NP (NP (DT the) (NN key)) (PP (IN {by}) (NP (NN home)))))))",
    "(TOP (S (NP (PRP {who})) (VP (VBD found) (NP (DT the) (NN key)) (PP (IN {by}) (NP (NN home))))))",
)
SMALL_TREEBANK = """(TOP (S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))
(TOP (S (NP (PRP She)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (DT a) (NN bell))))) (. .)))
(TOP (S (NP (DT A) (NN dog)) (VP (VBD ran)) (. .)))
(TOP (S (NP (PRP He)) (VP (VBD ran) (PP (IN with) (NP (DT the) (NN cat)))) (. .)))
(TOP (S (NP (DT The) (NN bell)) (VP (VBD rang)) (. .)))
"""


def _config(task: str, tokenisation: str, extractors: dict[str, str], learner: str, more: str = "") -> str:
    """Return a config: a task and learner as lines of their sections, extractors likewise."""
    parts = [f'[model]\nname = "golden/model"\n\n[task]\n{task}\n']
    if tokenisation:
        parts.append(f'[tokenisation]\n@disambig_tokenisations = "{tokenisation}"\n')
    parts.append("[extractors]\n")
    parts += [f"[extractors.{name}]\n{lines}\n" for name, lines in extractors.items()]
    return "\n".join([*parts, f"[learner]\n{learner}\n", more])


def _name(kind: str, name: str, *lines: str) -> str:
    return "\n".join([f'@disambig_{kind} = "{name}"', *lines])


_NEAR = _name("extractors", "disambig.ContextWords.v1")
_COUNTS = _name("extractors", "disambig.NgramCounts.v1", 'counts = "words.counts"')
_FILLERS = _name("extractors", "variance_svm.FillerCounts.v1", 'counts = "it.counts"')
_SUMS = "[baseline]\n" + _name("learners", "variance_svm.SumLM.v1")


def configs() -> dict[str, tuple[str, str]]:
    """Return the config and the option of `train` of every small model, by its name."""
    candidates = _name("tasks", "disambig.Candidates.v1", 'candidates = ["bring", "take"]', 'name = "pair"')
    made: dict[str, tuple[str, str]] = {}
    words = "--text words.txt --lines"
    for learner in ("variance_svm.VarianceSVM", "variance_svm.ConditionalLogit", "variance_svm.KSVM"):
        text = _config(
            candidates,
            "disambig.words.v1",
            {"counts": _COUNTS, "near": _NEAR},
            _name("learners", f"{learner}.v1"),
            _SUMS,
        )
        made["words_" + learner.split(".")[1]] = (text, words)
    for learner in ("variance_svm.SumLM", "disambig.NoPreference"):
        text = _config(
            candidates, "disambig.words.v1", {"counts": _COUNTS}, _name("learners", f"{learner}.v1"), _SUMS
        )
        made["words_" + learner.split(".")[1]] = (text, words)
    task = _name("tasks", "variance_svm.It.v1")
    for learner in ("variance_svm.VarianceSVM", "variance_svm.OneVersusAll", "variance_svm.Majority"):
        settings = ['variance = [["it"], ["they"]]'] if learner.endswith("VarianceSVM") else []
        text = _config(
            task,
            "variance_svm.NormalisedWords.v1",
            {"counts": _FILLERS, "words": _name("extractors", "disambig.SentenceWords.v1")},
            _name("learners", f"{learner}.v1", *settings),
            _SUMS + '\npatterns = ["it"]\nminus = ["they"]',
        )
        made["it_" + learner.split(".")[1]] = (text, "--labelled it.tsv")
    for learner in ("SGD", "ConfidenceWeighted", "PassiveAggressive", "Perceptron", "RandomSubspaces"):
        text = _config(
            _name("tasks", "random_subspace.Topic.v1", 'name = "topic"', 'language = ""'),
            "disambig.words.v1",
            {"words": _name("extractors", "disambig.Tfidf.v1", "kept = 1000")},
            _name("learners", f"random_subspace.{learner}.v1"),
        )
        made[f"topic_{learner}"] = (text, "--labelled topics.csv")
    for learner in ("RLSC", "RLSCLin", "SVMLin", "RLSCComb", "SVMComb"):
        text = _config(
            _name("tasks", "kernel_rls.Senses.v1", 'name = "sense"', 'language = "en"', "least = 1"),
            "disambig.words.v1",
            {
                "local": _name(
                    "extractors", "disambig.ContextWindow.v1", "window = 2", 'name = "local"', "named = true"
                ),
                "broad": _name("extractors", "disambig.Tfidf.v1", "around = 50", 'name = "broad"'),
            },
            _name("learners", f"kernel_rls.{learner}.v1"),
        )
        made[f"sense_{learner}"] = (text, "--labelled senses.tsv")
    lists = _name("tasks", "disambig.Lists.v1", 'name = "rerank"', 'measure = "wer"')
    learners = [f"boosted_lasso.{n}" for n in ("BLasso", "Boosting", "FBoosting", "FSLR", "PairwiseL2")]
    learners += ["boosted_lasso.AveragedPerceptron", "exponentiated_gradient.EG"]
    for learner in [*learners, "variance_svm.ConditionalLogit"]:
        text = _config(
            lists,
            "",
            {
                "source": _name("extractors", "disambig.SourceFeatures.v1", "rank = false"),
                "text": _name(
                    "extractors", "disambig.TextNgrams.v1", 'unit = "words"', "order = 2", "least = 2"
                ),
            },
            _name("learners", f"{learner}.v1"),
        )
        made["rerank_" + learner.split(".")[1]] = (text, "--lists lists.jsonl")
    text = _config(
        _name(
            "tasks", "disambig.Lists.v1", 'name = "trees"', 'measure = "exponentiated_gradient.BracketF1.v1"'
        ),
        "",
        {
            "source": _name("extractors", "disambig.SourceFeatures.v1", "rank = false"),
            "trees": _name("extractors", "exponentiated_gradient.TreeFeatures.v1", "least = 2"),
        },
        _name("learners", "exponentiated_gradient.EG.v1", 'loss = "cost"'),
    )
    made["trees_EG"] = (text, "--lists trees.jsonl")
    return made


NEW = {  # what models decide anew: by the first word of their names, a file and further options of annotate
    "words": ("new_words.txt", "You should bring care of him. Please take me a chair.\n"),
    "it": ("new_it.txt", "It is hard to know that. Then it broke the bread.\n"),
    "topic": ("new_topic.txt", "The onion met the butter on the match day.\n"),
    "sense": ("new_sense.txt", "The bank raised my account. We sat on the bank of the river.\n"),
    "rerank": ("new_lists.jsonl", ""),
    "trees": ("new_trees.jsonl", ""),
}


def write_inputs(folder: Path) -> None:
    """Write all texts and examples into a folder."""
    texts = {
        "notes.txt": NOTES,
        "short.txt": f"{PARAGRAPHS[0]}\n\n{PARAGRAPHS[2]}\n",
        "phrases.txt": PHRASES,
        "notes.md": MARKDOWN,
        "notes.tex": LATEX,
        "notes_code.py": CODE,
        "notes.conllu": CONLLU,
        "notes.jsonl": "".join(json.dumps({"id": i, "text": p}) + "\n" for i, p in enumerate(PARAGRAPHS)),
        "kana.txt": KANA,
        "plain.txt": PLAIN,
        "trees.mrg": SMALL_TREEBANK * 40,
        "words.txt": "\n".join(WORD_LINES) + "\n",
    }
    it, it_text, senses, topics = [], [], [], ["text,label"]
    for place, thing in zip(PLACES, THINGS, strict=True):
        it += [f"[[It]] {place}.\tnon-referential", f"Then [[it]] {thing}.\treferential"]
        it_text += [f"It {place}.", f"Then it {thing}.", f"Then they {thing}."]
    for number in range(6):
        for sense, places in SENSES.items():
            senses += [f"On day {number} {place.format('[[bank]]')}.\t{sense}" for place in places]
    for label, words in TOPICS.items():
        for i in range(12):
            first, second, third = (words[(i * step + step) % 10] for step in (1, 3, 7))
            topics.append(f"We spoke of the {first} and the {second} with a {third}.,{label}")
    texts |= {
        "it.tsv": "\n".join(it) + "\n",
        "it.txt": "\n".join(it_text) + "\n",
        "senses.tsv": "\n".join(senses) + "\n",
        "topics.csv": "\n".join(topics) + "\n",
        "lists.jsonl": _lists(60, 0),
        "new_lists.jsonl": _lists(6, 1),
        "trees.jsonl": _trees(40, 0),
        "new_trees.jsonl": _trees(4, 1),
    }
    texts |= {name: text for name, text in NEW.values() if text}
    texts |= {f"{name}.cfg": text for name, (text, _) in configs().items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf8")


def _lists(n: int, seed: int) -> str:
    """Return lists whose source prefers wrong words half the time."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        words = [RIGHT[i] for i in np.sort(rng.choice(len(RIGHT), 4, replace=False))]
        texts = {" ".join(words)}
        for word in words:
            if word in WRONG:
                texts.add(" ".join(WRONG[word] if other == word else other for other in words))
        scored = [{"text": text, "score": round(float(rng.normal()), 4)} for text in sorted(texts)]
        lines.append(json.dumps({"candidates": scored, "reference": " ".join(words)}))
    return "\n".join(lines) + "\n"


def _trees(n: int, seed: int) -> str:
    """Return lists of two parses; "of" belongs to the noun and "at" to the verb."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(n):
        both = [
            tree.format(who=("we", "they")[number // 2 % 2], by=("of", "at")[number % 2]) for tree in TREES
        ]
        scored = [{"text": tree, "score": round(float(rng.normal()) - 60, 4)} for tree in both]
        scored.sort(key=lambda candidate: -float(str(candidate["score"])))
        line = {"id": number, "candidates": scored, "reference": both[number % 2], "document": f"d{number}"}
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"
