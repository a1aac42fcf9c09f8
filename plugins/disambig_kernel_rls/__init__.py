"""Word senses by regularised least squares with kernels: learners, features' kernels, a sense task.

After Popescu (2004), "Regularized least-squares classification for word sense disambiguation".
"""
