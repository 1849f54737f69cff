"""Passes over rows by the workers of a dask cluster: one that runs already, or one that is started here."""

import logging
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from rfbench.checks import InputError, require
from rfbench.engines.base import State
from rfbench.engines.local import PART_ROWS
from rfbench.engines.spread import Arrival, Share, Spread
from rfbench.engines.worker import partial_sums

if TYPE_CHECKING:
    from distributed import Client

START = 60.0  # seconds until a cluster that runs has a worker
PATIENCE = 300.0  # seconds without any worker; one that dies on a busy machine is replaced after more than one minute


class Dask(Spread):
    """The workers at `address`, or `workers` processes of this machine."""

    def __init__(
        self,
        workers: int | str = "auto",
        address: str | None = None,
        block_rows: int = 256,
        part_rows: int = PART_ROWS,
        checkpoint: float = 60.0,
    ) -> None:
        super().__init__(workers, block_rows, part_rows, checkpoint)
        require(address is None or "://" in address, "engine.address", "of the form tcp://HOST:PORT", address)
        if not find_spec("distributed"):
            raise InputError("engine=dask needs more packages: pip install 'rfbench[distributed]'")
        self.address = address
        self._client: Client | None = None
        self._cluster: Any = None

    @contextmanager
    def running(self) -> Iterator["Dask"]:
        with super().running():
            try:
                yield self
            finally:
                self._stop()

    def arriving(self, shares: Iterable[Share]) -> Generator[Arrival]:
        from distributed import CancelledError, Future, KilledWorker, wait

        shares, waiting = iter(shares), dict[Future[State], int]()
        client, seen = self._connected(), monotonic()
        try:
            while True:
                if there := sum(client.nthreads().values()):
                    seen = monotonic()
                more = max(2 * there, 1) - len(waiting)  # below 0 where workers have died
                for number, description in islice(shares, max(more, 0)):
                    waiting[client.submit(partial_sums, description, pure=False)] = number
                if not waiting:
                    return
                try:
                    done = wait(list(waiting), timeout=1, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    if monotonic() - seen > PATIENCE:
                        raise InputError(self._lost("has no workers any more")) from None
                    continue
                for future in done:
                    if future.status == "error" and isinstance(error := future.exception(), OSError):
                        raise InputError(f"a worker of {self._name} cannot read its rows: {error}")
                    number, state = waiting[future], future.result()
                    del waiting[future]
                    future.release()
                    yield number, state
        except KilledWorker:
            raise InputError(self._lost("loses every worker at the same rows, perhaps for lack of memory")) from None
        except (OSError, CancelledError):
            raise InputError(self._lost("does not answer any more")) from None

    def _lost(self, what: str) -> str:
        return f"{self._name} {what}; what arrived is kept, rerun to resume"

    @property
    def _name(self) -> str:
        return f"the dask cluster {self.address or 'of this machine'}"

    def _connected(self) -> "Client":
        import dask
        from distributed import Client, LocalCluster

        if self._client is None:
            for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
                logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in one line
            # The profiler keeps what each second of a worker was like: memory that grows with the time.
            dask.config.set({"distributed.comm.timeouts.connect": "10s", "distributed.worker.profile.enabled": False})
            if not self.address:
                self._cluster = LocalCluster(
                    n_workers=self.processes,
                    threads_per_worker=1,
                    dashboard_address=":0",  # any free port: another cluster may have the usual one
                    silence_logs=logging.CRITICAL,
                )
            try:
                # Sums that go through the scheduler of this process would be in its memory twice.
                direct = self._cluster is not None
                self._client = Client(self._cluster or self.address, timeout=10, direct_to_workers=direct)
                self._client.wait_for_workers(1, timeout=PATIENCE if self._cluster else START)
            except (OSError, TimeoutError):
                self._stop()
                raise InputError(f"no dask scheduler with workers answers at {self.address}; start one") from None
        return self._client

    def _stop(self) -> None:
        for part in (self._client, self._cluster):
            if part:
                part.close(timeout=5)
        self._client = self._cluster = None
