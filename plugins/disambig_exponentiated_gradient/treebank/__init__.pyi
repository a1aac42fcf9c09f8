from .binarisation import (
    SPLITS as SPLITS,
)
from .binarisation import (
    Binarisation as Binarisation,
)
from .binarisation import (
    coarse_symbol as coarse_symbol,
)
from .binarisation import (
    head_child as head_child,
)
from .binarisation import (
    head_rules as head_rules,
)
from .binarisation import (
    heads as heads,
)
from .binarisation import (
    is_inside as is_inside,
)
from .binarisation import (
    node_label as node_label,
)
from .binarisation import (
    quoted as quoted,
)
from .binarisation import (
    restore_tree as restore_tree,
)
from .dependencies import (
    lift_heads as lift_heads,
)
from .dependencies import (
    penn_punctuation as penn_punctuation,
)
from .dependencies import (
    read_dependency_trees as read_dependency_trees,
)
from .dependencies import (
    tree_from_dependencies as tree_from_dependencies,
)
from .parseval import (
    DELETED as DELETED,
)
from .parseval import (
    BracketF1 as BracketF1,
)
from .parseval import (
    Parseval as Parseval,
)
from .parseval import (
    TreeBrackets as TreeBrackets,
)
from .reading import (
    CorpusSplit as CorpusSplit,
)
from .reading import (
    clean_trees as clean_trees,
)
from .reading import (
    craft_articles as craft_articles,
)
from .reading import (
    craft_split as craft_split,
)
from .reading import (
    filter_by_length as filter_by_length,
)
from .reading import (
    penn_sections as penn_sections,
)
from .reading import (
    penn_split as penn_split,
)
from .reading import (
    read_raw_trees as read_raw_trees,
)
from .reading import (
    read_treebank as read_treebank,
)
from .reading import (
    read_trees as read_trees,
)
from .reading import (
    strip_label as strip_label,
)
from .tree import (
    TOP as TOP,
)
from .tree import (
    Tree as Tree,
)
from .tree import (
    TreeNodes as TreeNodes,
)
from .tree import (
    escape_word as escape_word,
)
from .tree import (
    fold_tree as fold_tree,
)
from .tree import (
    format_indented as format_indented,
)
from .tree import (
    format_one_line as format_one_line,
)
from .tree import (
    list_constituents as list_constituents,
)
from .tree import (
    unescape_word as unescape_word,
)
