"""Features of each token of a sentence, for tasks that label all of them."""
