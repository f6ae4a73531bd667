import numpy
import pytest
import spacy
from thinc.api import Adam, registry, warmup_linear

from spacy_sdp.training.optimizer import TwoRateAdam, make_adam


def step(optimizer, names, steps=1):
    """RETURNS how far each parameter moved, with a gradient of ones."""
    weights = {name: numpy.zeros(4, dtype="f") for name in names}
    for _ in range(steps):
        for i, name in enumerate(names):
            gradient = numpy.ones(4, dtype="f")
            weights[name], _ = optimizer((i, name), weights[name], gradient)
        optimizer.step_schedules()
    return {name: -float(weight[0]) for name, weight in weights.items()}


BERT = "encoder.layer.0.weight"


def test_transformer_parameters_have_a_rate_of_their_own():
    moved = step(make_adam(0.1, transformer_learn_rate=0.002), [BERT, "heads.weight"])
    assert moved == {
        BERT: pytest.approx(0.002, rel=1e-4),
        "heads.weight": pytest.approx(0.1, rel=1e-4),
    }


def test_without_a_second_rate_it_is_adam():
    ours = step(make_adam(0.1, beta2=0.95), [BERT, "heads.weight"], steps=3)
    thincs = step(Adam(0.1, beta2=0.95, grad_clip=0.0), [BERT, "heads.weight"], steps=3)
    assert ours == thincs


def test_both_rates_follow_their_schedules():
    optimizer = make_adam(
        warmup_linear(0.1, 2, 10), transformer_learn_rate=warmup_linear(0.01, 4, 10)
    )
    rates = []
    for _ in range(5):
        rates.append((optimizer.learn_rate, optimizer.transformer_learn_rate))
        step(optimizer, [BERT, "heads.weight"])
    assert rates[0] == (0, 0) and rates[1] == (0.05, 0.0025)
    assert rates[2][0] == pytest.approx(0.1) and rates[4][1] == pytest.approx(0.01)


def test_a_rate_of_zero_does_not_stop_the_other():
    moved = step(make_adam(0.0, transformer_learn_rate=0.002), [BERT, "heads.weight"])
    assert moved == {BERT: pytest.approx(0.002, rel=1e-4), "heads.weight": 0}


def test_weight_decay_follows_the_rate_of_its_group():
    optimizer = make_adam(0.1, transformer_learn_rate=0.01, L2=0.5)
    weights, _ = optimizer(
        (0, BERT), numpy.ones(4, dtype="f"), numpy.ones(4, dtype="f")
    )
    assert weights[0] == pytest.approx((1 - 0.01) * (1 - 0.01 * 0.5))


def test_a_rate_for_no_parameter_is_refused():
    with pytest.raises(ValueError, match="matches no parameter that was updated"):
        step(make_adam(0.1, transformer_learn_rate=0.01), ["heads.weight"], steps=2)
    with pytest.raises(ValueError, match=r"\('\^bert'\) matches no"):
        step(
            make_adam(0.1, transformer_learn_rate=0.01, transformer_parameters="^bert"),
            [BERT],
            steps=2,
        )


def test_a_broken_pattern_is_refused():
    with pytest.raises(ValueError, match="'transformer_parameters' is not a regular"):
        make_adam(0.1, transformer_parameters="(")


def test_it_is_registered_and_reads_schedules_from_a_config():
    config = {
        "@optimizers": "spacy_sdp.Adam.v1",
        "learn_rate": {
            "@schedules": "warmup_linear.v1",
            "initial_rate": 0.1,
            "warmup_steps": 1,
            "total_steps": 9,
        },
        "transformer_learn_rate": 0.01,
    }
    optimizer = registry.resolve({"optimizer": config})["optimizer"]
    assert optimizer.learn_rate == 0 and optimizer.transformer_learn_rate == 0.01
    optimizer((0, BERT), numpy.zeros(1, dtype="f"), numpy.ones(1, dtype="f"))
    optimizer.step_schedules()
    assert optimizer.learn_rate == pytest.approx(0.1)


def test_a_pattern_for_half_a_transformer_is_refused():
    optimizer = make_adam(0.1, transformer_learn_rate=0.01)
    one, other = (numpy.ones(2, dtype="f") for _ in range(2))
    optimizer((1, BERT), one, other)
    optimizer((1, "W"), one, other)  # a layer of thinc that happens to have the same id
    optimizer((2, "lstm.weight"), one, other)
    with pytest.raises(ValueError, match=r"only some .* fits 'attentions\.0\.w'"):
        optimizer((1, "attentions.0.w"), one, other)


@pytest.mark.parametrize("name", ["en_sdp_dm_sm", "en_sdp_dm_md"])
def test_shipped_pipelines_bring_their_optimizer(name):
    optimizer = spacy.load(name).resume_training()
    assert isinstance(optimizer, TwoRateAdam)
