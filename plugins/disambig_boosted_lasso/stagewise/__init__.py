"""One weight a step: the pairs of ExpLoss, the index of features, the steps and the path that they make."""
