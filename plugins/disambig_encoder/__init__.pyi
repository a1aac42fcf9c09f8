from .encoder import EVIDENCE as EVIDENCE, LABELS as LABELS, Encoder as Encoder
from .evidence import (
    CandidateOdds as CandidateOdds,
    EncoderEvidence as EncoderEvidence,
    EncoderStates as EncoderStates,
    WhitenedStates as WhitenedStates,
    whitening_matrix as whitening_matrix,
)
from .export import build_graph as build_graph, write_encoder as write_encoder
from .pieces import (
    WordPieces as WordPieces,
    is_unused as is_unused,
    sentence_around as sentence_around,
    split_words as split_words,
    unused_piece as unused_piece,
)
