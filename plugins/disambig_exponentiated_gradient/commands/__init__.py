"""Commands of `disambig` that this plugin brings: a file each, no logic in it."""
