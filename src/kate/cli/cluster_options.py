"""What --on ray changes in a command: a cluster does the work, on pieces of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from kate.cli.options import ClusterEngine

if TYPE_CHECKING:
    from kate.cluster.ray_cluster import RayCluster

__all__ = ["on_cluster", "require_engine_options"]


def require_engine_options(on: ClusterEngine | None, address: str | None, workers: int | None) -> None:
    """Before anything is read: options of a cluster need --on ray, and that needs Ray."""
    if on is None:
        for option, value in (("--address", address), ("--workers", workers)):
            if value is not None:
                raise typer.BadParameter("goes with --on ray only", param_hint=option)
        return
    from kate.cluster.ray_cluster import require_ray

    require_ray()


@contextmanager
def on_cluster(address: str | None, workers: int | None) -> Iterator[RayCluster]:
    """A cluster for one command."""
    from kate.cluster.ray_cluster import RayCluster

    with RayCluster.start(address) as cluster:
        if workers is not None:
            cluster.require_workers(workers)
        yield cluster
