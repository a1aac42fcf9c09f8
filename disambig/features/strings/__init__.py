"""String kernels over the words around a place."""
