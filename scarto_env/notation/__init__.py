"""Cards, deals and whole records as text, both ways; every record is checked against the rules.

>>> from scarto_env import Batch
>>> from scarto_env.notation import read_record, record_of, write_record
>>> batch = Batch(1, seed=0, redeal=False)
>>> _ = batch.play_out()
>>> text = write_record(record_of(batch.games[0], batch.rules))
>>> write_record(read_record(text)) == text
True
"""

from scarto_env.notation.files import load_records, save_records
from scarto_env.notation.lines import read_json, write_json
from scarto_env.notation.record import (
    Comment,
    Record,
    RecordError,
    Trick,
    follow,
    position,
    record_of,
    settled_scores,
    tricks_of,
)
from scarto_env.notation.stn import read_record, read_records, write_record, write_records
from scarto_env.notation.text import (
    cards_text,
    deal_text,
    hand_text,
    in_order,
    parse_cards,
    parse_deal,
    parse_rules,
    parse_score,
    rules_text,
    score_text,
    scores_text,
    value_text,
)
from scarto_env.notation.verify import check_seed, verified

__all__ = [
    "Comment",
    "Record",
    "RecordError",
    "Trick",
    "cards_text",
    "check_seed",
    "deal_text",
    "follow",
    "hand_text",
    "in_order",
    "load_records",
    "parse_cards",
    "parse_deal",
    "parse_rules",
    "parse_score",
    "position",
    "read_json",
    "read_record",
    "read_records",
    "record_of",
    "rules_text",
    "save_records",
    "score_text",
    "scores_text",
    "settled_scores",
    "tricks_of",
    "value_text",
    "verified",
    "write_json",
    "write_record",
    "write_records",
]
