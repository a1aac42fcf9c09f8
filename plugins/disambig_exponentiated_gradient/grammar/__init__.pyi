from .domains import (
    WordDomains as WordDomains,
)
from .lexicon import (
    LexiconSettings as LexiconSettings,
)
from .lexicon import (
    TagLexicon as TagLexicon,
)
from .lexicon import (
    word_classes as word_classes,
)
from .rules import (
    SELDOM as SELDOM,
)
from .rules import (
    Derivation as Derivation,
)
from .rules import (
    RuleCounts as RuleCounts,
)
from .rules import (
    tree_cells as tree_cells,
)
from .treebank_grammar import (
    PLAIN as PLAIN,
)
from .treebank_grammar import (
    TreebankGrammar as TreebankGrammar,
)
from .treebank_grammar import (
    TreebankParser as TreebankParser,
)
from .treebank_grammar import (
    flat_tree as flat_tree,
)
