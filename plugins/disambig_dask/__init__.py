"""Jobs of disambig on a cluster of Dask."""
