"""Variance-regularisation SVMs over web n-gram counts: prepositions and confusable words.

S. Bergsma, D. Lin and D. Schuurmans: Improved Natural Language Learning via Variance-Regularization
Support Vector Machines. CoNLL 2010.
"""
