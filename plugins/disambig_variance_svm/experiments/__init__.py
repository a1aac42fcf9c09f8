"""Experiments that `disambig reproduce` repeats; each is registered in `plugin`."""
