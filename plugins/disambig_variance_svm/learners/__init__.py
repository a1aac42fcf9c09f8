"""The learners of the paper and their kin, one file each."""
