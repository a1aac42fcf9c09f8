from .engine import (
    MAX_ATTEMPTS as MAX_ATTEMPTS,
    PATIENCE as PATIENCE,
    DaskRunner as DaskRunner,
)
from .serving import (
    check_environment as check_environment,
)
from .session import (
    PersistentCluster as PersistentCluster,
    open_session as open_session,
    quiet_logging as quiet_logging,
    scheduler_address as scheduler_address,
)
