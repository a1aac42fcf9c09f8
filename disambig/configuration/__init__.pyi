from .patterns import GitIgnorePatterns as GitIgnorePatterns
from .project import (
    ADDED as ADDED,
    CHOICES as CHOICES,
    OWN as OWN,
    PATHS as PATHS,
    SHARED as SHARED,
    CheckSettings as CheckSettings,
    ProjectSettings as ProjectSettings,
    SettingsFile as SettingsFile,
    SettingsSource as SettingsSource,
    from_folder as from_folder,
    is_inside as is_inside,
    nearest_settings as nearest_settings,
    settings_to_toml as settings_to_toml,
    unknown_task_error as unknown_task_error,
)
from .tables import (
    SCHEMA_FILE as SCHEMA_FILE,
    OverrideTable as OverrideTable,
    SettingsTable as SettingsTable,
    read_table as read_table,
    schema_text as schema_text,
    settings_schema as settings_schema,
)
