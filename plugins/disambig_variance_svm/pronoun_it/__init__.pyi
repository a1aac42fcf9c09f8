from .apostrophes import (
    APOSTROPHES as APOSTROPHES,
    NextWords as NextWords,
    count_next_words as count_next_words,
    next_words as next_words,
)
from .examples import (
    pick_examples as pick_examples,
    read_ewt as read_ewt,
    read_qa_it as read_qa_it,
)
from .fillers import (
    FILLERS as FILLERS,
    FillerCounts as FillerCounts,
    KeyCounts as KeyCounts,
    count_fillers as count_fillers,
    filler_counts as filler_counts,
)
from .frame_model import (
    FRAME_MODEL as FRAME_MODEL,
    FrameModel as FrameModel,
    ItHabits as ItHabits,
    frame_keys as frame_keys,
)
from .frame_training import (
    PatternExample as PatternExample,
    learn_frame_model as learn_frame_model,
)
from .patterns import (
    KINDS as KINDS,
    LABELS as LABELS,
    SCALE as SCALE,
    ItPatterns as ItPatterns,
    match_patterns as match_patterns,
    matched_kinds as matched_kinds,
    normal_order as normal_order,
)
from .task import (
    IT as IT,
    PRONOUN as PRONOUN,
    RARE as RARE,
    THEY as THEY,
    It as It,
    NormalisedWords as NormalisedWords,
    frequent_stems as frequent_stems,
)
