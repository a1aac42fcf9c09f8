from .forms import (
    inflections as inflections,
)
from .task import (
    SenseTask as SenseTask,
)
