import spacy
import torch
from util import add_parser, run, train

from spacy_sdp.training.weights import get_weights


def test_pipelines_are_averaged_and_rounded(nlp, examples, tmp_path):
    add_parser(nlp, examples)
    for name in ("a", "b"):
        nlp.to_disk(tmp_path / name)
        train(nlp, examples[:2], steps=1)
    target = tmp_path / "new" / "mean"
    code, out, _ = run(
        *("weights", "average", tmp_path / "a", tmp_path / "b", "--output", target)
    )
    assert (code, out) == (0, f"✔ {target}: average of 2 pipelines\n")
    a, b, mean = (
        get_weights(spacy.load(path).get_pipe("sdp_meanfield"))
        for path in (tmp_path / "a", tmp_path / "b", target)
    )
    for first, second, middle in zip(a, b, mean, strict=True):
        torch.testing.assert_close(middle, (first + second) / 2)
    rounded = tmp_path / "rounded"
    assert run("weights", "round", target, "--output", rounded)[0] == 0
    weights = get_weights(spacy.load(rounded).get_pipe("sdp_meanfield"))
    for found, middle in zip(weights, mean, strict=True):
        assert torch.equal(found, middle.bfloat16().float())


def test_nothing_is_written_for_pipelines_that_cannot_be_averaged(tmp_path):
    output = ("--output", tmp_path / "x")
    (tmp_path / "broken.whl").write_text("no zip")
    for command, code, message in (
        (("average", "en_sdp_dm_sm"), 2, "Specify at least two pipelines."),
        (
            ("average", "en_sdp_dm_sm", "en_sdp_dm_md"),
            1,
            "their component names differ",
        ),
        (("round", "missing"), 1, "Can't find model 'missing'"),
        (("round", tmp_path / "missing.whl"), 1, "missing.whl: No such file"),
        (("round", tmp_path / "broken.whl"), 1, "broken.whl: File is not a zip file"),
    ):
        found, out, err = run("weights", *command, *output)
        assert (found, out) == (code, "")
        assert message in err
    assert not (tmp_path / "x").exists()
