from ._openapi import (
    openapi as openapi,
)
from .annotated_text import (
    AnnotatedPiece as AnnotatedPiece,
)
from .annotated_text import (
    AnnotatedText as AnnotatedText,
)
from .annotated_text import (
    Utf16Offsets as Utf16Offsets,
)
from .annotated_text import (
    plain_annotated as plain_annotated,
)
from .annotated_text import (
    utf16_length as utf16_length,
)
from .app import (
    BASES as BASES,
)
from .app import (
    make_app as make_app,
)
from .checker import (
    ModelThread as ModelThread,
)
from .checker import (
    ServerChecker as ServerChecker,
)
from .languagetool import (
    ShownFlag as ShownFlag,
)
from .languagetool import (
    message as message,
)
from .languagetool import (
    shown_flags as shown_flags,
)
from .middleware import (
    HTTP_STATUS as HTTP_STATUS,
)
from .middleware import (
    AllowedOrigins as AllowedOrigins,
)
from .middleware import (
    BodyReader as BodyReader,
)
from .middleware import (
    ServerLimits as ServerLimits,
)
from .serving import (
    serve as serve,
)
