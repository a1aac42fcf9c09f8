from .lexicon import (
    LexiconSettings as LexiconSettings,
    TagLexicon as TagLexicon,
    WordDomains as WordDomains,
    word_classes as word_classes,
)
from .rules import (
    MIN_UNCHANGED as MIN_UNCHANGED,
    Derivation as Derivation,
    RuleCounts as RuleCounts,
    tree_cells as tree_cells,
)
from .treebank_grammar import (
    PLAIN as PLAIN,
    TreebankGrammar as TreebankGrammar,
    TreebankParser as TreebankParser,
    flat_tree as flat_tree,
)
