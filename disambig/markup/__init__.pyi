from .canvas import (
    BREAK as BREAK,
    OPAQUE as OPAQUE,
    Layout as Layout,
    iterate_units as iterate_units,
)
from .code import (
    LANGUAGES as LANGUAGES,
    find_comments as find_comments,
    iterate_blocks as iterate_blocks,
)
from .markdown import (
    IncrementalMarkdown as IncrementalMarkdown,
    front_matter_end as front_matter_end,
)
from .reading import (
    CODE as CODE,
    FORMATS as FORMATS,
    HTML_COMMENT as HTML_COMMENT,
    NO_COMMENT as NO_COMMENT,
    NO_OPTIONS as NO_OPTIONS,
    XML_DOCUMENT as XML_DOCUMENT,
    MarkupFormat as MarkupFormat,
    PlainText as PlainText,
    begins_like_document as begins_like_document,
    has_markup as has_markup,
    invalid_markup as invalid_markup,
    is_section as is_section,
    language_suffix as language_suffix,
    path_format as path_format,
    plain_text as plain_text,
    read_layout as read_layout,
    read_markup as read_markup,
    without_template as without_template,
)
