from .features import (
    NUMBERS as NUMBERS,
    UNIT as UNIT,
    ChartVocabulary as ChartVocabulary,
    NamedEdges as NamedEdges,
    PartFeatures as PartFeatures,
    WordTraits as WordTraits,
    mix_hashes as mix_hashes,
    word_shapes as word_shapes,
)
from .parser import (
    PackedParser as PackedParser,
    train_packed_parser as train_packed_parser,
)
from .training_charts import (
    EdgeCosts as EdgeCosts,
    TrainingCharts as TrainingCharts,
    force_derivations as force_derivations,
    wrong_labels as wrong_labels,
)
