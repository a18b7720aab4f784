"""Files of records: ``.stn`` text, or JSON one deal a line (``.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from scarto_env.notation.lines import read_json, write_json
from scarto_env.notation.record import Record, RecordError
from scarto_env.notation.stn import read_records, write_records

JSON_SUFFIX: Final = ".jsonl"


def load_records(path: str | Path) -> list[Record]:
    """Return the records of a file; a name that ends in ``.jsonl`` is JSON, one deal a line.

    Raises:
        RecordError: names the first line that cannot be read or disagrees, and what the rules say.
        OSError: the file cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        # Decoded here, not by text mode, which would change line ends that must come back as they were.
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("not UTF-8 text", content.count(b"\n", 0, error.start) + 1) from None
    if Path(path).suffix != JSON_SUFFIX:
        return read_records(text)
    records = []
    for line, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                records.append(read_json(row))
            except RecordError as error:
                raise RecordError(error.reason, line) from None
    return records


def save_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write records to a file, as JSON if its name ends in ``.jsonl``."""
    if Path(path).suffix == JSON_SUFFIX:
        text = "".join(write_json(record) + "\n" for record in records)
    else:
        text = write_records(records)
    Path(path).write_bytes(text.encode("utf-8"))
