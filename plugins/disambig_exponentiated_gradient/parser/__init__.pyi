from .drawing import (
    TreeLayout as TreeLayout,
    columns as columns,
    draw_tree as draw_tree,
    html_foot as html_foot,
    html_head as html_head,
    html_section as html_section,
    svg as svg,
)
from .parser import (
    FILE as FILE,
    ParsedSentence as ParsedSentence,
    Parser as Parser,
    grammar_digest as grammar_digest,
    read_parser as read_parser,
    save_parser as save_parser,
)
from .sentences import (
    ParserSentence as ParserSentence,
    ParserTagger as ParserTagger,
    SentenceCutter as SentenceCutter,
    as_in_treebank as as_in_treebank,
)
from .streaming import (
    ParagraphReader as ParagraphReader,
    ends_sentence as ends_sentence,
    read_sentences as read_sentences,
)
from .training import (
    parse_again as parse_again,
    parse_figures as parse_figures,
)
