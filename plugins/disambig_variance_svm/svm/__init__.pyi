from .list_solver import (
    solve_lists as solve_lists,
)
from .problem import (
    Regulariser as Regulariser,
)
from .solvers import (
    solve as solve,
)
