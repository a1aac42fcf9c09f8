"""The kernels: their contract, ones on the diagonal, scikit-learn's values, settings, other people's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from disambig_kernel_rls.rls import RLSC, GaussianKernel, LinearKernel, PolynomialKernel
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sense_rows import made, rows_of
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import normalize

from disambig.api import hookimpl
from disambig.config import resolve
from disambig.errors import UserError
from disambig.testing import blocks, check_kernel, check_learner, crossed

KERNELS = {
    f"{kind.__name__}-{normalise}": kind(normalise=normalise)
    for kind in (LinearKernel, PolynomialKernel, GaussianKernel)
    for normalise in ("row", "groups", "none")
} | {"weighted": LinearKernel(normalise="groups", weights={"words": 3.0, "bias": 1.0})}


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=f"{name}-{check}") for name in KERNELS for check in check_kernel(KERNELS[name])],
)
def test_contract(check):
    check()


@pytest.mark.parametrize(
    "kernel", [LinearKernel(), GaussianKernel(), PolynomialKernel(normalise="groups")], ids=str
)
def test_contract_with_class_blocks(kernel):
    for check in check_kernel(kernel, blocks(20)):
        check() if check.name != "is_linear_in_its_rows_if_it_says_so" else None


@given(
    kind=st.sampled_from([LinearKernel, PolynomialKernel, GaussianKernel]),
    normalise=st.sampled_from(["row", "groups"]),
    seed=st.integers(0, 10**6),
    scale=st.floats(1e-3, 1e3),
)
def test_an_instance_is_of_similarity_one_to_itself(kind, normalise, seed, scale):
    kernel = kind(normalise=normalise)
    batch = made(12, 30, seed=seed)
    full = batch.rows.toarray() * scale
    full[:, [20, 21]] += scale  # one feature of each group at least
    rows = kernel.rows(replace(batch, rows=csr_array(full)))
    gram = kernel.gram(rows, rows)
    assert np.diag(gram) == pytest.approx(1.0, abs=1e-12)
    assert gram.max() <= 1.0 + 1e-12
    assert np.linalg.eigvalsh(gram)[0] >= -1e-12


def test_the_linear_kernel_by_feature_group_is_the_weighted_sum_of_normalised_ones():
    batch = made(20, 40)
    full = batch.rows.toarray()
    parts = [normalize(full[:, g::2]) for g in (0, 1)]
    kernel = LinearKernel(normalise="groups", weights={"local": 1.0, "broad": 3.0})
    rows = kernel.rows(batch)
    assert kernel.gram(rows, rows) == pytest.approx(
        0.25 * parts[0] @ parts[0].T + 0.75 * parts[1] @ parts[1].T
    )
    assert LinearKernel().rows(batch).toarray() == pytest.approx(normalize(full))
    assert (LinearKernel(normalise="none").rows(batch) != batch.rows).nnz == 0


def test_true_kernels_are_scikit_learns():
    batch = made(20, 40)
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


def test_rows_and_parts_without_features_are_of_no_length():
    batch = rows_of([[0.0, 0, 0, 0], [3, 0, 4, 0], [1, 1, 0, 0]], [0, 1, 1])  # local, broad, local, broad
    rows = LinearKernel(normalise="groups").rows(batch)
    assert np.diag(LinearKernel().gram(rows, rows)) == pytest.approx([0.0, 0.5, 1.0])
    assert GaussianKernel().gram(rows, rows)[0, 2] == pytest.approx(np.exp(-1))


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
def test_settings_that_make_no_sense_are_refused_at_once(kind, settings, code):
    with pytest.raises(UserError, match=kind.__name__) as caught:
        kind(**settings)
    assert caught.value.code == code


def test_weights_of_other_feature_groups_are_named():
    for weights, code in (({"local": 1.0, "near": 1.0}, "D451"), ({"local": 1.0}, "D476")):
        with pytest.raises(UserError) as caught:
            LinearKernel(normalise="groups", weights=weights).rows(made())
        assert caught.value.code == code


@dataclass(frozen=True)
class Overlap:
    """Somebody's own: the share of common columns."""

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


def test_a_plugins_own_kernel_is_named_in_a_config(load_with):
    load_with(somebody=__name__)
    section = {
        "@disambig_learners": "kernel_rls.RLSC.v1",
        "regularisation": "loo",
        "kernel": {"@disambig_kernels": "somebody.Overlap.v1", "power": 2.0},
    }
    learner = resolve({"learner": section})["learner"]
    assert learner == RLSC(kernel=Overlap(2.0), regularisation="loo")
    for check in [*check_kernel(Overlap()), *check_learner(learner, crossed(), least=1.0)]:
        check()


def test_a_kernel_of_ours_is_named_in_a_config():
    section = {"@disambig_kernels": "kernel_rls.Gaussian.v1", "gamma": 2.0, "normalise": "groups"}
    assert resolve({"kernel": section})["kernel"] == GaussianKernel(gamma=2.0, normalise="groups")
    with pytest.raises(UserError, match=r"D001.*kernel_rls\.Gaussian\.v1"):
        resolve({"kernel": {"@disambig_kernels": "kernel_rls.Gauss.v1"}})


@pytest.mark.parametrize("bad", ["linear", LinearKernel, 3, object()])
def test_what_is_no_kernel_is_refused(bad):
    with pytest.raises(UserError, match="D781"):
        RLSC(kernel=bad)


@pytest.mark.parametrize(
    "gram",
    [np.ones((2, 2)), np.full((40, 40), np.nan), np.full((40, 40), np.inf)],
    ids=["shape", "nan", "inf"],
)
def test_what_a_kernel_gives_is_looked_at(gram):
    @dataclass(frozen=True)
    class Broken(Overlap):
        def gram(self, left, right):
            return gram

    with pytest.raises(UserError, match="D782"):
        RLSC(kernel=Broken()).fit(made(40))


def test_rows_too_large_for_a_kernel_are_named():
    batch = made(10)
    large = replace(batch, rows=csr_array(batch.rows * 1e90))
    with pytest.raises(UserError, match="D782"):
        RLSC(kernel=PolynomialKernel(normalise="none", degree=4)).fit(large)
    with pytest.raises(UserError, match="D779"):
        twins = made(10, twins=5)
        large = replace(twins, rows=csr_array(twins.rows * 1e90))
        RLSC(kernel=LinearKernel(normalise="none")).fit(large)
