from ._phrases import (
    penn_punctuation as penn_punctuation,
)
from .binarisation import (
    SPLITS as SPLITS,
    Binarisation as Binarisation,
    coarse_symbol as coarse_symbol,
    head_child as head_child,
    head_rules as head_rules,
    heads as heads,
    is_inside as is_inside,
    node_label as node_label,
    quoted as quoted,
    restore_tree as restore_tree,
)
from .dependencies import (
    lift_heads as lift_heads,
    read_dependency_trees as read_dependency_trees,
    tree_from_dependencies as tree_from_dependencies,
)
from .parseval import (
    DELETED as DELETED,
    BracketF1 as BracketF1,
    Parseval as Parseval,
    TreeBrackets as TreeBrackets,
)
from .reading import (
    CorpusSplit as CorpusSplit,
    clean_trees as clean_trees,
    craft_articles as craft_articles,
    craft_split as craft_split,
    filter_by_length as filter_by_length,
    penn_sections as penn_sections,
    penn_split as penn_split,
    read_raw_trees as read_raw_trees,
    read_treebank as read_treebank,
    read_trees as read_trees,
    strip_label as strip_label,
)
from .tree import (
    TOP as TOP,
    Tree as Tree,
    TreeNodes as TreeNodes,
    escape_word as escape_word,
    fold_tree as fold_tree,
    format_indented as format_indented,
    format_one_line as format_one_line,
    list_constituents as list_constituents,
    unescape_word as unescape_word,
)
