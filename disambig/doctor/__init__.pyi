from .checks import (
    OK as OK,
    PROBLEM as PROBLEM,
    WARNING as WARNING,
    CheckResultLine as CheckResultLine,
    asked_by_order as asked_by_order,
    check_sample as check_sample,
    guard_check as guard_check,
)
from .compiling import (
    compile_all as compile_all,
    compiled_finding as compiled_finding,
    is_compiled as is_compiled,
)
