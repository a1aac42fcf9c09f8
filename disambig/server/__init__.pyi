from ._openapi import (
    openapi as openapi,
)
from .annotated_text import (
    AnnotatedPiece as AnnotatedPiece,
    AnnotatedText as AnnotatedText,
    Utf16Offsets as Utf16Offsets,
    plain_annotated as plain_annotated,
    utf16_length as utf16_length,
)
from .app import (
    BASES as BASES,
    make_app as make_app,
)
from .checker import (
    ModelThread as ModelThread,
    ServerChecker as ServerChecker,
)
from .languagetool import (
    VisibleFlag as VisibleFlag,
    make_visible as make_visible,
    visible_flags as visible_flags,
)
from .middleware import (
    HTTP_STATUS as HTTP_STATUS,
    AllowedOrigins as AllowedOrigins,
    BodyReader as BodyReader,
    ServerLimits as ServerLimits,
)
from .serving import (
    serve as serve,
)
