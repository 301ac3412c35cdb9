"""Ray, as the rest of the room sees it: a cluster that is started here, or one that is running already."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kate.errors import KateError, quoted
from kate.extras import require
from kate.threads import available_cpus

__all__ = ["ClusterError", "LostResultError", "RayCluster", "original_error", "require_ray"]

# How often work is done again on another worker, after one was killed or its machine was lost.
_RETRIES = 3
_SECONDS_TO_ANSWER = 5.0


class ClusterError(KateError, OSError):
    """A cluster that cannot be reached, is too small, or was lost."""


class LostResultError(ClusterError):
    """A worker or its result was lost, and Ray could not restore it; the work can be done again."""


class RayCluster:
    """A connection to Ray. Leave it by ``with``, or by :meth:`close`: a Ray that was started here is stopped."""

    def __init__(self, ray: Any, *, is_ours: bool) -> None:
        """Use :meth:`start`."""
        self.ray, self._is_ours = ray, is_ours
        self.n_cpus = int(ray.cluster_resources().get("CPU", 0))
        self.n_gpus = int(ray.cluster_resources().get("GPU", 0))

    @classmethod
    def start(cls, address: str | None = None, n_cpus: int | None = None) -> RayCluster:
        """Start Ray on this machine; with an ``address`` connect to one that runs ("HOST:PORT", or "auto").

        A Ray that this program has started or connected to already is used as it is.
        """
        require_ray()
        # read when Ray starts: errors are raised, and not also printed; nothing is reported to Ray's makers, and a Ray
        # of this machine alone keeps to its loopback (the name is that of the systems on which it always does)
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is None:
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        else:
            _require_answer(address)
        import ray

        if ray.is_initialized():
            return cls(ray, is_ours=False)
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        try:
            with _silent():
                if address is None:
                    n_cpus = n_cpus or available_cpus()
                    ray.init(address="local", include_dashboard=False, num_cpus=n_cpus, **quiet)
                else:
                    ray.init(address=address, **quiet)
        except (ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
            raise ClusterError(_unreachable(address, str(error).splitlines()[0])) from None
        return cls(ray, is_ours=True)

    def close(self) -> None:
        if self._is_ours:
            self.ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def task(self, function: Callable[..., Any], n_returns: int = 1) -> Any:
        """A function that runs on some machine of the cluster, on one processor."""
        return self.ray.remote(num_cpus=1, num_returns=n_returns, max_retries=_RETRIES)(function)

    def worker(self, kind: type, n_cpus: float = 1, n_gpus: float = 0) -> Any:
        """A class whose objects live on some machine; one that dies is made again and repeats unfinished work."""
        options = {"num_cpus": n_cpus, "num_gpus": n_gpus, "scheduling_strategy": "SPREAD"}
        return self.ray.remote(max_restarts=_RETRIES, max_task_retries=_RETRIES, **options)(kind)

    def put(self, value: Any) -> Any:
        return self.ray.put(value)

    def get(self, references: Any) -> Any:
        """What tasks gave; an error of ours is raised as it would be without Ray."""
        try:
            return self.ray.get(references)
        except self.ray.exceptions.RayError as error:
            lost = (self.ray.exceptions.ObjectLostError, self.ray.exceptions.RayActorError)
            if _is_of_something_lost(error, lost):
                raise LostResultError(f"the cluster lost a result: {_last_line(error)}") from None
            raise original_error(error) from None

    def require_workers(self, n_workers: int) -> None:
        """Refuse more workers than there are processors."""
        if n_workers > self.n_cpus:
            raise ClusterError(
                f"{n_workers} workers on a cluster of {self.n_cpus} processors; take at most --workers {self.n_cpus}"
            )

    def cpus_of_a_worker(self, n_workers: int) -> int:
        """Processors for each of so many workers: as many as one machine has at most."""
        nodes = [node["Resources"].get("CPU", 0) for node in self.ray.nodes() if node["Alive"]]
        return max(1, int(min(self.n_cpus / n_workers, max(nodes, default=1))))


@contextmanager
def _silent() -> Iterator[None]:
    """Hide what Ray's compiled part prints about its own settings; Python's errors are raised all the same."""
    sys.stderr.flush()
    before = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def require_ray() -> None:
    """Say what to install, before anything is read."""
    require("--on ray", "ray", "cluster")


def original_error(error: BaseException) -> BaseException:
    """What went wrong on a worker: Ray wraps it, several times over."""
    wrapped: BaseException | None = error
    while wrapped is not None:
        if not type(wrapped).__module__.startswith("ray.") or isinstance(wrapped, KateError):
            return wrapped
        wrapped = getattr(wrapped, "cause", None) or wrapped.__cause__
    return ClusterError(
        f"the cluster failed: {_last_line(error)}; look at its machines and logs, and run it again"
    )


def _is_of_something_lost(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    """Whether what a task needed or gave was gone, also where Ray wraps the error."""
    wrapped: BaseException | None = error
    while wrapped is not None:
        if isinstance(wrapped, kinds):
            return True
        wrapped = getattr(wrapped, "cause", None) or wrapped.__cause__
    return False


def _last_line(error: BaseException) -> str:
    """The last line of an error of Ray: below the traceback it says what happened."""
    return (str(error).strip().splitlines()[-1:] or [type(error).__name__])[0]


def _require_answer(address: str) -> None:
    """Refuse an address where nobody listens: Ray itself would try for a minute."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address == "auto" or not colon:
        return
    if not port.isdigit():
        raise ClusterError(f"{quoted(address)} is no address; give HOST:PORT, such as 10.0.0.5:6379, or auto")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER):
            return
    except OSError as error:
        raise ClusterError(_unreachable(address, error.strerror or str(error))) from None


def _unreachable(address: str | None, reason: str) -> str:
    if address is None:
        return f"Ray cannot be started on this machine: {reason}"
    return (
        f"no Ray cluster answers at {address} ({reason}); start one with `ray start --head`, or leave --address out to "
        "run on this machine"
    )
