from .apostrophes import (
    APOSTROPHES as APOSTROPHES,
)
from .apostrophes import (
    NextWords as NextWords,
)
from .apostrophes import (
    count_next_words as count_next_words,
)
from .apostrophes import (
    next_words as next_words,
)
from .examples import (
    pick_examples as pick_examples,
)
from .examples import (
    read_ewt as read_ewt,
)
from .examples import (
    read_qa_it as read_qa_it,
)
from .fillers import (
    FILLERS as FILLERS,
)
from .fillers import (
    Counted as Counted,
)
from .fillers import (
    FillerCounts as FillerCounts,
)
from .fillers import (
    count_fillers as count_fillers,
)
from .fillers import (
    filler_counts as filler_counts,
)
from .frame_model import (
    FRAME_MODEL as FRAME_MODEL,
)
from .frame_model import (
    FrameModel as FrameModel,
)
from .frame_model import (
    ItHabits as ItHabits,
)
from .frame_model import (
    frame_keys as frame_keys,
)
from .frame_training import (
    PatternExample as PatternExample,
)
from .frame_training import (
    learn_frame_model as learn_frame_model,
)
from .patterns import (
    KINDS as KINDS,
)
from .patterns import (
    LABELS as LABELS,
)
from .patterns import (
    SCALE as SCALE,
)
from .patterns import (
    ItPatterns as ItPatterns,
)
from .patterns import (
    match_patterns as match_patterns,
)
from .patterns import (
    matched_kinds as matched_kinds,
)
from .patterns import (
    normal_order as normal_order,
)
from .task import (
    IT as IT,
)
from .task import (
    PRONOUN as PRONOUN,
)
from .task import (
    RARE as RARE,
)
from .task import (
    THEY as THEY,
)
from .task import (
    It as It,
)
from .task import (
    NormalisedWords as NormalisedWords,
)
from .task import (
    frequent_stems as frequent_stems,
)
