"""Processing of parts, in this process or on Ray."""

from __future__ import annotations

import logging
import pickle
import signal
import socket
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .inputs import Part
from .worker import PARTS, REPORT, Report, Worker

# Maximum number of Ray blocks at a time, which the driver holds in memory.
MAX_BLOCKS = 10_000
# If there are more parts, small ones share a block of this many bytes. A block is
# repeated if its worker dies, and its reports arrive together.
BLOCK_SIZE = 2**22
# Seconds to wait for an answer of a Ray cluster.
TIMEOUT = 10
# The memory of Ray's object store, which only holds parts and reports. Ray's minimum is
# 75 MB.
OBJECT_STORE = 100 * 2**20


@dataclass(frozen=True)
class Engine:
    """Runs workers, in this process or on Ray.

    workers (int): The number of workers.
    address (Optional[str]): The address of a Ray cluster, or "local" to start Ray here.
        If None, Ray is only used with several workers.
    gpus (float): The GPUs per worker, can be a fraction.
    """

    workers: int
    address: str | None
    gpus: float

    @property
    def uses_ray(self) -> bool:
        """RETURNS (bool): Whether workers run on Ray."""
        return self.workers > 1 or self.address is not None

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Start Ray or connect to it, unless it is already initialized."""
        if not self.uses_ray:
            yield
            return
        ray = _import_ray()
        if ray.is_initialized():
            yield
            return
        options: dict[str, Any] = {}
        if self.address in (None, "local"):
            options = {
                "num_cpus": self.workers,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE,
                # By default, workers give way to all other processes.
                "_system_config": {"worker_niceness": 0},
            }
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            check_address(self.address or "local")
            ray.init(
                address=self.address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **options,
            )
        except Exception as error:
            reason = " ".join(str(error).split())
            raise ConnectionError(
                f"Cannot start Ray or connect to it at {self.address or 'local'} "
                f"({reason}). Check 'ray_address' (--ray-address)."
            ) from None
        if main:
            # Ray has replaced the handler.
            signal.signal(signal.SIGTERM, before)
        try:
            yield
        finally:
            ray.shutdown()

    def run(
        self, parts: Sequence[Part], worker: type[Worker], *args: Any
    ) -> Generator[Report, None, None]:
        """Process parts with workers.

        parts (Sequence[Part]): The parts.
        worker (Type[Worker]): The type of the workers.
        args (Any): The arguments that a worker is created with.
        YIELDS (Report): The report of each part, in any order.
        """
        if not parts:
            return
        if self.uses_ray:
            yield from self._run_on_ray(parts, worker, args)
        else:
            here = worker(*args)
            yield from map(here.work, parts)

    def _run_on_ray(
        self, parts: Sequence[Part], worker: type[Worker], args: tuple[Any, ...]
    ) -> Iterator[Report]:
        ray = _import_ray()
        ray.data.DataContext.get_current().enable_progress_bars = False
        for blocks in batched(to_blocks(parts), MAX_BLOCKS):
            size = min(self.workers, len(blocks))
            reports = ray.data.from_items(
                [{PARTS: block} for block in blocks], override_num_blocks=len(blocks)
            ).map_batches(
                worker,
                fn_constructor_args=args,
                batch_size=None,
                batch_format="pyarrow",
                # The pool starts with the available workers, and grows with the
                # cluster. Actors get one task at a time, so that tasks are left for
                # later workers.
                compute=ray.data.ActorPoolStrategy(
                    min_size=1,
                    max_size=size,
                    initial_size=size,
                    max_tasks_in_flight_per_actor=1,
                ),
                num_cpus=1,
                num_gpus=self.gpus,
            )
            for row in reports.iter_rows():
                yield pickle.loads(row[REPORT])


def to_blocks(parts: Sequence[Part]) -> Iterator[list[str]]:
    """Put parts into blocks, each of which a worker processes in one task.

    parts (Sequence[Part]): The parts.
    YIELDS (List[str]): The parts of a block, as JSON.
    """
    limit = BLOCK_SIZE if len(parts) > MAX_BLOCKS else 0
    block: list[str] = []
    size = 0
    for part in parts:
        if block and size + part.size > limit:
            yield block
            block, size = [], 0
        block.append(part.to_json())
        size += part.size
    if block:
        yield block


def batched(blocks: Iterable[list[str]], size: int) -> Iterator[list[list[str]]]:
    """Yield lists of this many blocks."""
    blocks = iter(blocks)
    while some := list(islice(blocks, size)):
        yield some


def check_address(address: str) -> None:
    """Raise an error if nothing listens at HOST:PORT, for which Ray takes minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(str(error)) from None


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise ValueError(
            "Several workers require Ray: pip install 'spacy-sdp[ray]'."
        ) from None
    for handler in logging.getLogger("ray.data").handlers:
        # Ray's log file is complete.
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.ERROR)
    return ray
