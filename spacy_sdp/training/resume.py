"""spaCy's training loop with checkpoints, so that training can be resumed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count, islice
from pathlib import Path
from time import monotonic
from typing import Any
from zlib import crc32

from spacy.language import Language
from spacy.training import Example, loop
from thinc.api import Optimizer

from .checkpoint import (
    BEST_MODEL,
    Checkpoint,
    Identity,
    Progress,
    RandomStates,
    get_random_states,
    restore_best_model,
    restore_optimizer,
    restore_pipeline,
    set_random_states,
    write_checkpoint,
)

Step = tuple[list[Example], dict[str, Any], bool | None]

train_while_improving = loop.train_while_improving


class ResumableLoop:
    """Replaces the loop in spaCy's `train`, and writes checkpoints.

    When training resumes, cheap work is repeated instead of stored: data is read,
    shuffled and batched, and schedules advance, whatever they are. Only updates and
    evaluations are skipped.
    """

    def __init__(
        self,
        output_path: Path,
        checkpoint_path: Path,
        identity: Identity,
        *,
        minutes: float,
        steps: int,
        note_signals: Callable[[], AbstractContextManager[list[int]]],
        resume_from: Checkpoint | None = None,
    ) -> None:
        """Create the loop.

        output_path (Path): The folder that spaCy saves pipelines in.
        checkpoint_path (Path): The file to write checkpoints to.
        identity (Dict[str, Any]): The description of the training run.
        minutes (float): The time between two checkpoints.
        steps (int): Also write a checkpoint every N steps; 0 disables it.
        note_signals (Callable): Returns a context with a list of signals. When the list
            is not empty, training ends after the current step, with a checkpoint.
        resume_from (Optional[Checkpoint]): The checkpoint to resume from.
        """
        self.output_path = output_path
        self.checkpoint_path = checkpoint_path
        self.identity = identity
        self.seconds = 60 * minutes
        self.steps = steps
        self.note_signals = note_signals
        self.resume_from = resume_from
        # The signal that ended training.
        self.ended_by: int | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Make spaCy's `train` use this loop, which cannot be passed as an argument."""
        loop.train_while_improving = self
        try:
            yield
        finally:
            loop.train_while_improving = train_while_improving

    def __call__(
        self,
        nlp: Language,
        optimizer: Optimizer,
        train_data: Iterable[tuple[int, list[Example]]],
        evaluate: Callable[[], tuple[float, dict[str, Any]]],
        **settings: Any,
    ) -> Iterator[Step]:
        """Train with the arguments and results of spaCy's `train_while_improving`."""
        before = self.resume_from.progress if self.resume_from else None
        batches = Batches(train_data, before)
        scores = iter(before.scores if before else ())

        def evaluate_once() -> tuple[float, dict[str, Any]]:
            for score in scores:
                return score, {}
            return evaluate()

        steps = train_while_improving(
            nlp, optimizer, batches, evaluate_once, **settings
        )
        seconds = 0
        if self.resume_from is not None:
            self._fast_forward(self.resume_from, nlp, optimizer, batches, steps)
            seconds = self.resume_from.progress.seconds
        last = monotonic()
        with self.note_signals() as signals:
            for batch, info, is_best in steps:
                info["seconds"] += seconds
                yield batch, info, is_best
                # At this point, spaCy has saved the pipeline if it was evaluated.
                is_due = monotonic() - last >= self.seconds
                if self.steps:
                    is_due |= (info["step"] + 1) % self.steps == 0
                if signals or is_due:
                    self._write(nlp, optimizer, batches, info)
                    last = monotonic()
                if signals:
                    self.ended_by = signals[0]
                    return

    def _fast_forward(
        self,
        checkpoint: Checkpoint,
        nlp: Language,
        optimizer: Optimizer,
        batches: Batches,
        steps: Iterator[Step],
    ) -> None:
        """Restore the state of a checkpoint."""
        progress = checkpoint.progress
        restore_best_model(checkpoint, self.output_path)
        # Optimizers may check their updates when the schedules advance.
        restore_optimizer(checkpoint, nlp, optimizer)
        with _without_updates(nlp):
            repeated = deque(islice(steps, progress.step + 1), maxlen=1)
        if not repeated or batches.checksum != progress.checksum:
            raise ValueError(
                f"Cannot resume from {checkpoint.path}: the data is not the same as in "
                f"the first {progress.step + 1} steps. Does the corpus reader use "
                "random numbers that do not come from 'random', numpy or torch?"
            )
        _, info, _ = repeated[0]
        info["losses"].update(progress.losses)
        restore_pipeline(checkpoint, nlp)
        set_random_states(checkpoint.random_states)

    def _write(
        self,
        nlp: Language,
        optimizer: Optimizer,
        batches: Batches,
        info: dict[str, Any],
    ) -> None:
        progress = Progress(
            step=info["step"],
            scores=[score for score, _ in info["checkpoints"]],
            losses=info["losses"],
            performance=nlp.meta["performance"],
            seconds=info["seconds"],
            origins=batches.origins,
            checksum=batches.checksum,
        )
        best_model = self.output_path / BEST_MODEL
        write_checkpoint(
            self.checkpoint_path, self.identity, progress, nlp, optimizer, best_model
        )


class Batches:
    """The batches of a training run, which can be reproduced.

    Reading, augmenting and shuffling use random numbers, and so do the training steps
    in between. To reproduce the batches without the steps, the random generators must
    be in the same state each time the data uses them. `origins` maps batch numbers to
    these states. It only has the states that a step between two batches has changed,
    which is often none.
    """

    def __init__(
        self,
        train_data: Iterable[tuple[int, list[Example]]],
        before: Progress | None,
    ) -> None:
        """Wrap the data.

        train_data (Iterable[Tuple[int, List[Example]]]): Epochs and batches.
        before (Optional[Progress]): The progress at the checkpoint, when resuming.
        """
        self.train_data = train_data
        self.n_before = before.step + 1 if before else 0
        self.origins = before.origins if before else {}
        # The checksum of the texts so far, which resuming must reproduce.
        self.checksum = 0

    def __iter__(self) -> Iterator[tuple[int, list[Example]]]:
        iterator = iter(self.train_data)
        # The states of the generators after the data last used them.
        left: RandomStates = {}
        for number in count():
            if number < self.n_before:
                set_random_states(self.origins.get(number, {}))
            start = get_random_states()
            try:
                epoch, batch = next(iterator)
            except StopIteration:
                return
            end = get_random_states()
            drawn_from = [name for name in start if start[name] != end[name]]
            if number >= self.n_before:
                origin = {
                    name: start[name]
                    for name in drawn_from
                    if start[name] != left.get(name)
                }
                if origin:
                    self.origins[number] = origin
            left.update((name, end[name]) for name in drawn_from)
            for example in batch:
                text = example.reference.text.encode()
                self.checksum = crc32(text, self.checksum)
            yield epoch, batch


@contextmanager
def _without_updates(nlp: Language) -> Iterator[None]:
    """Make `nlp.update` do nothing."""
    nlp.update = lambda *args, **kwargs: {}  # type: ignore[method-assign]
    try:
        yield
    finally:
        del nlp.update
