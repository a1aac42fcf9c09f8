"""Linear classifiers of sparse rows: perceptron, SGD, passive-aggressive and confidence-weighted learning."""
