"""``python -m training``."""

import sys

from scarto_env.extras import how_to_install

if __name__ == "__main__":  # spawned workers import this module again
    try:
        from training.commands import main

        main()
    except ModuleNotFoundError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        sys.stderr.write(f"training: this {advice}\n")
        sys.exit(2)
