"""Rerankers to compare with: an averaged perceptron, and logistic regression over pairs with L2."""
