from .engine import (
    MAX_ATTEMPTS as MAX_ATTEMPTS,
)
from .engine import (
    PATIENCE as PATIENCE,
)
from .engine import (
    DaskRunner as DaskRunner,
)
from .serving import (
    check_environment as check_environment,
)
from .session import (
    PersistentCluster as PersistentCluster,
)
from .session import (
    open_session as open_session,
)
from .session import (
    quiet_logging as quiet_logging,
)
from .session import (
    scheduler_address as scheduler_address,
)
