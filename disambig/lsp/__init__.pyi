from .actions import (
    ignore_everywhere as ignore_everywhere,
    ignore_in_file as ignore_in_file,
    ignore_in_line as ignore_in_line,
    ignore_target as ignore_target,
    single_edit as single_edit,
)
from .documents import (
    ProtocolLines as ProtocolLines,
    TextDocument as TextDocument,
    document_name as document_name,
    uri_to_path as uri_to_path,
)
from .scheduler import (
    CheckScheduler as CheckScheduler,
    LoadedCheckers as LoadedCheckers,
    ThreadQueue as ThreadQueue,
)
from .server import EditorProtocol as EditorProtocol, EditorSettings as EditorSettings
from .serving import (
    PORT as PORT,
    exit_if_busy as exit_if_busy,
    serve as serve,
    serve_stdio as serve_stdio,
    serve_tcp as serve_tcp,
)
