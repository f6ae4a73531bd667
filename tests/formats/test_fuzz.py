from fuzz import fuzz


def test_broken_input_is_refused_with_a_value_error():
    faults, counts, _ = fuzz(range(500), seed=1)
    assert faults == []
    assert len(counts) > 15
