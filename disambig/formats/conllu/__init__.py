"""CoNLL-U: sentences of tokens in ten columns."""
