from .agreement import (
    EVIDENCE as EVIDENCE,
)
from .agreement import (
    Agreement as Agreement,
)
from .agreement import (
    PlaceEdit as PlaceEdit,
)
from .agreement import (
    SyntaxReader as SyntaxReader,
)
from .agreement import (
    concerns_agreement as concerns_agreement,
)
from .agreement import (
    hide_markup as hide_markup,
)
from .agreement import (
    load_reader as load_reader,
)
from .grammar import (
    SentenceParse as SentenceParse,
)
from .parser import (
    DependencyParser as DependencyParser,
)
from .parser import (
    ParsedWords as ParsedWords,
)
from .parser import (
    load_parser as load_parser,
)
from .parser import (
    save_parser as save_parser,
)
from .training import (
    TreebankSentence as TreebankSentence,
)
from .training import (
    make_projective as make_projective,
)
from .training import (
    train_parser as train_parser,
)
