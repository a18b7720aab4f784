"""Speed of the package and of other libraries, side by side in one run: ``python -m benchmarks``."""
