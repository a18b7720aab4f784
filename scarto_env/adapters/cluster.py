"""A Ray cluster: joining or starting one, an executor on it, and the same code everywhere."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

LOCAL: Final = "local"
"""Starts a cluster on this machine alone, which ends with the process; ``"auto"`` finds a running one."""
PATIENCE_SECONDS: Final = 10.0
"""For the first answer of a cluster."""
_SETTINGS: Final = {"RAY_USAGE_STATS_ENABLED": "0"}  # nothing is told to anybody
_LOCAL_SETTINGS: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""A cluster of one machine listens on the loopback alone: Ray's own setting for systems with a firewall that asks."""
_PACKAGES: Final = ("scarto_env", "training")


class ClusterError(ValueError):
    """A cluster that cannot be used; the message says why in one line."""


def need_ray() -> None:
    """Refuse to go on without Ray.

    Raises:
        ModuleNotFoundError: Ray is not installed; named so that its own extra is advised, not RLlib's.
    """
    if importlib.util.find_spec("ray") is None:
        raise ModuleNotFoundError("No module named 'ray'", name="ray.init")


@contextmanager
def connected(where: str, num_cpus: int) -> Iterator[None]:
    """Be connected to a cluster.

    Args:
        where: ``"local"``, ``"auto"`` or the address of a running cluster, ``HOST:PORT``.
        num_cpus: that a local cluster has to offer.

    Raises:
        ClusterError: there is none.
        ModuleNotFoundError: Ray is not installed.
    """
    need_ray()
    for name, value in (_SETTINGS | _LOCAL_SETTINGS if where == LOCAL else _SETTINGS).items():
        os.environ.setdefault(name, value)
    import ray  # reads them

    logging.getLogger("ray").setLevel(logging.ERROR)
    local = {"num_cpus": num_cpus, "_node_ip_address": "127.0.0.1", "include_dashboard": False}
    try:
        if where.count(":") == 1:  # Ray would knock at a silent door for minutes
            host, port = where.split(":")
            socket.create_connection((host, int(port)), PATIENCE_SECONDS).close()
        ray.init(where, log_to_driver=False, configure_logging=False, **(local if where == LOCAL else {}))
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(f"no cluster at {where!r}: {str(error).splitlines()[0]}") from None
    try:
        yield
    finally:
        ray.shutdown()


@cache
def code_version() -> str:
    """Return the version of the package and a digest of its sources: equal where the same code runs."""
    total = hashlib.sha256()
    root = Path(__file__).parents[2]
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            total.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return f"scarto {importlib.metadata.version('scarto')} ({total.hexdigest()[:12]})"


def refuse_other_code(theirs: str, ours: str, node: str) -> None:
    """Refuse a worker that does not run the driver's code.

    Raises:
        ClusterError: the versions differ; names both.
    """
    if theirs != ours:
        raise ClusterError(f"the worker on {node} runs {theirs}, the driver {ours}: install the same on every node")


def node_name() -> str:
    """Return the node that this process runs on."""
    import ray

    context = ray.get_runtime_context()
    return f"{ray.util.get_node_ip_address()} ({context.get_node_id()[:8]})"


class ClusterExecutor(Executor):
    """Calls functions in tasks of the cluster; what is lost with a node is called again.

    Everything is pickled here, not by Ray: arrays that its store gives are read-only, and bots write into theirs;
    and a worker that runs other code refuses before it unpickles anything.  A list that is given again, the same
    object, is sent once.

    Args:
        num_cpus: that a task occupies.
    """

    def __init__(self, num_cpus: float = 1) -> None:
        import ray

        options = {"num_cpus": num_cpus, "max_retries": -1, "scheduling_strategy": "SPREAD"}
        self._task = ray.remote(_call).options(**options)
        self._sent: dict[int, tuple[list[Any], Any]] = {}

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Call a function somewhere and return its result to come."""
        import ray

        lists = [self._sent_once(argument) for argument in args if isinstance(argument, list)]
        others = [None if isinstance(argument, list) else argument for argument in args]
        packed = ray.cloudpickle.dumps((fn, others, kwargs))
        result: Future[Result] = Future()
        self._task.remote(code_version(), packed, *lists).future().add_done_callback(partial(_pass_on, result))
        return result

    def _sent_once(self, argument: list[Any]) -> Any:
        """Return where the cluster keeps a list."""
        import ray

        if id(argument) not in self._sent:
            sent = ray.put(ray.cloudpickle.dumps(argument))
            self._sent[id(argument)] = (argument, sent)  # kept, so that no other object gets its id
        return self._sent[id(argument)][1]


def _call(drivers_code: str, packed: bytes, *lists: bytes) -> Any:
    """Call a function; an argument that is None is the next list."""
    refuse_other_code(code_version(), drivers_code, node_name())
    function, arguments, named = pickle.loads(packed)
    left = iter(lists)
    return function(*(pickle.loads(next(left)) if given is None else given for given in arguments), **named)


def _pass_on(result: Future[Any], done: Future[Any]) -> None:
    """Give a result to come what a task gave: its own error, where Ray's would bring a traceback."""
    error = done.exception()
    if error is None:
        result.set_result(done.result())
    else:
        result.set_exception(getattr(error, "cause", None) or error)
