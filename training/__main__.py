"""``python -m training``."""

from training.commands import main

if __name__ == "__main__":  # spawned workers import this module again
    main()
