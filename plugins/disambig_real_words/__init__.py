"""Every word can be the wrong one: articles, forms of words, slips and doubled words, decided in context."""
