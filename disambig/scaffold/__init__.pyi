from .plugin import (
    KINDS as KINDS,
)
from .plugin import (
    check_name as check_name,
)
from .plugin import (
    plugin_files as plugin_files,
)
from .plugin import (
    write_plugin as write_plugin,
)
