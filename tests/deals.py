"""Records of random deals, and of one deal given card by card, for the tests of records, pictures and commands."""

from scarto_env import PRESETS, Batch
from scarto_env.notation import Record, record_of

NAMES = ("Anna", "Bruno", "Carla", "Dario")

# Piccolo, dealer 0, the Fool played to trick 3: short enough to be read whole.
SHORT = """\
[STN "1.0"]
[Rules "piccolo"]
[Options ""]
[Seed "12"]
[Seat0 "Anna"]
[Seat1 "Bruno"]
[Seat2 "Carla"]
[Dealer "0"]
[Deal "CK DK DQ DC BQ 21 18 16 08 06 03 MT; C1 BC BJ BT SQ SC 20 15 14 10 09 05; CQ CJ D1 BK SK SJ ST 17 13 11 07 01"]
[Talon "CC DJ 19 12 04 02"]
[Discard "CC BQ 18 12 04 02"]
[Result "+30 1/3; -10 1/3; -20"]

1. 1: SC SJ 06 =0
2. 0: 19 20 17 =1
3. 1: 15 11 MT =1
4. 1: SQ ST 03 =0
5. 0: DK 05 D1 =1
6. 1: C1 CQ CK =0
7. 0: 21 14 01 =0
8. 0: DC 09 13 =2
9. 2: BK 08 BC =0
10. 0: DJ 10 07 =1
11. 1: BT SK 16 =0
12. 0: DQ BJ CJ =0
"""


def random_records(preset: str, num_deals: int, seed: int = 0) -> list[Record]:
    """Return deals of a preset played to the end by random legal cards."""
    batch = Batch(num_deals, preset, seed=seed, threads=1, redeal=False)
    batch.play_out()
    return [record_of(row, preset, seats=NAMES[: PRESETS[preset].players], seed=seed) for row in batch.games]
