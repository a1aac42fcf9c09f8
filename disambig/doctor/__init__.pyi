from .checks import (
    OK as OK,
)
from .checks import (
    PROBLEM as PROBLEM,
)
from .checks import (
    WARNING as WARNING,
)
from .checks import (
    CheckResultLine as CheckResultLine,
)
from .checks import (
    guard_check as guard_check,
)
from .compiling import (
    compile_all as compile_all,
)
from .sample import (
    asked_by_order as asked_by_order,
)
from .sample import (
    check_sample as check_sample,
)
