from .corrections import (
    CorrectionKind as CorrectionKind,
    Vocabulary as Vocabulary,
    WordEdit as WordEdit,
    changed_paragraphs as changed_paragraphs,
    classify as classify,
    word_edits as word_edits,
)
from .history import (
    ChangedFile as ChangedFile,
    Commit as Commit,
    History as History,
)
from .languages import (
    ENGLISH as ENGLISH,
    LANGUAGES as LANGUAGES,
    CorrectionWords as CorrectionWords,
)
from .miner import (
    CleanParagraph as CleanParagraph,
    MinedCorrection as MinedCorrection,
    MinedProject as MinedProject,
    Miner as Miner,
    PackVocabulary as PackVocabulary,
    check_output as check_output,
    select_corrections as select_corrections,
    summarise as summarise,
    write_mined as write_mined,
)
from .paragraphs import (
    Paragraph as Paragraph,
    read_paragraphs as read_paragraphs,
)
from .settings_file import (
    TunedSettings as TunedSettings,
    tuned_settings as tuned_settings,
)
from .tuning import (
    IGNORE_FILE as IGNORE_FILE,
    HistoryHalf as HistoryHalf,
    Measurement as Measurement,
    ProjectLayer as ProjectLayer,
    TunedProject as TunedProject,
    Tuning as Tuning,
    divide as divide,
    tune as tune,
    tune_project as tune_project,
)
