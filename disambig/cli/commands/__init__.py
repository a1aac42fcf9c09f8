"""The commands, one file each: their options and nothing else."""
