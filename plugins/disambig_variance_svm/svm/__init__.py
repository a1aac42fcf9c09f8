"""The optimisation behind the variance SVMs: a problem, a fast solver with a certificate, a reference.

Arrays in, arrays out: no task, no config and no learner enters this room.
"""
