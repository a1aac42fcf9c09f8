from .newsgroups import (
    ARCHIVE as ARCHIVE,
)
from .newsgroups import (
    ONE_SIDE as ONE_SIDE,
)
from .newsgroups import (
    PARTS as PARTS,
)
from .newsgroups import (
    SHIFTED as SHIFTED,
)
from .newsgroups import (
    SUB_OF as SUB_OF,
)
from .newsgroups import (
    TOP_OF as TOP_OF,
)
from .newsgroups import (
    ProblemInstance as ProblemInstance,
)
from .newsgroups import (
    count_words as count_words,
)
from .newsgroups import (
    pair_instances as pair_instances,
)
from .newsgroups import (
    read_corpus as read_corpus,
)
from .newsgroups import (
    sample_instances as sample_instances,
)
from .table2 import (
    CHOSEN as CHOSEN,
)
from .table2 import (
    PAPER as PAPER,
)
from .table2 import (
    TESTED as TESTED,
)
from .table2 import (
    GoldTokens as GoldTokens,
)
from .table2 import (
    KnownWords as KnownWords,
)
from .table2 import (
    Sogaard2012Table2 as Sogaard2012Table2,
)
from .table2 import (
    claim_gains as claim_gains,
)
from .table2 import (
    compare_hits as compare_hits,
)
from .table2 import (
    compare_with_baselines as compare_with_baselines,
)
from .table2 import (
    join_texts as join_texts,
)
from .table2 import (
    load_sentences as load_sentences,
)
from .table2 import (
    our_runs as our_runs,
)
from .table2 import (
    treebank_part as treebank_part,
)
from .tag_data import (
    CONLL2000 as CONLL2000,
)
from .tag_data import (
    CRAFT as CRAFT,
)
from .tag_data import (
    EWT as EWT,
)
from .tag_data import (
    GENRES as GENRES,
)
from .tag_data import (
    NOAD as NOAD,
)
from .tag_data import (
    PENN as PENN,
)
from .tag_data import (
    SPLITS as SPLITS,
)
from .tag_data import (
    conll2000 as conll2000,
)
from .tag_data import (
    conllu_sentences as conllu_sentences,
)
from .tag_data import (
    craft_partly as craft_partly,
)
from .tag_data import (
    ewt as ewt,
)
from .tag_data import (
    noad_partly as noad_partly,
)
from .tag_data import (
    penn_archive as penn_archive,
)
from .tag_data import (
    penn_sample as penn_sample,
)
from .tag_data import (
    penn_sentences as penn_sentences,
)
from .tag_data import (
    unescape_word as unescape_word,
)
from .tag_data import (
    with_penn_colons as with_penn_colons,
)
from .tagger_baselines import (
    CRF as CRF,
)
from .tagger_baselines import (
    SPACY as SPACY,
)
from .tagger_baselines import (
    TaggerRun as TaggerRun,
)
from .tagger_baselines import (
    attributes as attributes,
)
from .tagger_baselines import (
    crf_tagger as crf_tagger,
)
from .tagger_baselines import (
    run_tagger as run_tagger,
)
from .tagger_baselines import (
    shape as shape,
)
from .tagger_baselines import (
    spacy_tagger as spacy_tagger,
)
from .tagger_baselines import (
    train_baselines as train_baselines,
)
