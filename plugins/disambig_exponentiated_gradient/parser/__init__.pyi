from .drawing import (
    TreeLayout as TreeLayout,
)
from .drawing import (
    columns as columns,
)
from .drawing import (
    draw_tree as draw_tree,
)
from .drawing import (
    html_page as html_page,
)
from .drawing import (
    html_section as html_section,
)
from .drawing import (
    svg as svg,
)
from .parser import (
    FILE as FILE,
)
from .parser import (
    ParsedSentence as ParsedSentence,
)
from .parser import (
    Parser as Parser,
)
from .parser import (
    grammar_digest as grammar_digest,
)
from .parser import (
    read_parser as read_parser,
)
from .parser import (
    save_parser as save_parser,
)
from .sentences import (
    ParserSentence as ParserSentence,
)
from .sentences import (
    ParserTagger as ParserTagger,
)
from .sentences import (
    SentenceCutter as SentenceCutter,
)
from .sentences import (
    as_in_treebank as as_in_treebank,
)
from .streaming import (
    ParagraphReader as ParagraphReader,
)
from .streaming import (
    ends_sentence as ends_sentence,
)
from .streaming import (
    read_sentences as read_sentences,
)
from .training import (
    parse_again as parse_again,
)
from .training import (
    parse_figures as parse_figures,
)
