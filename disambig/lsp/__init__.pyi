from .actions import (
    ignore_everywhere as ignore_everywhere,
)
from .actions import (
    ignore_in_file as ignore_in_file,
)
from .actions import (
    ignore_in_line as ignore_in_line,
)
from .actions import (
    ignore_target as ignore_target,
)
from .actions import (
    single_edit as single_edit,
)
from .documents import (
    ProtocolLines as ProtocolLines,
)
from .documents import (
    TextDocument as TextDocument,
)
from .documents import (
    document_name as document_name,
)
from .documents import (
    uri_to_path as uri_to_path,
)
from .scheduler import (
    CheckScheduler as CheckScheduler,
)
from .scheduler import (
    LoadedCheckers as LoadedCheckers,
)
from .scheduler import (
    ThreadQueue as ThreadQueue,
)
from .server import (
    EditorProtocol as EditorProtocol,
)
from .serving import (
    PORT as PORT,
)
from .serving import (
    serve as serve,
)
from .serving import (
    serve_stdio as serve_stdio,
)
from .serving import (
    serve_tcp as serve_tcp,
)
from .session import (
    EditorSettings as EditorSettings,
)
