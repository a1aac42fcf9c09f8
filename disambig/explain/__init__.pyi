from .account import (
    CheckedDecisions as CheckedDecisions,
    accounts as accounts,
    check_together as check_together,
    intended_word as intended_word,
    reason_for_no_decision as reason_for_no_decision,
    title as title,
    verdict as verdict,
)
from .contributions import (
    OFFSET as OFFSET,
    Contribution as Contribution,
    ContributionTable as ContributionTable,
    candidate_row as candidate_row,
    explain_decision as explain_decision,
    rule_terms as rule_terms,
    show_candidate as show_candidate,
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
