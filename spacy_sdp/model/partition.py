"""Partition of sequences into buckets of similar lengths, to compute little padding."""

from __future__ import annotations

from collections.abc import Sequence


def partition(
    lengths: Sequence[int], max_size: int, *, call_cost: int, step_cost: int = 0
) -> list[list[int]]:
    """Find the partition with the lowest cost: padded sizes plus overhead.

    lengths (Sequence[int]): The length of each sequence.
    max_size (int): Maximum padded size of a bucket; a longer sequence has its own
        bucket.
    call_cost (int): The overhead of one more bucket, as a size.
    step_cost (int): The overhead of each position of the longest sequence.
    RETURNS (List[List[int]]): The sequences of each bucket, in ascending length.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    # For the first 0, 1, 2, … sequences: the lowest cost, and the start of the last
    # bucket.
    costs, begins = [0], [0]
    for end, number in enumerate(order, start=1):
        longest = lengths[number]
        first = max(0, end - max(1, max_size // longest))
        cost, begin = min(
            (costs[begin] + (end - begin) * longest, begin)
            for begin in range(first, end)
        )
        costs.append(cost + call_cost + step_cost * longest)
        begins.append(begin)
    buckets = []
    end = len(order)
    while end:
        buckets.append(order[begins[end] : end])
        end = begins[end]
    return buckets
