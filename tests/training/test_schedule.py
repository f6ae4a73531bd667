from itertools import islice

import pytest
from thinc.api import warmup_linear

from spacy_sdp.training.schedule import make_warmup_linear


def test_with_a_number_of_steps_it_is_thincs():
    ours, thincs = make_warmup_linear(0.1, 2, 6), warmup_linear(0.1, 2, 6)
    assert list(islice(ours, 8)) == list(islice(thincs, 8))


def test_without_a_number_of_steps_the_rate_stays_after_the_warm_up():
    rates = make_warmup_linear(0.1, 2, "${training.max_steps}")
    assert list(islice(rates, 1000)) == pytest.approx([0, 0.05] + [0.1] * 998)


def test_other_text_is_refused():
    with pytest.raises(ValueError, match=r"'total_steps' must be .* not 'many'"):
        make_warmup_linear(0.1, 2, "many")
