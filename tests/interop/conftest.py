"""What all libraries' tests share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """On few cores torch is several times slower with more threads than one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
