from .estimator import (
    RLSClassifier as RLSClassifier,
)
