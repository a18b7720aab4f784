"""Optional libraries and the extras that bring them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_EXTRAS: Final = MappingProxyType(
    {
        "click": "cli",
        "rich": "cli",
        "torch": "train",
        "safetensors": "train",
        "matplotlib": "train",
        "cma": "train",
        "openskill": "arena",
        "resvg_py": "render",
        "PIL": "render",
        "sb3_contrib": "sb3",
        "torchrl": "torchrl",
        "tensordict": "torchrl",
        "ray": "rllib",
        "ray.init": "ray",
        "pyspiel": "openspiel",
    }
)


def how_to_install(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a library that is missing, or None if no extra brings it."""
    name = error.name or ""
    library = name.partition(".")[0]
    extra = _EXTRAS.get(name) or _EXTRAS.get(library)
    return f"needs {library}: python -m pip install 'scarto[{extra}]'" if extra else None
