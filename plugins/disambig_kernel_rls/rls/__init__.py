"""Regularised least squares: the systems and how they are solved, leave-one-out, learners, scorers."""
