"""Pictures: what a viewer may see and nothing else, in every form."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from deals import SHORT, random_records

from scarto_env import PRESETS, Rules
from scarto_env.cards import NUM_CARDS, card_code, card_name, parse_card
from scarto_env.notation import Record, follow, read_record
from scarto_env.observation import view as sections_of
from scarto_env.render import (
    THEMES,
    TableView,
    facts,
    render_ansi,
    render_mode,
    render_sheet,
    render_svg,
    table_view,
    table_views,
)
from scarto_env.render.glyphs import GLYPHS, shortened, text_path, text_width
from scarto_env.render.view import Count

GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"


def cards_in(view: TableView) -> set[int]:
    """Every card that stands anywhere in a view."""
    hands = [seat.hand or () for seat in view.seats]
    tricks = [trick.cards for trick in (*view.tricks, *((view.trick,) if view.trick else ()))]
    return set(itertools.chain(*hands, *tricks, view.legal or (), view.talon or (), view.discard or ()))


def known(batch: Any, viewer: int) -> set[int]:
    """Every card that the observation, which is the authority, tells a seat."""
    seen = sections_of(batch.observe(0, viewer))
    cards = {int(card) for name in ("hand", "talon", "discard") for card in np.flatnonzero(seen[name])}
    return cards | {int(card) for card in np.flatnonzero(seen["played"].max(axis=0))}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_view_holds_no_card_that_its_viewer_may_not_see(preset: str) -> None:
    record = random_records(preset, 1, seed=3)[0]
    for viewer in range(record.rules.players):
        steps = zip(follow(record), table_views(record, viewer), strict=True)
        for (_, batch), view in steps:
            may_see = known(batch, viewer)
            if view.phase == "over":
                may_see |= set(record.discard)  # turned up at the count (A10)
            assert cards_in(view) <= may_see, (viewer, view.ply)
            assert (view.legal is not None) == (view.to_act == viewer)


@pytest.mark.parametrize("preset", PRESETS)
def test_one_who_sees_all_sees_the_whole_deck(preset: str) -> None:
    record = random_records(preset, 1, seed=4)[0]
    for view in table_views(record):
        assert len(cards_in(view)) == record.rules.deck_size
        assert view.to_act is None or view.legal


def exchanged(record: Record, viewer: int) -> Iterator[Record]:
    """Records that differ from one, before any trick, by cards among the hidden hands alone."""
    others = [seat for seat in range(record.rules.players) if seat not in (viewer, record.deal.dealer)]
    for one, other in itertools.pairwise(others):
        hands = list(record.deal.hands)
        hands[one], hands[other] = hands[other], hands[one]
        yield dataclasses.replace(
            record, deal=dataclasses.replace(record.deal, hands=tuple(hands)), plays=(), result=None
        )


def test_hidden_hands_exchanged_leave_a_view_unchanged() -> None:
    record = dataclasses.replace(random_records("four_player", 1)[0], plays=(), result=None)
    for viewer in range(4):
        for other in exchanged(record, viewer):
            for ply in range(record.num_plies + 1):
                assert table_view(other, ply, viewer) == table_view(record, ply, viewer)
                assert table_view(other, ply) != table_view(record, ply)


def test_a_view_tells_the_trick_its_winner_and_the_points() -> None:
    record = read_record(SHORT)
    view = table_view(record, 6 + 7, 1)
    assert [card_code(card) for card in view.trick.cards] == ["15"] and view.winning == 1
    assert view.last_trick is not None and view.last_trick.winner == 1
    assert [seat.role for seat in view.seats] == ["dealer", "forehand", "third"]
    # SC SJ 06 to Anna: 3 + 2 + 1 - 2; 19 20 17 to Bruno: 1 + 5 + 1 - 2.
    assert [seat.points for seat in view.seats] == [4, 5, 0]
    assert [seat.num_tricks for seat in view.seats] == [1, 1, 0]
    assert [seat.hand_size for seat in view.seats] == [10, 9, 10]
    assert table_view(record, 6 + 6, 1).shown_trick == view.last_trick


def test_the_count_adds_up() -> None:
    over = table_view(read_record(SHORT))
    counts = [seat.count for seat in over.seats]
    assert all(isinstance(count, Count) for count in counts)
    assert [count.settled for count in counts if count] == [Fraction(91, 3), Fraction(-31, 3), Fraction(-20)]
    for preset in PRESETS:
        for record in random_records(preset, 20, seed=6):
            counted = [seat.count for seat in table_view(record).seats if seat.count]
            assert sum(count.cards for count in counted) == record.rules.deck_size
            for count in counted:
                assert count.values - count.deduction + count.ultimo == count.points
                assert count.ultimo in ((0, 5) if preset == "ultimo" else (0,))
                assert count.threes * 3 + count.left == count.cards


@pytest.mark.parametrize(("ply", "viewer"), [(-1, None), (43, None), (0, 3), (0, -1)])
def test_no_such_position_or_seat(ply: int, viewer: int | None) -> None:
    with pytest.raises(ValueError, match=r"is (not in the record|no seat)"):
        table_view(read_record(SHORT), ply, viewer)


def test_the_facts_are_what_a_player_checks_first() -> None:
    assert facts(PRESETS["traditional"]) == "XX beats XXI; XX 5, XXI 1, Matto 4; 78 points, par 26"
    assert facts(PRESETS["four_player"]).endswith("81 points, par 20 1/4")
    assert "Matto 3" in facts(Rules(fool_value=3))


# --- text ---------------------------------------------------------------------------------------------------


def test_the_terminal_picture_is_as_it_was(request: pytest.FixtureRequest) -> None:
    record = read_record(SHORT)
    shown = ((0, 0, 80, False), (3, 1, 80, False), (14, 1, 80, True), (14, None, 60, False), (20, 0, 30, False),
             (42, 2, 80, False), (42, None, 40, False))  # fmt: skip
    pictures = []
    for ply, viewer, width, colour in shown:
        text = render_ansi(table_view(record, ply, viewer), colour, width)
        pictures.append(f"--- ply {ply}, viewer {viewer}, {width} columns\n{text}")
    path = GOLDEN / "terminal.ansi"
    if request.config.getoption("--regenerate-golden"):
        path.write_text("\n".join(pictures))
    assert "\n".join(pictures) == path.read_text()


@pytest.mark.parametrize("width", [32, 40, 60, 80, 120])
@pytest.mark.parametrize("preset", ["scarto", "four_player"])
def test_text_fits_the_terminal_and_needs_no_colour(preset: str, width: int) -> None:
    record = random_records(preset, 1)[0]
    for view in table_views(record):
        if view.ply % 9 and view.phase != "over":
            continue
        plain = render_ansi(view, False, width)
        longest = max(plain.splitlines(), key=len)
        assert len(longest) <= width or " " not in longest.strip(), longest
        assert "\x1b" not in plain
        assert re.sub(r"\x1b\[[0-9;]*m", "", render_ansi(view, True, width)) == plain


# --- SVG -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES)
def test_the_sheet_names_all_78_cards(theme: str) -> None:
    sheet = ET.fromstring(render_sheet(theme))
    titles = [title.text for title in sheet.iter(f"{SVG}title")]
    assert titles[0] == "The 78 cards of Scarto"
    language = "fr" if theme == "french" else "it"
    assert sorted(titles[1:]) == sorted(card_name(card, language) for card in range(NUM_CARDS))


@pytest.mark.parametrize("fonts", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_table_is_a_picture_that_needs_nothing_else(preset: str, fonts: bool) -> None:
    record = dataclasses.replace(
        random_records(preset, 1)[0], seats=("<&\"'>", "b" * 99, "č", "d")[: PRESETS[preset].players]
    )
    for ply in (0, 1, record.rules.talon_size, record.rules.talon_size + 5, 30, record.num_plies):
        for viewer in (None, 0, 1):
            text = render_svg(table_view(record, ply, viewer), "french", fonts)
            picture = ET.fromstring(text)
            used = {use.get("href") for use in picture.iter(f"{SVG}use")}
            assert used == {f"#{symbol.get('id')}" for symbol in picture.iter(f"{SVG}symbol")}
            assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
            assert (picture.find(f".//{SVG}text") is not None) == fonts


def test_a_picture_shows_a_seat_no_other_hand() -> None:
    record = random_records("scarto", 1)[0]
    for (_, batch), view in zip(follow(record), table_views(record, 2), strict=True):
        shown = {parse_card(code) for code in re.findall(r'id="card-([A-Z0-9]{2})"', render_svg(view))}
        assert shown <= known(batch, 2) | (set(record.discard) if view.phase == "over" else set())


def test_a_view_shows_itself_in_a_notebook() -> None:
    view = table_view(read_record(SHORT), 9)
    assert view._repr_svg_() == render_svg(view)


# --- the stroke font --------------------------------------------------------------------------------------------


def test_the_font_has_every_character_that_we_write() -> None:
    words = "".join(card_name(card, language) for card in range(NUM_CARDS) for language in ("it", "fr"))
    text = words + "0123456789+-/,.:;=()" + "".join(facts(rules) for rules in PRESETS.values())
    assert set(text) - {" "} <= set(GLYPHS)


def test_text_is_measured_and_cut() -> None:
    assert text_width("", 10) == 0 and text_width("II", 10) < text_width("MM", 10)
    assert shortened("Anna", 10, 1000) == "Anna"
    cut = shortened("A very long name indeed", 10, 60)
    assert cut.endswith("..") and text_width(cut, 10) <= 60
    assert text_path("é", 0, 0, 14) == text_path("e", 0, 0, 14)


# --- pixels -----------------------------------------------------------------------------------------------------


@pytest.fixture
def pixels() -> Any:
    pytest.importorskip("resvg_py", reason="needs the extra render")
    pytest.importorskip("PIL", reason="needs the extra render")
    from scarto_env.render import pixels

    return pixels


def test_pixels_are_those_of_the_table(pixels: Any) -> None:
    record = read_record(SHORT)
    image = pixels.render_rgb(table_view(record, 9))
    assert image.shape == (780, 1200, 3) and image.dtype == np.uint8 and image.flags.writeable
    other = pixels.render_rgb(table_view(dataclasses.replace(record, seats=("Zoe", "Bruno", "Carla")), 9))
    assert (image != other).any(), "text must not vanish without fonts"
    assert pixels.render_rgb(table_view(record, 9), width=300).shape == (195, 300, 3)


def test_suits_and_courts_are_told_apart_without_colour_at_96_pixels(pixels: Any) -> None:
    for theme in THEMES:
        sheet = pixels.svg_to_rgb(render_sheet(theme, 96)).mean(axis=2)
        scale = 96 / 180
        rows = []
        for row in range(4):
            top = round((10 + row * 190) * scale)
            rows.append([sheet[top : top + 96, round((10 + column * 110) * scale) :][:, :53] for column in range(14)])
        for column in range(4):  # K Q C J: the same court of two suits, and two courts of a suit
            for one, other in itertools.combinations(range(4), 2):
                assert (abs(rows[one][column] - rows[other][column]) > 40).sum() > 25
                assert (abs(rows[0][one] - rows[0][other]) > 40).sum() > 250


def test_render_modes(pixels: Any, capsys: pytest.CaptureFixture[str]) -> None:
    record = read_record(SHORT)
    assert "Anna" in render_mode("ansi", record)
    assert render_mode("rgb_array", record).ndim == 3
    assert render_mode("human", record) is None and "Anna" in capsys.readouterr().out
