from .candidates import (
    Lists as Lists,
)
from .candidates import (
    OwnCandidates as OwnCandidates,
)
