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
