"""spaCy's own training loop, with checkpoints that it can be resumed from."""

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
    """Takes the place of the steps in spaCy's `train`, and writes checkpoints.

    What has been done before is not stored but done again, as far as it is cheap: the
    data is read, shuffled and batched, and schedules make their steps, whatever they
    are. Only updates and evaluations are left out.
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
        """Prepare the loop.

        output_path (Path): The folder that spaCy saves pipelines in.
        checkpoint_path (Path): The file for checkpoints.
        identity (Dict[str, Any]): What the training depends on.
        minutes (float): The time between two checkpoints.
        steps (int): Also write one after so many steps; 0 disables it.
        note_signals (Callable): Gives a context with a list. When a signal is in it,
            the training ends after the step it is at, with a checkpoint.
        resume_from (Optional[Checkpoint]): Where to begin.
        """
        self.output_path = output_path
        self.checkpoint_path = checkpoint_path
        self.identity = identity
        self.seconds = 60 * minutes
        self.steps = steps
        self.note_signals = note_signals
        self.resume_from = resume_from
        # The signal that has ended the training.
        self.ended_by: int | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Have spaCy's `train` use this loop, for which it has no argument."""
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
        """Train; arguments and results are those of spaCy's function."""
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
                # By now, spaCy has saved the pipeline if it was evaluated.
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
        """Bring new objects into the state of a checkpoint."""
        progress = checkpoint.progress
        restore_best_model(checkpoint, self.output_path)
        # Optimizers may check what they have updated when their schedules step.
        restore_optimizer(checkpoint, nlp, optimizer)
        with _without_updates(nlp):
            repeated = deque(islice(steps, progress.step + 1), maxlen=1)
        if not repeated or batches.checksum != progress.checksum:
            raise ValueError(
                f"{checkpoint.path} cannot be resumed: read again, the data is not "
                f"that of the first {progress.step + 1} steps. Does the corpus reader "
                "draw random numbers that do not come from 'random', numpy or torch?"
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
    """The batches of a training, which can be made a second time.

    Reading, augmenting and shuffling draw random numbers, and so do the steps between
    them. To make the same batches without these steps, a generator has to be in the
    state that it was in whenever the data drew from it. `origins` has these states by
    the number of the batch, but only those that a step between two batches has changed:
    often none.
    """

    def __init__(
        self,
        train_data: Iterable[tuple[int, list[Example]]],
        before: Progress | None,
    ) -> None:
        """Wrap the data.

        train_data (Iterable[Tuple[int, List[Example]]]): Epochs and batches.
        before (Optional[Progress]): How many batches were made before, and from what.
        """
        self.train_data = train_data
        self.n_before = before.step + 1 if before else 0
        self.origins = before.origins if before else {}
        # Of the texts so far: whatever the reader is, they have to be the same.
        self.checksum = 0

    def __iter__(self) -> Iterator[tuple[int, list[Example]]]:
        iterator = iter(self.train_data)
        # The states in which the data left the generators that it has drawn from.
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
    """Have `nlp.update` do nothing."""
    nlp.update = lambda *args, **kwargs: {}  # type: ignore[method-assign]
    try:
        yield
    finally:
        del nlp.update
