"""The contestants of the benchmark compute the same thing."""

import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

contestants = pytest.importorskip("contestants")


def test_all_formulations_agree():
    problem = contestants.random_problem(6, 4, rank=5)
    expected = contestants.dense(problem, 3)
    valid = problem.mask[..., 0].bool()
    assert_close(contestants.published(problem, 3)[valid], expected[valid])
    (exact,) = contestants.exact(problem, 3, exclude_self=False)
    exact = exact.view(1, 7, 6, 4)
    assert_close(exact[valid[:, :, 1:]], expected[:, :, 1:][valid[:, :, 1:]])


def test_pruned_is_exact_but_for_improbable_arcs():
    problem = contestants.random_problem(6, 4, rank=5)
    for part in problem.parts:
        part.label[0] = part.far_label[0] = 0  # NULL is silent
    found = contestants.find_candidates(problem, epsilon=1e-30)
    (exact,) = contestants.exact(problem, 3)
    valid = problem.mask[0, :, 1:, 0].bool()
    assert len(found.scores) == int(valid.sum())
    all_arcs = contestants.pruned_iterations(found, 3)
    assert_close(all_arcs, exact.view(7, 6, 4)[valid])
    few = contestants.find_candidates(problem)
    assert 6 <= len(few.scores) < 20
    assert torch.isfinite(contestants.pruned_iterations(few, 3)).all()
