"""How many threads: by n_jobs, OMP_NUM_THREADS, affinity and the CPU limits of cgroups."""

import math
import os

import pytest

from kate import threads
from kate.threads import available_cpus, cgroup_limit, thread_count


@pytest.fixture
def eight_cpus(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "available_cpus", lambda: 8)


@pytest.mark.usefixtures("eight_cpus")
@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 8), (1, 1), (20, 20), (-1, 8), (-2, 7), (-100, 1)])
def test_n_jobs_counts_as_in_scikit_learn(n_jobs, expected):
    assert thread_count(n_jobs) == expected


@pytest.mark.usefixtures("eight_cpus")
@pytest.mark.parametrize(
    ("value", "expected"), [("3", 3), ("3,2", 3), ("64", 8), ("0", 8), ("", 8), ("x", 8)]
)
def test_openmp_limits_the_default_alone(monkeypatch, value, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert thread_count(None) == expected
    assert thread_count(-1) == 8


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="n_jobs is 0"):
        thread_count(0)


def test_the_limit_of_the_container_counts(monkeypatch):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 8, raising=False)
    for limit, expected in ((math.inf, 8), (100.0, 8), (2.0, 2), (1.5, 2), (0.1, 1)):
        monkeypatch.setattr(threads, "_container_limit", lambda limit=limit: limit)
        assert available_cpus() == expected


def test_the_affinity_counts(monkeypatch):
    monkeypatch.setattr(threads, "_container_limit", lambda: math.inf)
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 4, 5}, raising=False)
    assert available_cpus() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert available_cpus() == 6


def test_here_there_is_at_least_one():
    assert available_cpus() >= 1


@pytest.fixture
def limit_of(tmp_path):
    """The limit for a made-up /proc/self/cgroup and files under a made-up /sys/fs/cgroup."""

    def limit(membership, files):
        for name, text in files.items():
            file = tmp_path / "cgroup" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / "membership").write_text(membership)
        return cgroup_limit(tmp_path / "cgroup", tmp_path / "membership")

    return limit


def test_version_2_in_a_container(limit_of):
    assert limit_of("0::/\n", {"cpu.max": "150000 100000\n"}) == 1.5


def test_version_2_without_a_limit(limit_of):
    assert limit_of("0::/\n", {"cpu.max": "max 100000\n"}) == math.inf


def test_version_2_of_a_service_and_of_the_slices_around_it(limit_of):
    files = {
        "user.slice/cpu.max": "400000 100000\n",
        "user.slice/run.scope/cpu.max": "max 100000\n",
        "other.slice/cpu.max": "100000 100000\n",
    }
    assert limit_of("0::/user.slice/run.scope\n", files) == 4


def test_version_1_with_the_path_of_the_host(limit_of):
    """Inside a container without a namespace of its own the path is the host's, and the mount the container's."""
    files = {"cpu,cpuacct/cpu.cfs_quota_us": "50000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"}
    membership = "12:memory:/docker/1f2e\n4:cpu,cpuacct:/docker/1f2e\n1:name=systemd:/docker/1f2e\n"
    assert limit_of(membership, files) == 0.5


def test_version_1_without_a_limit(limit_of):
    files = {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}
    assert limit_of("1:cpu:/\n0::/\n", files) == math.inf


def test_no_cgroups(tmp_path):
    assert cgroup_limit(tmp_path, tmp_path / "nothing") == math.inf
    (tmp_path / "strange").write_text("nonsense\n\n")
    assert cgroup_limit(tmp_path, tmp_path / "strange") == math.inf
