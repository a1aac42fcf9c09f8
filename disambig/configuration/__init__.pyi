from .patterns import (
    GitIgnorePatterns as GitIgnorePatterns,
)
from .project import (
    OWN as OWN,
)
from .project import (
    SHARED as SHARED,
)
from .project import (
    ProjectSettings as ProjectSettings,
)
from .project import (
    SettingsFile as SettingsFile,
)
from .project import (
    is_inside as is_inside,
)
from .project import (
    nearest_settings as nearest_settings,
)
from .settings import (
    ADDED as ADDED,
)
from .settings import (
    CHOICES as CHOICES,
)
from .settings import (
    PATHS as PATHS,
)
from .settings import (
    CheckSettings as CheckSettings,
)
from .settings import (
    SettingsSource as SettingsSource,
)
from .settings import (
    from_folder as from_folder,
)
from .settings import (
    settings_to_toml as settings_to_toml,
)
from .tables import (
    SCHEMA_FILE as SCHEMA_FILE,
)
from .tables import (
    OverrideTable as OverrideTable,
)
from .tables import (
    SettingsTable as SettingsTable,
)
from .tables import (
    read_table as read_table,
)
from .tables import (
    schema_text as schema_text,
)
from .tables import (
    settings_schema as settings_schema,
)
