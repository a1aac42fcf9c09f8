from .checks import (
    Check as Check,
    blocks as blocks,
    chains as chains,
    check_standalone as check_standalone,
    crossed as crossed,
    crossed_lists as crossed_lists,
    dense_lists as dense_lists,
    lists as lists,
    make_calibration_data as make_calibration_data,
)
from .components import (
    check_extractor as check_extractor,
    check_kernel as check_kernel,
    check_learner as check_learner,
    check_task as check_task,
    check_tokenisation as check_tokenisation,
)
from .decisions import (
    check_batch as check_batch,
    check_decoder as check_decoder,
    check_judge as check_judge,
    check_measure as check_measure,
    outcomes as outcomes,
)
from .jobs import check_reader as check_reader, check_runner as check_runner
