from .corrections import (
    CorrectionKind as CorrectionKind,
)
from .corrections import (
    Vocabulary as Vocabulary,
)
from .corrections import (
    WordEdit as WordEdit,
)
from .corrections import (
    changed_paragraphs as changed_paragraphs,
)
from .corrections import (
    classify as classify,
)
from .corrections import (
    distance as distance,
)
from .corrections import (
    word_edits as word_edits,
)
from .history import (
    ChangedFile as ChangedFile,
)
from .history import (
    Commit as Commit,
)
from .history import (
    History as History,
)
from .languages import (
    ENGLISH as ENGLISH,
)
from .languages import (
    LANGUAGES as LANGUAGES,
)
from .languages import (
    CorrectionWords as CorrectionWords,
)
from .miner import (
    CleanParagraph as CleanParagraph,
)
from .miner import (
    MinedCorrection as MinedCorrection,
)
from .miner import (
    MinedProject as MinedProject,
)
from .miner import (
    Miner as Miner,
)
from .miner import (
    PackVocabulary as PackVocabulary,
)
from .miner import (
    select_corrections as select_corrections,
)
from .miner import (
    summarise as summarise,
)
from .output import (
    check_output as check_output,
)
from .output import (
    write_mined as write_mined,
)
from .paragraphs import (
    Paragraph as Paragraph,
)
from .paragraphs import (
    read_paragraphs as read_paragraphs,
)
from .settings_file import (
    TunedSettings as TunedSettings,
)
from .settings_file import (
    tuned_settings as tuned_settings,
)
from .tuning import (
    IGNORE_FILE as IGNORE_FILE,
)
from .tuning import (
    HistoryHalf as HistoryHalf,
)
from .tuning import (
    Measurement as Measurement,
)
from .tuning import (
    ProjectLayer as ProjectLayer,
)
from .tuning import (
    TunedProject as TunedProject,
)
from .tuning import (
    Tuning as Tuning,
)
from .tuning import (
    divide as divide,
)
from .tuning import (
    tune as tune,
)
from .tuning import (
    tune_project as tune_project,
)
