"""The experiments of Collins 2005, each of which `disambig reproduce` runs."""
