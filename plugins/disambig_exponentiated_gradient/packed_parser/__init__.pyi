from .features import (
    NUMBERS as NUMBERS,
)
from .features import (
    UNIT as UNIT,
)
from .features import (
    ChartVocabulary as ChartVocabulary,
)
from .features import (
    NamedEdges as NamedEdges,
)
from .features import (
    PartFeatures as PartFeatures,
)
from .features import (
    WordTraits as WordTraits,
)
from .features import (
    mix_hashes as mix_hashes,
)
from .features import (
    word_shapes as word_shapes,
)
from .parser import (
    PackedParser as PackedParser,
)
from .parser import (
    train_packed_parser as train_packed_parser,
)
from .training_charts import (
    EdgeCosts as EdgeCosts,
)
from .training_charts import (
    TrainingCharts as TrainingCharts,
)
from .training_charts import (
    force_derivations as force_derivations,
)
from .training_charts import (
    wrong_labels as wrong_labels,
)
