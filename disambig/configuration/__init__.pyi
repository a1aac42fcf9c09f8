from .patterns import (
    GitIgnorePatterns as GitIgnorePatterns,
)
from .project import (
    OWN as OWN,
    SHARED as SHARED,
    ProjectSettings as ProjectSettings,
    SettingsFile as SettingsFile,
    is_inside as is_inside,
    nearest_settings as nearest_settings,
    unknown_task_error as unknown_task_error,
)
from .settings import (
    ADDED as ADDED,
    CHOICES as CHOICES,
    PATHS as PATHS,
    CheckSettings as CheckSettings,
    SettingsSource as SettingsSource,
    from_folder as from_folder,
    settings_to_toml as settings_to_toml,
)
from .tables import (
    SCHEMA_FILE as SCHEMA_FILE,
    OverrideTable as OverrideTable,
    SettingsTable as SettingsTable,
    read_table as read_table,
    schema_text as schema_text,
    settings_schema as settings_schema,
)
