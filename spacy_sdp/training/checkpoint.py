"""Checkpoints: the complete state of training, to resume it bit by bit."""

from __future__ import annotations

import os
import platform
import random
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

import numpy
import srsly
import torch
from spacy.language import Language
from spacy.training.corpus import walk_corpus
from spacy.util import dict_to_dot
from thinc.api import Config, Model, Optimizer, PyTorchShim, get_current_ops
from thinc.util import convert_recursive, is_xp_array, to_numpy

# The packages whose version affects the weights after a step.
PACKAGES = (
    *("spacy", "thinc", "numpy", "torch", "spacy-transformers", "transformers"),
    "spacy-sdp",
)
DATA_SUFFIXES = (".spacy", ".jsonl")
# Names in the archive.
IDENTITY = "identity.json"
STATE = "state.pt"
BEST_MODEL = "model-best"
# What thinc's optimizer stores for each parameter.
OPTIMIZER_STATE = ("mom1", "mom2", "averages", "nr_update", "last_seen")

# Everything that the trained weights depend on, by a name for error messages.
Identity = dict[str, Any]
# The states of random generators, by name.
RandomStates = dict[str, Any]


@dataclass
class Progress:
    """The progress of training, without the weights.

    step (int): The last completed step, counting from 0.
    scores (List[float]): The main score of each evaluation so far.
    losses (Dict[str, Any]): The losses since the last evaluation, by component.
    performance (Dict[str, Any]): The last evaluation, for the pipeline's `meta.json`.
    seconds (int): The duration of training so far.
    origins (Dict[int, RandomStates]): Random states for reading the data again, see
        `spacy_sdp.training.resume.Batches`.
    checksum (int): The checksum of the data so far.
    """

    step: int
    scores: list[float]
    losses: dict[str, Any]
    performance: dict[str, Any]
    seconds: int
    origins: dict[int, RandomStates]
    checksum: int


@dataclass
class Checkpoint:
    """A checkpoint in memory, without the best pipeline, which stays in the file."""

    path: Path
    progress: Progress
    optimizer: dict[str, list[Any]]
    pipeline: dict[str, Any]
    random_states: RandomStates


def identify(config: Config, code_path: Path | None, use_gpu: int) -> Identity:
    """Describe a training run, so that it is not confused with another one.

    config (Config): The config, with its variables interpolated.
    code_path (Optional[Path]): The file with additional code.
    use_gpu (int): The number of the GPU, or -1 for none.
    RETURNS (Dict[str, Any]): Settings, checksums of files, and versions.
    """
    settings = dict_to_dot(config)
    files = [] if code_path is None else [code_path]
    for name, value in settings.items():
        if name.startswith("corpora.") and isinstance(value, str) and value:
            path = Path(value)
            files += walk_corpus(path, DATA_SUFFIXES) if path.exists() else []
    return {
        **{f"the setting {name}": value for name, value in settings.items()},
        **{f"the checksum of {path}": _checksum(path) for path in files},
        **{f"the version of {name}": version(name) for name in PACKAGES},
        "the version of Python": platform.python_version(),
        "the device": "CPU" if use_gpu < 0 else "GPU",
    }


def _checksum(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def write_checkpoint(
    path: Path,
    identity: Identity,
    progress: Progress,
    nlp: Language,
    optimizer: Optimizer,
    best_model: Path,
) -> None:
    """Write a checkpoint. It replaces the previous one when it is complete.

    path (Path): The file.
    identity (Dict[str, Any]): The description of the training run.
    progress (Progress): The progress so far.
    nlp (Language): The pipeline.
    optimizer (Optimizer): The optimizer.
    best_model (Path): The folder of the best pipeline so far.
    """
    state = {
        "progress": asdict(progress),
        "optimizer": _optimizer_state(nlp, optimizer),
        "pipeline": _pipeline_state(nlp),
        "random_states": get_random_states(),
    }
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        with ZipFile(file, "w") as archive:
            archive.writestr(IDENTITY, srsly.json_dumps(identity))
            with archive.open(STATE, "w", force_zip64=True) as member:
                torch.save(convert_recursive(_is_numpy, _to_tensor, state), member)
            for each in sorted(best_model.rglob("*")):
                archive.write(each, Path(BEST_MODEL, each.relative_to(best_model)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def read_checkpoint(path: Path, identity: Identity) -> Checkpoint:
    """Read a checkpoint, unless it is damaged or belongs to another training run.

    path (Path): The file.
    identity (Dict[str, Any]): The description of the training run to resume.
    RETURNS (Checkpoint): The checkpoint.
    """
    try:
        with ZipFile(path) as archive:
            if member := archive.testzip():
                raise BadZipFile(f"{member} has a wrong checksum")
            _check_identity(path, srsly.json_loads(archive.read(IDENTITY)), identity)
            state = torch.load(
                BytesIO(archive.read(STATE)), map_location="cpu", weights_only=True
            )
    except (BadZipFile, KeyError, EOFError, NotImplementedError, UnpicklingError) as e:
        raise ValueError(
            f"{path} is damaged or not a checkpoint ({e}). Replace it with a copy, or "
            "delete it and train from the start."
        ) from None
    progress = convert_recursive(torch.is_tensor, _to_number, state.pop("progress"))
    return Checkpoint(path, Progress(**progress), **state)


def _check_identity(path: Path, saved: Identity, identity: Identity) -> None:
    # JSON has fewer types, so convert the current identity as well.
    current = srsly.json_loads(srsly.json_dumps(identity))
    for name in {**saved, **current}:
        before, now = (each.get(name, "missing") for each in (saved, current))
        if before != now:
            raise ValueError(
                f"{path} belongs to another training run: {name} was {before!r}, now "
                f"it is {now!r}. Undo this change, or delete the checkpoint and train "
                "from the start."
            )


def restore_best_model(checkpoint: Checkpoint, output_path: Path) -> None:
    """Extract the best pipeline so far.

    checkpoint (Checkpoint): The checkpoint.
    output_path (Path): The folder to write `model-best` to.
    """
    with ZipFile(checkpoint.path) as archive:
        for name in archive.namelist():
            if name.startswith(f"{BEST_MODEL}/"):
                archive.extract(name, output_path)


def restore_optimizer(
    checkpoint: Checkpoint, nlp: Language, optimizer: Optimizer
) -> None:
    """Restore the parameter state of an optimizer, but not its schedules.

    checkpoint (Checkpoint): The checkpoint.
    nlp (Language): The initialized pipeline.
    optimizer (Optimizer): The new optimizer.
    """
    keys = _parameter_keys(nlp)
    for name, values in checkpoint.optimizer.items():
        for key, value in zip(keys, values, strict=True):
            if value is not None:
                is_array = torch.is_tensor(value)
                getattr(optimizer, name)[key] = _to_array(value) if is_array else value


def _optimizer_state(nlp: Language, optimizer: Optimizer) -> dict[str, list[Any]]:
    # The ids in the keys differ between processes, but their order does not.
    keys = _parameter_keys(nlp)
    if unknown := optimizer.nr_update.keys() - set(keys):
        names = ", ".join(sorted(name for _, name in unknown))
        raise ValueError(
            "Cannot write a checkpoint: the optimizer updates parameters that do not "
            f"belong to a component of the pipeline ({names})."
        )
    tables = {name: getattr(optimizer, name) for name in OPTIMIZER_STATE}
    return {
        name: [table.get(key) for key in keys]
        for name, table in tables.items()
        if table is not None
    }


def restore_pipeline(checkpoint: Checkpoint, nlp: Language) -> None:
    """Restore the state of a pipeline in training.

    checkpoint (Checkpoint): The checkpoint.
    nlp (Language): The initialized pipeline.
    """
    state = checkpoint.pipeline
    if state["outline"] != _outline(nlp):
        raise ValueError(
            f"Cannot resume from {checkpoint.path}: the pipeline was initialized with "
            "different labels or layers. Does its code iterate over a set?"
        )
    nlp.meta["performance"] = checkpoint.progress.performance
    for string in state["strings"]:
        nlp.vocab.strings.add(string)
    for layer, saved in zip(_layers(nlp), state["layers"], strict=True):
        layer.attrs.update(saved["attrs"])
        for name, value in saved["parameters"].items():
            layer.set_param(name, _to_array(value))
        for name, value in saved["gradients"].items():
            zeros = layer.ops.xp.zeros_like(layer.get_param(name))
            layer.set_grad(name, zeros if value is None else _to_array(value))
    for shim, saved in zip(_shims(nlp), state["shims"], strict=True):
        shim._model.load_state_dict(saved["parameters"])
        for name, parameter in shim._model.named_parameters():
            if name in saved["gradients"]:
                value = saved["gradients"][name]
                parameter.grad = torch.zeros_like(parameter)
                if value is not None:
                    parameter.grad.copy_(value)
        for tensor, value in zip(_scaling(shim), saved["scaling"], strict=True):
            tensor.copy_(value)


def _pipeline_state(nlp: Language) -> dict[str, Any]:
    return {
        "outline": _outline(nlp),
        "strings": list(nlp.vocab.strings),
        "layers": [
            {
                # For example embedding seeds, which may depend on the layer's id.
                "attrs": {
                    name: value
                    for name, value in layer.attrs.items()
                    if isinstance(value, bool | int | float | str)
                },
                "parameters": {
                    name: layer.get_param(name)
                    for name in layer.param_names
                    if layer.has_param(name)
                },
                "gradients": {
                    name: _unless_zero(layer.get_grad(name))
                    for name in layer.grad_names
                },
            }
            for layer in _layers(nlp)
        ],
        "shims": [
            {
                "parameters": shim._model.state_dict(),
                "gradients": {
                    name: _unless_zero(parameter.grad)
                    for name, parameter in shim._model.named_parameters()
                    if parameter.grad is not None
                },
                "scaling": _scaling(shim),
            }
            for shim in _shims(nlp)
        ],
    }


def _unless_zero(gradient: Any) -> Any:
    # After a step, gradients are zero. They must still exist: without a gradient, the
    # next step would not change the parameter, whatever its momentum.
    return gradient if gradient.any() else None


def _outline(nlp: Language) -> list[Any]:
    """Get the labels and shapes that must match before weights can be restored."""
    return [
        [(name, list(getattr(pipe, "labels", ()))) for name, pipe in nlp.components],
        [
            (layer.name, name, list(layer.get_param(name).shape))
            for layer in _layers(nlp)
            for name in layer.param_names
            if layer.has_param(name)
        ],
    ]


def _layers(nlp: Language) -> list[Model]:
    models = [getattr(pipe, "model", None) for _, pipe in nlp.components]
    layers = [
        layer for model in models if isinstance(model, Model) for layer in model.walk()
    ]
    # Components may share a layer.
    return list({layer.id: layer for layer in layers}.values())


def _shims(nlp: Language) -> list[PyTorchShim]:
    shims = [shim for layer in _layers(nlp) for shim in layer.shims]
    for shim in shims:
        if not isinstance(shim, PyTorchShim):
            raise ValueError(
                "Cannot write a checkpoint: a component has a network that is not a "
                f"PyTorch module ({type(shim).__name__})."
            )
    return cast(list[PyTorchShim], shims)


def _scaling(shim: PyTorchShim) -> list[torch.Tensor]:
    """Get the state of mixed-precision scaling."""
    return [shim._grad_scaler._scale, shim._grad_scaler._growth_tracker]


def _parameter_keys(nlp: Language) -> list[tuple[int, str]]:
    """Get the optimizer's keys of all parameters, in a fixed order."""
    layers = [(each.id, name) for each in _layers(nlp) for name in each.param_names]
    modules = [
        (each.id, name)
        for each in _shims(nlp)
        for name, _ in each._model.named_parameters()
    ]
    return layers + modules


def get_random_states() -> RandomStates:
    """RETURNS (Dict[str, Any]): The states of the random generators used in training.

    CuPy does not provide its state.
    """
    kind, keys, *rest = cast(tuple[Any, ...], numpy.random.get_state())
    return {
        "python": random.getstate(),
        "numpy": (kind, keys.tolist(), *rest),
        "torch": torch.get_rng_state().tolist(),
        "cuda": [each.tolist() for each in torch.cuda.get_rng_state_all()],
    }


def set_random_states(states: RandomStates) -> None:
    """Set the states of some or all random generators.

    states (Dict[str, Any]): The states.
    """
    if "python" in states:
        random.setstate(states["python"])
    if "numpy" in states:
        numpy.random.set_state(states["numpy"])
    if "torch" in states:
        torch.set_rng_state(torch.tensor(states["torch"], dtype=torch.uint8))
    if "cuda" in states:
        torch.cuda.set_rng_state_all(
            [torch.tensor(each, dtype=torch.uint8) for each in states["cuda"]]
        )


def _is_numpy(value: Any) -> bool:
    return isinstance(value, numpy.generic) or is_xp_array(value)


def _to_tensor(value: Any) -> torch.Tensor:
    return torch.from_numpy(numpy.asarray(to_numpy(value)))


def _to_number(value: torch.Tensor) -> Any:
    return value.numpy()[()]


def _to_array(value: torch.Tensor) -> Any:
    return get_current_ops().xp.asarray(value.numpy())
