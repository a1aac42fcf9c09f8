from .account import (
    accounts as accounts,
)
from .account import (
    title as title,
)
from .contributions import (
    OFFSET as OFFSET,
)
from .contributions import (
    Contribution as Contribution,
)
from .contributions import (
    ContributionTable as ContributionTable,
)
from .contributions import (
    explain_decision as explain_decision,
)
from .contributions import (
    rule_terms as rule_terms,
)
from .contributions import (
    with_names as with_names,
)
from .evidence import (
    FlagEvidence as FlagEvidence,
)
from .evidence import (
    NgramPair as NgramPair,
)
from .evidence import (
    compare_ngrams as compare_ngrams,
)
from .evidence import (
    counted_ngrams as counted_ngrams,
)
from .evidence import (
    flag_evidence as flag_evidence,
)
from .evidence import (
    ngram_pairs as ngram_pairs,
)
from .evidence import (
    ngram_sentence as ngram_sentence,
)
from .evidence import (
    strongest as strongest,
)
from .verdicts import (
    intended_word as intended_word,
)
from .verdicts import (
    show_candidate as show_candidate,
)
from .verdicts import (
    verdict as verdict,
)
