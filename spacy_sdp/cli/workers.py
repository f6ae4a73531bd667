"""Parsing of texts in batches, by one or several processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from threading import Thread

import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import minibatch

from ..formats import docbin
from ..pipeline.batches import Parsed, parse_batch
from ..pipeline.loading import load_pipeline
from .interrupt import ENDING, signals_held
from .texts import Input

# Pending batches for each worker, so that no worker waits for its next batch.
BATCHES_PER_WORKER = 2
# Size of the inputs, in bytes, from which more processes pay off. Each one takes
# seconds to load the pipeline.
SIZE_FOR_PROCESSES = 2_000_000
# More processes have to be asked for, as each one holds the pipeline in memory.
MAX_PROCESSES = 4


def choose_processes(nlp: Language, size: int | None) -> int:
    """Choose the number of processes that parse the fastest.

    nlp (Language): The pipeline. With a transformer, whose matrices are large, threads
        are faster than processes.
    size (Optional[int]): The size of the inputs in bytes, if it is known.
    RETURNS (int): The number of processes.
    """
    if size is None or size < SIZE_FOR_PROCESSES:
        return 1
    if any(
        meta.factory == "transformer" for meta in map(nlp.get_pipe_meta, nlp.pipe_names)
    ):
        return 1
    return min(os.cpu_count() or 1, MAX_PROCESSES)


def parse_inputs(
    inputs: Iterable[Input], nlp: Language, batch_size: int
) -> Generator[tuple[Input, Parsed], None, None]:
    """Parse texts in this process.

    inputs (Iterable[Input]): The texts.
    nlp (Language): The pipeline.
    batch_size (int): The number of texts in a batch.
    YIELDS (Tuple[Input, Doc | str]): Each text with its Doc, or with the error of the
        pipeline.
    """
    for batch in minibatch(inputs, batch_size):
        yield from zip(
            batch, parse_batch(nlp, [each.text for each in batch]), strict=True
        )


def parse_in_processes(
    inputs: Iterable[Input],
    nlp: Language,
    batch_size: int,
    n_process: int,
    model: str | None,
    threshold: float | None,
) -> Generator[tuple[Input, Parsed], None, None]:
    """Parse texts in other processes, which end together with this generator.

    inputs (Iterable[Input]): The texts, which are read lazily.
    nlp (Language): The pipeline with the vocabulary of the Docs.
    batch_size (int): The number of texts in a batch.
    n_process (int): The number of processes.
    model (Optional[str]): The name of the pipeline, for `load_pipeline`.
    threshold (Optional[float]): Its threshold, for `load_pipeline`.
    YIELDS (Tuple[Input, Doc | str]): The same as `parse_inputs`, in the same order.
    """
    others = multiprocessing.active_children()
    # Spawn processes instead of forking: a fork would wait for the threads of torch,
    # which it does not have.
    context = multiprocessing.get_context("spawn")
    folder = TemporaryDirectory(prefix="spacy-sdp-")
    # Processes inherit blocked signals, also the one with which Python tracks
    # semaphores, which would otherwise print warnings after SIGHUP.
    with signals_held():
        executor = ProcessPoolExecutor(
            n_process, context, initializer=_start, initargs=(folder.name,)
        )
    pending: deque[tuple[list[Input], Future[str]]] = deque()
    try:
        for batch in minibatch(inputs, batch_size):
            # The executor may start a process here, which a signal must not interrupt.
            with signals_held():
                answer = executor.submit(
                    _work, model, threshold, folder.name, *_pack(batch)
                )
            pending.append((batch, answer))
            if len(pending) == BATCHES_PER_WORKER * n_process:
                yield from _unpack(*pending.popleft(), nlp)
        while pending:
            yield from _unpack(*pending.popleft(), nlp)
    except BrokenProcessPool:
        raise ChildProcessError(
            "A worker process died, and the rest was not parsed. Did it run out of "
            "memory? Try a smaller --n-process or --batch-size."
        ) from None
    finally:
        for process in multiprocessing.active_children():
            if process not in others:
                process.kill()
        executor.shutdown()
        folder.cleanup()


# A batch for a worker: the texts, with None for each Doc, and the Docs.
_Question = tuple[list[str | None], bytes]
# The result of a worker: the errors, with None for each Doc, and the Docs.
_Answer = tuple[list[str | None], bytes]


def _pack(batch: list[Input]) -> _Question:
    return _split([each.text for each in batch])


def _split(items: list[str | Doc]) -> tuple[list[str | None], bytes]:
    strings = [None if isinstance(each, Doc) else each for each in items]
    return strings, docbin.to_bytes(each for each in items if isinstance(each, Doc))


def _join(strings: list[str | None], data: bytes, nlp: Language) -> list[str | Doc]:
    docs = DocBin().from_bytes(data).get_docs(nlp.vocab)
    return [next(docs) if each is None else each for each in strings]


def _unpack(
    batch: list[Input], answer: Future[str], nlp: Language
) -> Iterator[tuple[Input, Parsed]]:
    path = Path(answer.result())
    result: _Answer = pickle.loads(path.read_bytes())
    path.unlink()
    return zip(batch, _join(*result, nlp), strict=True)


# The rest runs in the workers.


def _start(folder: str) -> None:
    """Initialize a worker, which ends with its parent.

    It ignores signals, which terminals and schedulers send to all processes, so that
    the parent can save the results.

    folder (str): The folder of results, which is deleted if the parent is gone.
    """
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # Unblock the signals that were blocked when the worker was started.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # The processes already run in parallel.
    torch.set_num_threads(1)
    Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()


def _leave_with_parent(folder: str) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


_load_once = lru_cache(maxsize=1)(load_pipeline)


def _work(
    model: str | None,
    threshold: float | None,
    folder: str,
    strings: list[str | None],
    docs: bytes,
) -> str:
    """Parse a batch, and write the result to a file.

    If a worker is killed while it sends a result that does not fit into a pipe, its
    parent waits for the rest forever. The name of a file always fits.
    """
    nlp = _load_once(model, threshold)
    answer = _split(parse_batch(nlp, _join(strings, docs, nlp)))
    handle, path = mkstemp(dir=folder)
    with open(handle, "wb") as file:
        pickle.dump(answer, file)
    return path
