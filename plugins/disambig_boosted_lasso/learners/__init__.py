"""Learners that rerank lists of candidates: stagewise learners (boosting, FSLR, BLasso) and two baselines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
