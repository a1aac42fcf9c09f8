"""The systems: residuals, both forms, leave-one-out against refitting, and other people's solvers."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls.rls import (
    GRID,
    DualSystem,
    GaussianKernel,
    LinearKernel,
    PrimalSystem,
    best_regularisation,
    leave_one_out_quality,
    prepare_problem,
)
from hypothesis import given
from hypothesis import strategies as st
from sense_rows import made, rows_of

from disambig.errors import UserError

PROBLEMS = {
    "n": st.integers(2, 30),
    "width": st.integers(6, 50),
    "seed": st.integers(0, 10**6),
    "several": st.sampled_from([0.0, 0.3]),
}


def problem_of(n=40, width=60, seed=0, *, several=0.0, twins=0, kernel=None):
    batch = made(n, width, seed=seed, several=several, twins=min(twins, n // 2))
    return prepare_problem(batch, kernel or LinearKernel(normalise="groups"))


def dual_of(problem):
    return DualSystem((problem.rows @ problem.rows.T).toarray())


def residual(gram, targets, shift, coefficients):
    """Return the largest residual in the measure of the bound: over ``|A| |c|``."""
    matrix = gram + shift * np.eye(len(gram))
    left = np.linalg.norm(matrix @ coefficients - targets, axis=0)
    return (left / (np.linalg.norm(matrix, 2) * np.linalg.norm(coefficients, axis=0))).max()


@given(**PROBLEMS, twins=st.integers(0, 15), lam=st.sampled_from([1e-9, 1e-6, 1e-2, 1.0]))
def test_the_residual_is_within_its_bound(n, width, seed, several, twins, lam):
    problem = problem_of(n, width, seed, several=several, twins=twins)
    system = dual_of(problem)
    found = system.solve(problem.targets, n * lam)
    assert residual(system.gram, problem.targets, n * lam, found) <= 1e-13


@pytest.mark.parametrize("kernel", [LinearKernel(), GaussianKernel(gamma=0.1)], ids=["linear", "gaussian"])
def test_the_residual_is_within_its_bound_for_a_large_word_with_twins(kernel):
    problem = prepare_problem(made(500, 900, 12, twins=200), kernel)
    gram = kernel.gram(problem.rows, problem.rows)
    found = DualSystem(gram).solve(problem.targets, 500 * 1e-9)
    assert np.abs(found).max() > 1e5  # twins of different senses: the solution is large
    assert residual(gram, problem.targets, 500 * 1e-9, found) <= 1e-13
    scores = gram @ found
    assert np.abs(scores[:200] - scores[-200:]).max() < 1e-6


@given(**PROBLEMS, lam=st.sampled_from([1e-4, 1e-2, 1.0]))
def test_primal_is_dual(n, width, seed, several, lam):
    problem = problem_of(n, width, seed, several=several)
    rows, targets = problem.rows.toarray(), problem.targets
    dual, primal = dual_of(problem), PrimalSystem(rows)
    weights = primal.solve(targets, n * lam)
    assert weights == pytest.approx(rows.T @ dual.solve(targets, n * lam), abs=1e-9)
    (ours,), (theirs,) = (list(system.left_out(targets, [n * lam])) for system in (primal, dual))
    assert ours == pytest.approx(theirs, abs=1e-8)


@given(**PROBLEMS, kernel=st.sampled_from([LinearKernel(), GaussianKernel(gamma=0.5)]))
def test_leave_one_out_is_refitting_without_one(n, width, seed, several, kernel):
    """Of the dual one value at a time and along a path, and of the primal where there is one."""
    problem = problem_of(n, width, seed, several=several, kernel=kernel)
    targets = problem.targets
    gram = kernel.gram(problem.rows, problem.rows)
    shifts = [n * 1e-4, n * 1e-2, n * 1.0]
    systems = (
        [DualSystem(gram), PrimalSystem(problem.rows.toarray())] if kernel.is_linear else [DualSystem(gram)]
    )
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
def test_leave_one_out_decides_as_refitting_does_at_the_papers_lambda(twins):
    problem = problem_of(60, 90, twins=twins)
    gram, targets = dual_of(problem).gram, problem.targets
    shift = 60 * 1e-9
    found = {
        "factorised": next(iter(DualSystem(gram).left_out(targets, [shift]))),
        "decomposed": next(iter(DualSystem(gram).left_out(targets, [shift, 1.0]))),
    }
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        matrix = gram[np.ix_(rest, rest)] + shift * np.eye(59)
        scores = gram[i, rest] @ np.linalg.solve(matrix, targets[rest])
        for each in found.values():
            assert each[i] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("width", [20, 90], ids=["narrow", "wide"])
def test_solution_and_leave_one_out_come_together(width):
    problem = problem_of(40, width)
    targets, indefinite = problem.targets, np.diag(np.arange(40) - 20.0)
    for system in (dual_of(problem), PrimalSystem(problem.rows.toarray()), DualSystem(indefinite)):
        solution, left_out = system.solve_left_out(targets, 0.3)
        assert solution.tolist() == system.solve(targets, 0.3).tolist()
        assert left_out.tolist() == next(iter(system.left_out(targets, [0.3]))).tolist()


def test_an_example_alone_and_rows_without_features():
    alone = DualSystem(np.array([[1.0]]))
    assert alone.solve(np.array([[1.0, -1.0]]), 0.5) == pytest.approx(np.array([[2 / 3, -2 / 3]]))
    assert next(iter(alone.left_out(np.array([[1.0, -1.0]]), [0.5]))).tolist() == [[0.0, 0.0]]
    empty = prepare_problem(rows_of(np.zeros((3, 4)), [0, 1, 1]), LinearKernel())
    for system in (dual_of(empty), PrimalSystem(empty.rows.toarray())):
        assert (next(iter(system.left_out(empty.targets, [1e-9]))) == 0).all()
        assert all((scores == 0).all() for scores in system.left_out(empty.targets, [1e-9, 1e-3]))
    assert PrimalSystem(np.zeros((3, 0))).solve(empty.targets, 1e-9).shape == (0, 2)


def test_a_kernel_that_is_not_semidefinite_is_solved_if_it_can_be():
    gram = np.diag([1.0, -0.5, 2.0])
    targets = np.array([[1.0], [-1.0], [1.0]])
    assert DualSystem(gram).solve(targets, 0.1) == pytest.approx(targets / (np.diag(gram)[:, None] + 0.1))
    assert next(iter(DualSystem(gram).left_out(targets, [0.1]))) == pytest.approx(np.zeros((3, 1)))
    for call in (DualSystem(gram).solve, lambda y, s: list(DualSystem(gram).left_out(y, [s]))):
        with pytest.raises(UserError, match="D779"):
            call(targets, 0.5)


@pytest.mark.parametrize("seed", range(6))
def test_lambda_is_that_of_the_best_leave_one_out(seed):
    problem = problem_of(50, 70, seed=seed)
    system = dual_of(problem)
    found = [
        leave_one_out_quality(problem, next(iter(system.left_out(problem.targets, [50 * v])))) for v in GRID
    ]
    value, best = best_regularisation(problem, system)
    assert best.accuracy == max(each.accuracy for each in found)
    tied = [v for v, each in zip(GRID, found, strict=True) if each.accuracy == best.accuracy]
    assert value in tied
    assert best.fit == pytest.approx(max(each.fit for each in found if each.accuracy == best.accuracy))
    assert len({each.accuracy for each in found}) > 1


@pytest.mark.parametrize("closest", [0, 7, 18])
def test_of_values_that_decide_alike_the_one_of_least_squared_error_is_taken(closest):
    class Made:
        def left_out(self, targets, shifts):
            for i in range(len(shifts)):
                yield targets * (1 + 0.01 * max(abs(i - closest), 1))  # the neighbours are as close

    value, best = best_regularisation(problem_of(), Made())
    assert value == GRID[max(closest - 1, 0)]
    assert best == (1.0, pytest.approx(-1e-4))


def test_quality_counts_any_right_candidate_and_gives_ties_to_the_most_frequent_of_the_others():
    problem = prepare_problem(rows_of(np.eye(4), [[0, 1], 1, 1, 0], 3), LinearKernel())
    # in the second row 0 and 1 are tied: without it, each is right twice, and the first wins
    scores = np.array([[0.0, 1.0, 0.5], [0.3, 0.3, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert leave_one_out_quality(problem, scores).accuracy == 0.25
    assert leave_one_out_quality(problem, problem.targets) == (1.0, 0.0)


def test_the_solution_is_kernel_ridges():
    from sklearn.kernel_ridge import KernelRidge

    problem = problem_of(40, 60)
    system = dual_of(problem)
    theirs = KernelRidge(alpha=40 * 1e-3, kernel="precomputed").fit(system.gram, problem.targets)
    assert system.solve(problem.targets, 40 * 1e-3) == pytest.approx(theirs.dual_coef_, abs=1e-9)


@pytest.mark.parametrize("lam", [1e-3, 1e-1])
def test_the_solution_is_that_of_the_problem_of_the_paper(lam):
    pytest.importorskip("cvxpy")
    from disambig_kernel_rls.rls import solve_reference

    problem = problem_of(15, 20, twins=3)
    gram, targets = dual_of(problem).gram, problem.targets
    ours, theirs = DualSystem(gram).solve(targets, 15 * lam), solve_reference(gram, targets, lam)
    assert gram @ ours == pytest.approx(gram @ theirs, abs=1e-5)

    def objective(c):
        return ((targets - gram @ c) ** 2).sum() / 15 + lam * np.einsum("ik,ij,jk->", c, gram, c)

    assert objective(ours) <= objective(theirs) + 1e-12
