#!/usr/bin/env python3
"""Fits estimators of scikit-learn, with its dispatch to array namespaces, to tensors and to NumPy's arrays, in a process of its own:
SCIPY_ARRAY_API must be set before SciPy is imported. Prints for each estimator and dtype the types of the results, and how far their
values are apart, in units of the dtype's precision and of the largest value.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import json
import warnings

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeCV
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

import flex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
Y = X @ [1, -2, 0.5, 0, 1] + RNG.normal(size=200) * 0.3
CLASSES = (Y > 0).astype(np.int64)
SCORES = 1 / (1 + np.exp(-Y - RNG.normal(size=200)))


def mixture():
    """Without reg_covar, which scikit-learn adds to a view: a view of a tensor is a value, and the sum would be lost."""
    return GaussianMixture(
        2, init_params="random", random_state=0, max_iter=4, tol=1e-9, reg_covar=0
    )


# an estimator, what it is fitted to besides X, its attributes to compare, its methods of X
ESTIMATORS = {
    "PCA full": (
        lambda: PCA(3, svd_solver="full"),
        None,
        "components_ explained_variance_ explained_variance_ratio_ singular_values_ mean_ noise_variance_",
        "transform score_samples",
    ),
    "PCA covariance_eigh": (
        lambda: PCA(3, svd_solver="covariance_eigh", whiten=True),
        None,
        "components_ explained_variance_",
        "transform",
    ),
    "Ridge": (lambda: Ridge(solver="svd"), Y, "coef_ intercept_", "predict"),
    "RidgeCV": (lambda: RidgeCV(alphas=(0.1, 1.0, 10.0)), Y, "coef_ intercept_", "predict"),
    "RidgeClassifier": (
        lambda: RidgeClassifier(solver="svd"),
        CLASSES,
        "coef_",
        "predict decision_function",
    ),
    "LDA": (
        lambda: LinearDiscriminantAnalysis(solver="svd"),
        CLASSES,
        "coef_ means_",
        "predict predict_proba transform",
    ),
    "GaussianMixture": (mixture, None, "means_ covariances_ weights_", "predict predict_proba"),
    "StandardScaler": (StandardScaler, None, "mean_ scale_ var_", "transform inverse_transform"),
    "MinMaxScaler": (MinMaxScaler, None, "min_ scale_", "transform"),
    "MaxAbsScaler": (MaxAbsScaler, None, "scale_", "transform"),
    "Normalizer": (Normalizer, None, "", "transform"),
}
METRICS = {
    roc_auc_score: (CLASSES, SCORES),
    log_loss: (CLASSES, SCORES),
    accuracy_score: (CLASSES, CLASSES[::-1].copy()),
    r2_score: (Y, Y + 0.3 * X[:, 0]),
    mean_squared_error: (Y, Y + X[:, 0]),
    mean_absolute_error: (Y, Y + X[:, 0]),
}


def results(name, dtype, convert):
    make, target, attributes, methods = ESTIMATORS[name]
    x = convert(X.astype(dtype))
    if target is Y:
        target = Y.astype(dtype)
    model = make().fit(x, *([] if target is None else [convert(target)]))
    values = [getattr(model, a) for a in attributes.split()]
    return values + [getattr(model, m)(x) for m in methods.split()]


def main() -> None:
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConvergenceWarning)
    sklearn.set_config(array_api_dispatch=True)
    report = {}
    for dtype in ("float32", "float64"):
        for name in ESTIMATORS:
            # scikit-learn makes arrays of Python's numbers
            with flex.default_dtype(dtype):
                found, expected = (results(name, dtype, f) for f in (flex.asarray, np.asarray))
            # signs of components are arbitrary
            pairs = [
                (abs(np.asarray(f, np.float64)), abs(np.asarray(e, np.float64)))
                for f, e in zip(found, expected, strict=True)
            ]
            apart = max(abs(f - e).max() / max(1, e.max()) for f, e in pairs)
            types = sorted({type(f).__name__ for f in found})
            report[f"{name}, {dtype}"] = types, float(apart / np.finfo(dtype).eps)
    for f, args in METRICS.items():
        apart = abs(f(*map(flex.asarray, args)) - f(*args))
        report[f.__name__] = ["float"], float(apart / np.finfo(np.float32).eps)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
