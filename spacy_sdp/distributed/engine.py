"""Processing of parts, in this process or on Ray."""

from __future__ import annotations

import logging
import pickle
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .inputs import Part
from .worker import PART, REPORT, Report, Worker

# Maximum number of Ray blocks. If there are more parts, they share blocks.
MAX_BLOCKS = 10_000
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
            }
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(
                address=self.address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **options,
            )
        except ConnectionError as error:
            raise ConnectionError(
                f"There is no Ray cluster at {self.address} ({error})."
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
        rows = [{PART: part.to_json()} for part in parts]
        size = min(self.workers, len(parts))
        reports = ray.data.from_items(
            rows, override_num_blocks=min(len(rows), MAX_BLOCKS)
        ).map_batches(
            worker,
            fn_constructor_args=args,
            batch_size=None,
            batch_format="pyarrow",
            # The pool starts with the available workers, and grows with the cluster.
            # Actors get one task at a time, so that tasks are left for later workers.
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
