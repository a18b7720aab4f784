"""The page of a deal: what is in it, and that it works from disk in a browser under its own policy."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import Browser, executable
from deals import SHORT, random_records
from test_render import known

from scarto_env.cards import parse_card
from scarto_env.notation import Record, follow, read_record
from scarto_env.render import Advice, render_page


def data_of(page: str) -> dict[str, Any]:
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    data: dict[str, Any] = json.loads(text[1])
    return data


def advised(record: Record) -> list[Advice | None]:
    """Equal probabilities, and the card's number as its value."""
    advice: list[Advice | None] = []
    for _, batch in follow(record):
        legal = [int(card) for card in np.flatnonzero(batch.action_mask[0])]
        share = {card: 1 / len(legal) for card in legal}
        advice.append(Advice(legal[0], share, {card: float(card) for card in legal}) if legal else None)
    return advice


def test_the_policy_allows_the_pages_own_style_and_script_alone() -> None:
    page = render_page(read_record(SHORT))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]
    for element in ("style", "script"):
        content = re.search(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy[1]
    assert not re.search(r"(src|href)=\"(?!#)", page) and "style=" not in page and "onclick" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_has_every_ply_trick_and_the_count() -> None:
    page = render_page(read_record(SHORT))
    plies = data_of(page)["plies"]
    assert len(plies) == 43 and plies[0]["label"] == "Anna lays away" and plies[-1]["label"] == "over"
    assert plies[6]["exchange"] == "Talon CC DJ 19 12 04 02. Discard CC BQ 18 12 04 02."
    assert page.count("<tr data-from") == 12 and "+30 1/3" in page and "par 23" in page


@pytest.mark.parametrize("preset", ["scarto", "four_player", "piccolo"])
def test_the_page_of_a_viewer_holds_nothing_hidden(preset: str) -> None:
    record = random_records(preset, 1, seed=2)[0]
    advice = advised(record)
    for viewer in range(record.rules.players):
        plies = data_of(render_page(record, viewer, advice=advice, adviser="bot"))["plies"]
        for (ply, batch), shown in zip(follow(record), plies, strict=True):
            may_see = known(batch, viewer) | (set(record.discard) if ply == record.num_plies else set())
            codes = re.findall(r"#card-([A-Z0-9]{2})\b", shown["table"])
            codes += re.findall(r"\b([CDBS][KQCJT1-9]|[0-2]\d|MT)\b", shown["exchange"])
            if shown["advice"]:
                codes += [card["code"] for card in shown["advice"]["cards"]]
            assert {parse_card(code) for code in codes} <= may_see, (viewer, ply)


def test_advice_names_the_choice_and_the_card_played() -> None:
    record = read_record(SHORT)
    page = render_page(record, advice=advised(record), adviser="<bot>")
    assert "&lt;bot&gt;" in page and "probability" in page and "points expected" in page
    first = data_of(page)["plies"][0]["advice"]["cards"]
    assert [card["code"] for card in first if card["played"]] == ["CC"]
    assert sum(card["choice"] for card in first) == 1
    assert abs(sum(card["probability"] for card in first) - 1) < 1e-9
    assert data_of(page)["plies"][-1]["advice"] is None


def test_names_cannot_end_the_script() -> None:
    names = ("</script><script>alert(1)</script>", "<b>", '"&')
    page = render_page(dataclasses.replace(read_record(SHORT), seats=names))
    assert page.count("</script>") == 2 and "<b>" not in page.replace("<b>+", "").replace("<b>-", "")


def test_a_deal_that_breaks_off_says_so() -> None:
    record = dataclasses.replace(read_record(SHORT), plays=read_record(SHORT).plays[:7], result=None)
    page = render_page(record)
    assert "The deal breaks off here" in page and len(data_of(page)["plies"]) == 14


# --- in a browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if executable() is None:
        pytest.skip("no Chromium or Chrome is installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    record = read_record(SHORT)
    path = tmp_path_factory.mktemp("page") / "deal.html"
    path.write_text(render_page(record, advice=advised(record), adviser="bot"), encoding="utf-8")
    browser.open(path.as_uri())
    return browser


LABEL = "document.getElementById('label').textContent"


def test_the_page_steps_by_keys(opened: Browser) -> None:
    assert opened.value(LABEL) == "0 of 42: Anna lays away"
    opened.press("ArrowRight")
    assert opened.value(LABEL).startswith("1 of 42")
    opened.press("ArrowDown")
    assert opened.value(LABEL) == "9 of 42: Anna plays to trick 2"
    opened.press("ArrowDown")
    opened.press("ArrowUp")
    opened.press("ArrowLeft")
    assert opened.value(LABEL).startswith("8 of 42")
    assert opened.value("document.getElementById('count').hidden") is True
    opened.press("End")
    assert opened.value(LABEL) == "42 of 42: over"
    assert opened.value("document.getElementById('count').hidden") is False
    opened.press("Home")
    assert opened.value(LABEL).startswith("0 of 42")


def test_the_page_steps_by_slider_buttons_and_the_trick_list(opened: Browser) -> None:
    opened.value("slider.value = 20; slider.dispatchEvent(new Event('input'))")
    assert opened.value(LABEL).startswith("20 of 42")
    opened.value("document.getElementById('back').click()")
    assert opened.value(LABEL).startswith("19 of 42")
    opened.value("document.querySelectorAll('#tricks tbody button')[2].click()")
    assert opened.value(LABEL).startswith("15 of 42")
    assert opened.value("document.querySelector('#tricks tr.now button').textContent") == "3"
    assert opened.value("location.hash") == "#15"


def test_the_page_draws_the_table_and_the_advice(opened: Browser) -> None:
    assert opened.value("document.querySelectorAll('#table use').length") >= 42
    drawn = "[...document.querySelectorAll('#table use')].every((use) => use.getBoundingClientRect().width > 10)"
    assert opened.value(drawn) is True
    assert opened.value("document.querySelectorAll('#advice meter').length") > 5
    assert opened.value("document.querySelectorAll('#advice tr.played').length") == 1


def test_the_page_asks_for_nothing_and_breaks_no_policy(opened: Browser) -> None:
    opened.value("for (let next = 0; next < 43; next += 1) show(next)")
    assert opened.value(LABEL) == "42 of 42: over"
    assert opened.complaints() == []
    assert [address for address in opened.requests() if not address.startswith("file:")] == []
    assert len(opened.requests()) == 1


def test_the_policy_is_in_force(opened: Browser) -> None:
    opened.value("document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">x</p>')")
    assert any("Content Security Policy" in complaint for complaint in opened.complaints())
