from .canvas import (
    BREAK as BREAK,
)
from .canvas import (
    OPAQUE as OPAQUE,
)
from .canvas import (
    iterate_units as iterate_units,
)
from .code import (
    LANGUAGES as LANGUAGES,
)
from .code import (
    find_comments as find_comments,
)
from .code import (
    iterate_blocks as iterate_blocks,
)
from .formats import (
    FORMATS as FORMATS,
)
from .formats import (
    HTML_COMMENT as HTML_COMMENT,
)
from .formats import (
    MANUAL_SECTIONS as MANUAL_SECTIONS,
)
from .formats import (
    MarkupFormat as MarkupFormat,
)
from .formats import (
    language_suffix as language_suffix,
)
from .formats import (
    path_format as path_format,
)
from .markdown import (
    IncrementalMarkdown as IncrementalMarkdown,
)
from .reading import (
    CODE as CODE,
)
from .reading import (
    NO_OPTIONS as NO_OPTIONS,
)
from .reading import (
    PlainText as PlainText,
)
from .reading import (
    has_markup as has_markup,
)
from .reading import (
    invalid_markup as invalid_markup,
)
from .reading import (
    is_manual_page as is_manual_page,
)
from .reading import (
    plain_text as plain_text,
)
from .reading import (
    read_markup as read_markup,
)
