"""``python -m scarto_env``: the command line."""

import sys

from scarto_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
