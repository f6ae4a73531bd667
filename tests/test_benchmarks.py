"""The contestants of the benchmark compute the same thing."""

import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

contestants = pytest.importorskip("contestants")


def test_all_formulations_agree():
    problem = contestants.random_problem(6, 3, rank=5)
    expected = contestants.dense(problem, 3)
    valid = problem.mask[..., 0].bool()
    assert_close(contestants.published(problem, 3)[valid], expected[valid])
    blocks = contestants.to_blocks(problem)
    (exact,) = contestants.exact(blocks, 3, exclude_self=False)
    exact = exact.view(1, 7, 6, 4)
    assert_close(exact[valid[:, :, 1:]], expected[:, :, 1:][valid[:, :, 1:]])


def test_pruned_is_exact_but_for_improbable_arcs():
    problem = contestants.random_problem(6, 3, rank=5)
    found = contestants.find_candidates(problem, prune=1e-30)
    blocks = contestants.to_blocks(problem)
    (exact,) = contestants.exact(blocks, 3, exclude_self=True)
    valid = problem.mask[0, :, 1:, 0].bool()
    assert len(found.scores) == int(valid.sum())
    all_arcs = contestants.pruned_iterations(found, 3)
    assert_close(all_arcs, exact.view(7, 6, 4)[valid])
    few = contestants.find_candidates(problem)
    assert 6 <= len(few.scores) < 20
    assert torch.isfinite(contestants.pruned_iterations(few, 3)).all()
