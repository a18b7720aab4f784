"""Learning to play Scarto; stands on the public names of ``scarto_env``."""
