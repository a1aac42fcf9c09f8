"""Kernels, linear systems and RLSClassifier: scikit-learn's values, residuals, leave-one-out, errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from disambig_kernel_rls import RLSClassifier
from disambig_kernel_rls.rls import (
    GRID,
    RLSC,
    DualSystem,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    PrimalSystem,
    RLSCComb,
    best_regularisation,
    leave_one_out_quality,
    prepare_problem,
)
from examples import fewer_examples
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from sense_rows import make_rows, make_sense_batch
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import estimator_checks_generator

from disambig.api import hookimpl
from disambig.config import resolve
from disambig.errors import UserError
from disambig.testing import blocks, check_kernel, check_learner, crossed


@given(
    kind=st.sampled_from([LinearKernel, PolynomialKernel, GaussianKernel]),
    normalise=st.sampled_from(["row", "groups"]),
    seed=st.integers(0, 10**6),
    scale=st.floats(1e-3, 1e3),
)
def test_similarity_to_itself_is_one(kind, normalise, seed, scale):
    kernel = kind(normalise=normalise)
    batch = make_rows(12, 30, seed=seed)
    full = batch.rows.toarray() * scale
    full[:, [20, 21]] += scale  # one feature of each group at least
    rows = kernel.rows(replace(batch, rows=csr_array(full)))
    gram = kernel.gram(rows, rows)
    assert np.diag(gram) == pytest.approx(1.0, abs=1e-12)
    assert gram.max() <= 1.0 + 1e-12
    assert np.linalg.eigvalsh(gram)[0] >= -1e-12


def test_rows_of_linear_kernels():
    batch = make_rows(20, 40)
    full = batch.rows.toarray()
    parts = [normalize(full[:, g::2]) for g in (0, 1)]
    kernel = LinearKernel(normalise="groups", weights={"local": 1.0, "broad": 3.0})
    rows = kernel.rows(batch)
    expected = pytest.approx(0.25 * parts[0] @ parts[0].T + 0.75 * parts[1] @ parts[1].T)
    assert kernel.gram(rows, rows) == expected
    assert LinearKernel().rows(batch).toarray() == pytest.approx(normalize(full))
    assert (LinearKernel(normalise="none").rows(batch) != batch.rows).nnz == 0
    batch = make_sense_batch(
        [[0.0, 0, 0, 0], [3, 0, 4, 0], [1, 1, 0, 0]], [0, 1, 1]
    )  # local, broad, local, broad
    rows = LinearKernel(normalise="groups").rows(batch)
    assert np.diag(LinearKernel().gram(rows, rows)) == pytest.approx([0.0, 0.5, 1.0])
    assert GaussianKernel().gram(rows, rows)[0, 2] == pytest.approx(np.exp(-1))


def test_kernels_equal_scikit_learn():
    batch = make_rows(20, 40)
    full = batch.rows.toarray()
    kernels = {
        GaussianKernel(gamma=0.3, normalise="none"): rbf_kernel(full, gamma=0.3),
        GaussianKernel(gamma=2.0): rbf_kernel(normalize(full), gamma=2.0),
        PolynomialKernel(degree=3, offset=0.5, normalise="none"): polynomial_kernel(full, None, 3, 1.0, 0.5),
        PolynomialKernel(degree=3, offset=0.5): polynomial_kernel(normalize(full), None, 3, 1.0, 0.5)
        / 1.5**3,
    }
    for kernel, expected in kernels.items():
        rows = kernel.rows(batch)
        assert kernel.gram(rows, rows) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kind", "settings", "code"),
    [
        (LinearKernel, {"normalise": "l2"}, "D778"),
        (LinearKernel, {"normalise": None}, "D778"),
        (LinearKernel, {"weights": {"local": 1.0}}, "D778"),
        *(
            (LinearKernel, {"normalise": "groups", "weights": bad}, "D777")
            for bad in ("loo", {"local": -1.0}, {"local": 0.0}, {"local": np.nan}, {"local": "1"}, {}, 3)
        ),
        *((GaussianKernel, {"gamma": bad}, "D760") for bad in (0, -1.0, np.inf, np.nan, "1", True)),
        *((PolynomialKernel, {"degree": bad}, "D452") for bad in (0, 1.5, True)),
        *((PolynomialKernel, {"offset": bad}, "D780") for bad in (-0.5, np.inf, "x")),
    ],
)
def test_invalid_settings(kind, settings, code):
    with pytest.raises(UserError, match=kind.__name__) as caught:
        kind(**settings)
    assert caught.value.code == code


@dataclass(frozen=True)
class Overlap:
    """A kernel of another plugin: the share of common columns."""

    power: float = 1.0
    is_linear: bool = False

    def rows(self, batch):
        return csr_array(batch.rows != 0, dtype=np.float64)

    def gram(self, left, right):
        common = (left @ right.T).toarray()
        sizes = left.sum(axis=1)[:, None] + right.sum(axis=1) - common
        return (common / np.maximum(sizes, 1)) ** self.power


@hookimpl
def disambig_register_kernels(register):
    register("somebody.Overlap.v1", Overlap)


def test_kernels_in_a_config(load_with):
    section = {"@disambig_kernels": "kernel_rls.Gaussian.v1", "gamma": 2.0, "normalise": "groups"}
    assert resolve({"kernel": section})["kernel"] == GaussianKernel(gamma=2.0, normalise="groups")
    with pytest.raises(UserError, match=r"D001.*kernel_rls\.Gaussian\.v1"):
        resolve({"kernel": {"@disambig_kernels": "kernel_rls.Gauss.v1"}})
    load_with(somebody=__name__)
    kernel = {"@disambig_kernels": "somebody.Overlap.v1", "power": 2.0}
    section = {"@disambig_learners": "kernel_rls.RLSC.v1", "regularisation": "loo", "kernel": kernel}
    learner = resolve({"learner": section})["learner"]
    assert learner == RLSC(kernel=Overlap(2.0), regularisation="loo")
    for check in [*check_kernel(Overlap()), *check_learner(learner, crossed(), least=1.0)]:
        check()


def test_invalid_kernels():
    for bad in ("linear", LinearKernel, 3, object()):
        with pytest.raises(UserError, match="D781"):
            RLSC(kernel=bad)
    for kernel, batch, code in (
        (PolynomialKernel(normalise="none", degree=4), make_rows(10), "D782"),
        (LinearKernel(normalise="none"), make_rows(10, twins=5), "D779"),
    ):
        huge = replace(batch, rows=csr_array(batch.rows * 1e90))
        with pytest.raises(UserError, match=code):
            RLSC(kernel=kernel).fit(huge)


PROBLEMS = {
    "n": st.integers(2, 30),
    "width": st.integers(6, 50),
    "seed": st.integers(0, 10**6),
    "several": st.sampled_from([0.0, 0.3]),
}


def make_problem(n=40, width=60, seed=0, *, several=0.0, twins=0, kernel=None):
    batch = make_rows(n, width, seed=seed, several=several, twins=min(twins, n // 2))
    return prepare_problem(batch, kernel or LinearKernel(normalise="groups"))


def dual_system(problem):
    return DualSystem((problem.rows @ problem.rows.T).toarray())


def relative_residual(gram, targets, shift, coefficients):
    """Return the largest residual in the measure of the bound: over ``|A| |c|``."""
    matrix = gram + shift * np.eye(len(gram))
    left = np.linalg.norm(matrix @ coefficients - targets, axis=0)
    return (left / (np.linalg.norm(matrix, 2) * np.linalg.norm(coefficients, axis=0))).max()


@given(**PROBLEMS, twins=st.integers(0, 15), lam=st.sampled_from([1e-9, 1e-6, 1e-2, 1.0]))
def test_residual_bound(n, width, seed, several, twins, lam):
    problem = make_problem(n, width, seed, several=several, twins=twins)
    system = dual_system(problem)
    result = system.solve(problem.targets, n * lam)
    assert relative_residual(system.gram, problem.targets, n * lam, result) <= 1e-13


@fewer_examples
@given(**PROBLEMS, kernel=st.sampled_from([LinearKernel(), GaussianKernel(gamma=0.5)]))
def test_left_out_scores_equal_refitting(n, width, seed, several, kernel):
    """The dual system, one value at a time and along a path, and the primal if there is one."""
    problem = make_problem(n, width, seed, several=several, kernel=kernel)
    targets = problem.targets
    gram = kernel.gram(problem.rows, problem.rows)
    shifts = [n * 1e-4, n * 1e-2, n * 1.0]
    systems = [DualSystem(gram), *([PrimalSystem(problem.rows.toarray())] if kernel.is_linear else [])]
    refitted = np.empty((len(shifts), *targets.shape))
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        for s, shift in enumerate(shifts):
            matrix = gram[np.ix_(rest, rest)] + shift * np.eye(n - 1)
            refitted[s, i] = gram[i, rest] @ np.linalg.solve(matrix, targets[rest])
    for system in systems:
        at_once = np.array(list(system.left_out(targets, shifts)))
        one_by_one = np.array([next(iter(system.left_out(targets, [shift]))) for shift in shifts])
        assert at_once == pytest.approx(refitted, abs=1e-8)
        assert one_by_one == pytest.approx(refitted, abs=1e-8)


@pytest.mark.parametrize("twins", [0, 12])
def test_left_out_scores_at_the_lambda_of_the_paper(twins):
    problem = make_problem(60, 90, twins=twins)
    gram, targets = dual_system(problem).gram, problem.targets
    shift = 60 * 1e-9
    both = [shift], [shift, 1.0]  # factorised and decomposed
    result = [next(iter(DualSystem(gram).left_out(targets, shifts))) for shifts in both]
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        matrix = gram[np.ix_(rest, rest)] + shift * np.eye(59)
        scores = gram[i, rest] @ np.linalg.solve(matrix, targets[rest])
        for item in result:
            assert item[i] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("width", [20, 90], ids=["narrow", "wide"])
def test_solution_and_leave_one_out_are_computed_together(width):
    problem = make_problem(40, width)
    targets, indefinite = problem.targets, np.diag(np.arange(40) - 20.0)
    for system in (dual_system(problem), PrimalSystem(problem.rows.toarray()), DualSystem(indefinite)):
        solution, left_out = system.solve_left_out(targets, 0.3)
        assert solution.tolist() == system.solve(targets, 0.3).tolist()
        assert left_out.tolist() == next(iter(system.left_out(targets, [0.3]))).tolist()


def test_odd_systems():
    alone = DualSystem(np.array([[1.0]]))
    assert alone.solve(np.array([[1.0, -1.0]]), 0.5) == pytest.approx(np.array([[2 / 3, -2 / 3]]))
    assert next(iter(alone.left_out(np.array([[1.0, -1.0]]), [0.5]))).tolist() == [[0.0, 0.0]]
    empty = prepare_problem(make_sense_batch(np.zeros((3, 4)), [0, 1, 1]), LinearKernel())
    for system in (dual_system(empty), PrimalSystem(empty.rows.toarray())):
        assert (next(iter(system.left_out(empty.targets, [1e-9]))) == 0).all()
        assert all((scores == 0).all() for scores in system.left_out(empty.targets, [1e-9, 1e-3]))
    assert PrimalSystem(np.zeros((3, 0))).solve(empty.targets, 1e-9).shape == (0, 2)
    gram = np.diag([1.0, -0.5, 2.0])
    targets = np.array([[1.0], [-1.0], [1.0]])
    assert DualSystem(gram).solve(targets, 0.1) == pytest.approx(targets / (np.diag(gram)[:, None] + 0.1))
    assert next(iter(DualSystem(gram).left_out(targets, [0.1]))) == pytest.approx(np.zeros((3, 1)))
    for call in (DualSystem(gram).solve, lambda y, s: list(DualSystem(gram).left_out(y, [s]))):
        with pytest.raises(UserError, match="D779"):
            call(targets, 0.5)


@pytest.mark.parametrize("seed", range(6))
def test_best_regularisation(seed):
    problem = make_problem(50, 70, seed=seed)
    system = dual_system(problem)
    left_out = (next(iter(system.left_out(problem.targets, [50 * v]))) for v in GRID)
    result = [leave_one_out_quality(problem, scores) for scores in left_out]
    value, best = best_regularisation(problem, system)
    assert best.accuracy == max(item.accuracy for item in result)
    tied = [v for v, item in zip(GRID, result, strict=True) if item.accuracy == best.accuracy]
    assert value in tied
    assert best.fit == pytest.approx(max(item.fit for item in result if item.accuracy == best.accuracy))
    assert len({item.accuracy for item in result}) > 1


@pytest.mark.parametrize("closest", [0, 7, 18])
def test_best_regularisation_of_equal_accuracies(closest):
    class Made:
        def left_out(self, targets, shifts):
            for i in range(len(shifts)):
                yield targets * (1 + 0.01 * max(abs(i - closest), 1))  # the neighbours are as close

    value, best = best_regularisation(make_problem(), Made())
    assert value == GRID[max(closest - 1, 0)]
    assert best == (1.0, pytest.approx(-1e-4))


def test_quality_of_scores():
    problem = prepare_problem(make_sense_batch(np.eye(4), [[0, 1], 1, 1, 0], 3), LinearKernel())
    # in the second row 0 and 1 are tied: without it, each is right twice, and the first wins
    scores = np.array([[0.0, 1.0, 0.5], [0.3, 0.3, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert leave_one_out_quality(problem, scores).accuracy == 0.25
    assert leave_one_out_quality(problem, problem.targets) == (1.0, 0.0)


@pytest.mark.parametrize(
    "kernel", [LinearKernel(), GaussianKernel(), PolynomialKernel(normalise="groups")], ids=repr
)
def test_contract_on_blocks(kernel):
    for check in check_kernel(kernel, blocks(20)):
        if check.name != "is_linear_if_declared":
            check()


CHECKED = {
    "linear": RLSClassifier(),
    "as-it-is": RLSClassifier(normalise="none", alpha="loo"),
    "rbf": RLSClassifier("rbf", normalise="none"),
    "poly": RLSClassifier("poly", alpha="loo"),
    "groups": RLSClassifier(normalise="groups", group_weights="loo"),
    "precomputed": RLSClassifier("precomputed", alpha=1e-3),
    "callable": RLSClassifier(cosine_similarity, alpha=1e-6),
}
PLAIN = ("linear", "poly", "precomputed")  # the others are slow only because there are many
CHECKS = []
for name, classifier in CHECKED.items():
    marks = () if name in PLAIN else pytest.mark.slow
    for i, pair in enumerate(estimator_checks_generator(classifier)):
        check_name = getattr(pair[1], "func", pair[1]).__name__
        CHECKS.append(pytest.param(*pair, id=f"{name}-{i}-{check_name}", marks=marks))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_examples(n=60, width=40, senses=3, *, seed=0):
    """Return counts, sparse, and the senses by name."""
    batch = make_rows(n, width, senses, seed=seed)
    return batch.rows, np.array(["bank", "money", "river"])[batch.costs.argmin(axis=1)]


def as_batch(X, y, groups=None):
    return make_sense_batch(X, np.unique(y, return_inverse=True)[1], groups=groups, group_names=("0", "1"))


@pytest.mark.parametrize("width", [40, 90])
@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({}, LinearKernel()),
        ({"normalise": "none"}, LinearKernel(normalise="none")),
        ({"kernel": "rbf", "gamma": 0.3}, GaussianKernel(gamma=0.3)),
        ({"kernel": "poly", "degree": 3, "coef0": 2.0}, PolynomialKernel(degree=3, offset=2.0)),
        ({"kernel": "poly", "normalise": "none"}, PolynomialKernel(normalise="none")),
    ],
    ids=str,
)
def test_equal_to_the_learner(settings, kernel, width):
    (X, y), (new, labels) = make_examples(width=width), make_examples(20, width, seed=1)
    for alpha in (1e-4, "loo"):
        fitted = RLSClassifier(alpha=alpha, **settings).fit(X, y)
        learned = RLSC(kernel=kernel, regularisation=alpha).fit(as_batch(X, y))
        expected = learned.scorer.scores(as_batch(new, labels)).reshape(20, 3)
        assert fitted.decision_function(new) == pytest.approx(expected, abs=3e-6)
        assert fitted.alpha_ == learned.report["regularisation"]
        assert fitted.predict(new).tolist() == fitted.classes_[expected.argmax(axis=1)].tolist()


@pytest.mark.parametrize("weights", [None, [3.0, 1.0], "alignment", "loo"], ids=str)
def test_feature_groups(weights):
    (X, y), (new, labels) = make_examples(), make_examples(20, seed=1)
    groups = np.arange(40) % 2
    fitted = RLSClassifier(normalise="groups", groups=groups, group_weights=weights, alpha=1e-4).fit(X, y)
    named = dict(zip("01", weights, strict=True)) if isinstance(weights, list) else weights
    batch = as_batch(X, y, groups.astype(np.int32))
    learned = RLSCComb(weights=named, regularisation=1e-4).fit(batch)
    assert fitted.group_weights_ == pytest.approx(list(learned.report["weights"].values()))
    test = as_batch(new, labels, groups.astype(np.int32))
    expected = learned.scorer.scores(test).reshape(20, 3)
    assert fitted.decision_function(new) == pytest.approx(expected, abs=3e-6)
    gaussian = RLSClassifier("rbf", "groups", groups, weights, alpha=1e-4).fit(X, y)
    kernel = GaussianKernel(normalise="groups", weights=dict(zip("01", gaussian.group_weights_, strict=True)))
    scores = RLSC(kernel=kernel, regularisation=1e-4).fit(batch).scorer.scores(test)
    assert gaussian.decision_function(new).ravel() == pytest.approx(scores, abs=3e-6)


def test_two_classes():
    X, y = make_examples(senses=2)
    fitted = RLSClassifier("rbf", alpha=1e-2).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=1.0, alpha=60 * 1e-2)
    theirs.fit(normalize(X), np.where(y == "money", 1.0, -1.0))
    assert fitted.dual_coef_ == pytest.approx(theirs.dual_coef_[:, None], abs=1e-9)
    assert fitted.decision_function(X) == pytest.approx(theirs.predict(normalize(X)), abs=1e-9)
    assert fitted.loo_decision_function_.shape == (60,)
    linear = RLSClassifier(alpha=1e-2).fit(X, y)
    assert linear.coef_.shape == (1, 40)
    assert not hasattr(linear, "dual_coef_")
    assert normalize(X) @ linear.coef_[0] == pytest.approx(linear.decision_function(X))


def test_precomputed_and_callable_kernels():
    (X, y), (new, _) = make_examples(), make_examples(20, seed=1)
    expected = RLSClassifier("rbf", gamma=0.5, alpha=1e-3).fit(X, y).decision_function(new)
    rows, others = normalize(X), normalize(new)
    gram = GaussianKernel(gamma=0.5).gram(csr_array(rows), csr_array(rows))
    cross = GaussianKernel(gamma=0.5).gram(csr_array(others), csr_array(rows))
    for kernel in (gram, csr_array(gram)):
        fitted = RLSClassifier("precomputed", alpha=1e-3).fit(kernel, y)
        assert fitted.decision_function(cross) == pytest.approx(expected, abs=1e-9)
    called = RLSClassifier(GaussianKernel(gamma=0.5).gram, alpha=1e-3).fit(X, y)
    assert called.decision_function(new) == pytest.approx(expected, abs=1e-9)

    def squared(left, right):
        assert isinstance(left, np.ndarray) and isinstance(right, np.ndarray)  # as the rows are given
        return (left @ right.T + 1) ** 2

    X, y = np.eye(6) + 0.1, [0, 1, 0, 1, 0, 1]
    mine = RLSClassifier(kernel=squared, alpha=1e-3).fit(X, y)
    ours = RLSClassifier(kernel="poly", degree=2, coef0=1.0, alpha=1e-3 / 4).fit(X, y)  # divided by 4
    np.testing.assert_allclose(mine.decision_function(X), ours.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("width", [15, 90])
@pytest.mark.parametrize("senses", [2, 3])
def test_leave_one_out_equals_scikit_learn(width, senses):
    X, y = make_examples(40, width, senses)
    classifier = RLSClassifier(alpha=1e-2 * 39 / 40).fit(X, y)
    settings = {"cv": LeaveOneOut(), "method": "decision_function"}
    refitted = cross_val_predict(RLSClassifier(alpha=1e-2), X, y, **settings)
    assert classifier.loo_decision_function_ == pytest.approx(refitted, abs=1e-8)
    scores = refitted if senses == 3 else np.column_stack([-refitted, refitted])
    assert classifier.loo_score_ == pytest.approx(np.mean(classifier.classes_[scores.argmax(axis=1)] == y))


def test_sparse_and_dense_rows_are_the_same():
    (X, y), (new, _) = make_examples(), make_examples(20, seed=1)
    for classifier in CHECKED.values():
        if classifier.kernel != "precomputed":
            sparse = clone(classifier).fit(X, y).decision_function(new)
            dense = clone(classifier).fit(X.toarray(), y).decision_function(new.toarray())
            assert dense == pytest.approx(sparse, abs=1e-6)


def test_second_fits_and_grid_searches():
    X, y = make_examples()
    classifier = RLSClassifier("rbf").fit(X, y)
    classifier.set_params(kernel="linear").fit(X, y)
    assert not hasattr(classifier, "dual_coef_") and not hasattr(classifier, "X_fit_")
    assert hasattr(classifier.set_params(normalise="groups").fit(X, y), "group_weights_")
    assert not hasattr(classifier.set_params(normalise="row").fit(X, y), "group_weights_")
    X, y = make_examples(120)
    grid = {"alpha": [1e-9, 1e-2, "loo"], "kernel": ["linear", "rbf"]}
    assert GridSearchCV(RLSClassifier(), grid, cv=3).fit(X, y).best_score_ > 0.6


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"kernel": "sigmoid"}, "D778"),
        ({"kernel": None}, "D778"),
        ({"normalise": "l2"}, "D778"),
        ({"alpha": 0.0}, "D776"),
        ({"alpha": "cv"}, "D776"),
        ({"alpha": np.array([1.0, 2.0])}, "D776"),
        ({"alpha": 1e308}, "D776"),
        ({"normalise": np.array(["row", "none"])}, "D778"),
        ({"kernel": "poly", "degree": 10**400}, "D513"),
        ({"normalise": "groups", "groups": [10**7] * 40}, "D783"),
        ({"kernel": "rbf", "gamma": 0.0}, "D760"),
        ({"kernel": "rbf", "gamma": 10**400}, "D760"),
        ({"kernel": "poly", "degree": 0}, "D452"),
        ({"kernel": "poly", "coef0": -1.0}, "D780"),
        ({"normalise": "groups", "groups": [0, 1]}, "D783"),
        ({"normalise": "groups", "groups": [-1] * 40}, "D783"),
        ({"normalise": "groups", "groups": [0.5] * 40}, "D783"),
        ({"normalise": "groups", "group_weights": [1.0, 2.0]}, "D784"),
        ({"normalise": "groups", "group_weights": "equal"}, "D777"),
        ({"normalise": "groups", "group_weights": [-1.0]}, "D777"),
        ({"group_weights": [1]}, "D778"),
        ({"group_weights": "alignment"}, "D778"),
        ({"groups": [0, 1]}, "D778"),
        ({"groups": [0] * 40, "normalise": "none"}, "D778"),
        ({"kernel": "precomputed", "normalise": "groups", "group_weights": "loo"}, "D778"),
        ({"kernel": lambda left, right: np.ones((2, 2))}, "D782"),
        ({"kernel": lambda left, right: np.full((60, 60), np.nan)}, "D782"),
        ({"kernel": "precomputed"}, "D782"),
    ],
)
def test_invalid_settings_of_the_classifier(settings, code):
    X, y = make_examples()
    estimator = RLSClassifier(**settings)  # scikit-learn's manner: nothing is checked before fit
    with pytest.raises(UserError, match=code):
        estimator.fit(X, y)


def test_groups_are_for_rows_normalised_by_group():
    X, y = make_examples()
    with pytest.raises(UserError, match=r"normalise, with group_weights, is 'row'; available: groups"):
        RLSClassifier(group_weights=[1]).fit(X, y)
    with pytest.raises(UserError, match=r"kernel, with groups, is 'precomputed'"):
        RLSClassifier("precomputed", "groups", [0] * 60).fit(X @ X.T, y)
    by_group = RLSClassifier(cosine_similarity, "groups", [0] * 40, "loo").fit(X, y)
    assert by_group.group_weights_.tolist() == [1.0]
    with pytest.raises(UserError, match=r"D706.*'bank'"):
        RLSClassifier().fit(X, ["bank"] * len(y))


@pytest.mark.parametrize("normalise", ["row", "groups"])
def test_scale_of_the_numbers(normalise):
    X, y = make_examples()
    expected = RLSClassifier(normalise=normalise).fit(X, y).decision_function(X)
    for rows in (X * 1e-170, X.toarray() * 1e-170, X * 1e90):
        result = RLSClassifier(normalise=normalise).fit(rows, y).decision_function(rows)
        assert result == pytest.approx(expected, abs=1e-6)
    for rows in (X * 1e120, X.toarray() * 1e120):
        with pytest.raises(UserError, match="D773"):
            RLSClassifier(normalise="none").fit(rows, y)
