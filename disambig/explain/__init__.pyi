from .account import (
    accounts as accounts,
    reason_for_no_decision as reason_for_no_decision,
    title as title,
)
from .contributions import (
    OFFSET as OFFSET,
    Contribution as Contribution,
    ContributionTable as ContributionTable,
    candidate_row as candidate_row,
    explain_decision as explain_decision,
    rule_terms as rule_terms,
    with_names as with_names,
)
from .evidence import (
    FlagEvidence as FlagEvidence,
    NgramPair as NgramPair,
    compare_ngrams as compare_ngrams,
    counted_ngrams as counted_ngrams,
    flag_evidence as flag_evidence,
    ngram_pairs as ngram_pairs,
    ngram_sentence as ngram_sentence,
    strongest as strongest,
)
from .verdicts import (
    intended_word as intended_word,
    show_candidate as show_candidate,
    verdict as verdict,
)
