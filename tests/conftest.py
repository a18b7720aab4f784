"""Settings that all tests share."""

import pytest
from hypothesis import settings

# The examples are the same in every run; a slow machine is no failure.
settings.register_profile("scarto", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("scarto")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write tests/golden/ anew from the engine; read the difference before it is committed",
    )
