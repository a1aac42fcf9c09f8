"""Counting as a job: shards of text to sorted runs, ranges of keys to pieces of a table, pieces to the table.

What is counted, merged and written is that of `disambig.counts.building`; how jobs go on is `disambig.batch`.
"""
