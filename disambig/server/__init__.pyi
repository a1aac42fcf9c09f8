from ._endpoints import openapi as openapi
from .app import BASES as BASES, make_app as make_app
from .checker import ModelThread as ModelThread, ServerChecker as ServerChecker
from .languagetool import (
    AnnotatedPiece as AnnotatedPiece,
    AnnotatedText as AnnotatedText,
    Utf16Offsets as Utf16Offsets,
    VisibleFlag as VisibleFlag,
    make_visible as make_visible,
    plain_annotated as plain_annotated,
    utf16_length as utf16_length,
    visible_flags as visible_flags,
)
from .middleware import (
    HTTP_STATUS as HTTP_STATUS,
    AllowedOrigins as AllowedOrigins,
    BodyReader as BodyReader,
    ServerLimits as ServerLimits,
)
from .serving import serve as serve
