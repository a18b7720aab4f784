"""``python -m training``."""

import sys

from scarto_env.cli import run

if __name__ == "__main__":  # spawned workers import this module again
    sys.exit(run("training.commands", "training", "python -m training"))
