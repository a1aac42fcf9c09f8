"""The index of a count table: its layout, how it is written, how it is asked."""
