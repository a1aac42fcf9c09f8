from .plugin import (
    KINDS as KINDS,
    check_name as check_name,
    plugin_files as plugin_files,
    write_plugin as write_plugin,
)
