from .agreement import (
    EVIDENCE as EVIDENCE,
    Agreement as Agreement,
    PlaceEdit as PlaceEdit,
    SyntaxReader as SyntaxReader,
    concerns_agreement as concerns_agreement,
    hide_markup as hide_markup,
    load_reader as load_reader,
)
from .grammar import (
    SentenceParse as SentenceParse,
)
from .parser import (
    DependencyParser as DependencyParser,
    ParsedWords as ParsedWords,
    load_parser as load_parser,
    save_parser as save_parser,
)
from .training import (
    TreebankSentence as TreebankSentence,
    make_projective as make_projective,
    train_parser as train_parser,
)
