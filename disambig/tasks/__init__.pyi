from .candidates import (
    Lists as Lists,
    OwnCandidates as OwnCandidates,
)
