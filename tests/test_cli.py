"""The command line: results, exit codes, and one clear line for whatever is wrong."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from deals import SHORT
from test_replay import data_of

from scarto_env import PRESETS, cli
from scarto_env.bench import Speed
from scarto_env.bots import bot_names, make_bot
from scarto_env.cards import NUM_CARDS, card_code, parse_card
from scarto_env.commands import COMMANDS, scarto
from scarto_env.notation import load_records, position, read_record
from scarto_env.terminal import BotPlayer, Person, Quit, Sitting


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> SimpleNamespace:
        code = cli.main(arguments)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return run


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "deal.stn"
    path.write_text(SHORT)
    return str(path)


def typed(monkeypatch: pytest.MonkeyPatch, lines: Sequence[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


# --- the group --------------------------------------------------------------------------------------------


def test_help_lists_the_commands_with_examples(run: Any) -> None:
    shown = run("--help")
    assert shown.code == 0 and "Examples:" in shown.out
    assert all(name in shown.out for name in COMMANDS)
    assert run().out == shown.out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_as_the_list_does(name: str, run: Any) -> None:
    if name in ("train", "exploit"):
        pytest.importorskip("torch", reason="training needs torch")
    shown = run(name, "--help")
    assert shown.code == 0 and f"Usage: scarto {name}" in shown.out
    assert "Examples:" in shown.out or name in ("train", "exploit")
    command = scarto.get_command(scarto.make_context("scarto", ["rules"], resilient_parsing=True), name)
    assert command is not None and command.help


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plya"], "'plya' is no command; did you mean 'play'?"),
        (["--nothing"], "No such option"),
        (["rules", "tradizional"], "did you mean 'traditional'?"),
        (["rules", "scarto:overtrmp=no"], "option 'overtrmp=no' is unknown"),
        (["rules", "scarto:players=4,deck=piccolo"], "does not fit deck='piccolo'"),
        (["eval", "heurstic"], "did you mean 'heuristic'?"),
        (["eval", "greedy", "greedy"], "expected two or more different ones"),
        (["eval", "greedy", "--deals", "smoke-10"], "did you mean 'smoke-100'?"),
        (["watch", "gredy"], "did you mean 'greedy'?"),
        (["watch", "greedy", "random"], "2 bots for 3 seats: name one, or 3"),
        (["watch", "--seat", "3"], "--seat 3 is no seat of 3 players"),
        (["watch", "--save", "no-such-folder/deal.stn"], "No such file or directory"),
        (["play", "--deals", "0"], "0 is not in the range"),
        (["verify"], "Missing argument"),
        (["verify", "no-such-file.stn"], "does not exist"),
        (["replay", "no-such-file.stn"], "does not exist"),
        (["bench", "--seconds", "x"], "is not a valid float"),
        (["bench", "--seconds", "nan"], "nan is no time"),
        (["bench", "--seconds", "inf"], "inf is no time"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments: list[str], says: str, run: Any) -> None:
    shown = run(*arguments)
    assert shown.code == 2 and says in shown.err
    assert shown.err.count("\n") == 1 and shown.out == "" and shown.err.startswith("scarto")


def test_a_missing_library_is_named_with_the_extra_that_brings_it(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    shown = run("rules")
    assert shown.code == 2 and shown.err == "scarto: this needs click: python -m pip install 'scarto[cli]'\n"


def test_a_missing_module_of_our_own_is_no_missing_library(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scarto_env.commands", None)
    with pytest.raises(ModuleNotFoundError):
        run("rules")


def test_an_interrupt_is_one_line(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(scarto), "main", interrupted)
    shown = run("rules")
    assert shown.code == 130 and shown.err == "\nscarto: interrupted\n"


def test_importing_the_package_brings_no_command_line_library() -> None:
    code = "import sys, scarto_env; sys.exit(any(name in sys.modules for name in ('click', 'rich', 'torch', 'PIL')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_python_m_is_the_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "scarto_env", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Usage: scarto" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["rules"], ["bots"], ["eval", "greedy", "random", "--deals", "2"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scarto_env", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2 and done.stderr.splitlines()[-1] == "scarto: output: No space left on device"
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "scarto_env", "rules"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.stderr == "" and done.returncode == 141


# --- rules, bots, bench ---------------------------------------------------------------------------------------


def test_rules_are_those_of_the_preset(run: Any) -> None:
    assert "XXI" in run("rules").out and "81 points in all; the par is 27" in run("rules").out
    traditional = run("rules", "traditional").out
    assert "XX beats XXI" in traditional and "78 points in all; the par is 26" in traditional
    assert "The Fool may be laid away" in run("rules", "free_fool").out
    assert "20 1/4" in run("rules", "four_player").out
    assert "won" not in run("rules").out.split("A20")[0] and "A20" in run("rules", "ultimo").out


def test_rules_name_every_changed_option(run: Any) -> None:
    changed = run("rules", "scarto:overtrump=no,honours=1 20,settlement=lowest_pays").out
    assert changed.startswith("Rules: scarto, but honours=1 20; overtrump=no; settlement=lowest_pays\n")
    assert "beats the best trump" not in changed and "The lowest alone pay" in changed


def test_rules_in_a_table_and_as_json(run: Any) -> None:
    assert all(name in run("rules", "--all").out for name in PRESETS)
    fields = json.loads(run("rules", "piccolo", "--json").out)
    assert fields["deck"] == "piccolo" and fields["talon_size"] == 6 and fields["par"] == "23"
    assert set(json.loads(run("rules", "--all", "--json").out)) == set(PRESETS)


def test_bots_are_listed_with_what_they_do(run: Any) -> None:
    listed = json.loads(run("bots", "--json").out)
    assert list(listed) == bot_names() and all(listed.values())
    assert all(name in run("bots").out for name in listed)


def test_bench_prints_medians(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = [Speed("a task", "cards", [3000.0, 1000.0, 2000.0])]
    monkeypatch.setattr("scarto_env.commands.bench.measure", lambda *_: iter(speeds))
    assert run("bench").out.split() == "a task 2,000 cards a second (1,000 to 3,000)".split()
    (result,) = json.loads(run("bench", "--json").out)["results"]
    assert result["median"] == 2000 and result["name"] == "a task"


# --- eval -----------------------------------------------------------------------------------------------------


def test_eval_measures_on_duplicate_deals(run: Any, tmp_path: Path) -> None:
    records, page = tmp_path / "sample.stn", tmp_path / "arena.html"
    shown = run("eval", "greedy", "random", "--deals", "40", "--json", "--records", str(records), "--html", str(page))
    result = json.loads(shown.out)
    assert shown.code == 0 and result["deals"]["number"] == 40 and result["pairs"][0]["points"]["mean"] > 2
    assert shown.err == "greedy and random: 40 deals, both ways\n"
    assert load_records(records)[0].seats == ("greedy", "random", "greedy")
    assert page.read_text().lower().startswith("<!doctype html>")


def test_eval_in_words(run: Any) -> None:
    assert "All pairs" in run("eval", "greedy", "-a", "random", "--deals", "4").out
    assert run("eval", "greedy", "random", "--deals", "4", "--markdown").out.startswith("# Arena")


def test_eval_says_by_its_exit_code_that_a_bar_was_missed(run: Any) -> None:
    shown = run("eval", "greedy", "random", "--deals", "40", "--at-least", "30")
    assert shown.code == 1 and "missed: greedy's interval is not all above 30\n" in shown.err
    assert run("eval", "greedy", "random", "--deals", "40", "--at-least", "0").code == 0


# --- verify and replay -------------------------------------------------------------------------------------------


def test_verify_confirms(record: str, run: Any) -> None:
    assert run("verify", record, record).out == f"{record}: 1 deal agrees with the rules\n"
    assert json.loads(run("verify", record, "--json").out) == {record: 1}


def test_verify_names_the_line_and_the_rule(record: str, run: Any) -> None:
    Path(record).write_text(SHORT.replace("\n1. 1: SC SJ 06 =0", "\n1. 1: SC SJ CK =0"))
    shown = run("verify", record)
    assert shown.code == 2 and shown.out == "" and shown.err.count("\n") == 1
    assert f"{record}: line 14: trick 1: seat 0 may not play CK: a trump must be played (A13)" in shown.err


def test_verify_deals_the_seed_anew(record: str, run: Any) -> None:
    Path(record).write_text(SHORT.replace('[Seed "12"]', '[Seed "13"]'))
    assert f"{record}: deal 1: seed 13 deals other cards (A6)" in run("verify", record).err
    Path(record).write_text(SHORT.replace('[Seed "12"]', '[Seed "?"]'))
    assert run("verify", record).code == 0


def test_verify_deals_every_deal_of_a_match_anew(run: Any, tmp_path: Path) -> None:
    match = tmp_path / "match.stn"
    assert run("watch", "greedy", "--rules", "piccolo", "--seed", "5", "--deals", "3", "--save", str(match)).code == 0
    assert run("verify", str(match)).out == f"{match}: 3 deals agree with the rules\n"
    match.write_text(match.read_text().replace('[Number "2"]', '[Number "1"]'))
    assert "deal 3: seed 5 deals other cards as deal 1 of a match" in run("verify", str(match)).err


def test_replay_tells_the_deal(record: str, run: Any) -> None:
    told = run("replay", record).out
    assert "Anna: CK | DK DQ DC | 21 19 16 08 06 03 | MT" not in told  # the dealer's hand is that after the exchange
    assert " 3: Bruno 15  Carla 11  Anna MT  taken by Bruno" not in told and "Bruno [15]" in told
    assert "Count by threes" in told and "score +30 1/3" in told
    assert told.count("taken by") == 12


def test_replay_shows_what_a_seat_saw(record: str, run: Any) -> None:
    seen = run("replay", record, "--ply", "12", "--viewer", "1").out
    assert "Your hand" in seen and "Hand of" not in seen and "Talon" not in seen and "Discard" not in seen
    assert "Your hand, legal cards in brackets" in run("replay", record, "--ply", "6", "--viewer", "1").out
    assert run("replay", record, "--ply", "99").code == 2 and run("replay", record, "--viewer", "3").code == 2
    assert run("replay", record, "--deal", "2").err.endswith("has 1 deals: there is no deal 2\n")


def test_replay_as_json_and_as_a_page(record: str, run: Any, tmp_path: Path) -> None:
    assert json.loads(run("replay", record, "--json").out)["dealer"] == 0
    page = tmp_path / "page.html"
    assert run("replay", record, "--html", "-o", str(page), "--bot", "greedy").out == f"{page}\n"
    assert page.read_text().startswith("<!doctype html>")
    assert run("replay", record, "--html").out == f"{Path(record).with_suffix('.html')}\n"
    shown = run("replay", record, "--html", "-o", str(tmp_path / "none" / "page.html"))
    assert shown.code == 2 and "there is no folder" in shown.err
    before = Path(record).read_bytes()
    for refused in (["--html", "-o", record], ["-o", "page.html"], ["--bot", "greedy"]):
        assert run("replay", record, *refused).code == 2
    assert Path(record).read_bytes() == before


def test_measuring_begins_only_when_its_files_can_be_written(run: Any, tmp_path: Path) -> None:
    missing, twice = str(tmp_path / "none" / "page.html"), str(tmp_path / "page.html")
    for wrong in (["--html", missing], ["--records", missing], ["--html", twice, "--records", twice]):
        shown = run("eval", "greedy", "random", "--deals", "100000", *wrong)
        assert shown.code == 2 and shown.err.count("\n") == 1
    for wrong in (["eval", "--at-least", "nan"], ["play", "--delay", "inf"]):
        assert "expected a number" in run(*wrong).err


class Adviser:
    """Plays the first legal card, likes all alike and expects a card's number from it."""

    def act(self, observation: Any, action_mask: Any) -> Any:
        return action_mask.argmax(axis=1)

    def log_policy(self, observation: Any, action_mask: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(action_mask / action_mask.sum(axis=1, keepdims=True))

    def values(self, observation: Any, action_mask: Any) -> Any:
        return np.arange(NUM_CARDS)[None].repeat(len(action_mask), axis=0)


def test_a_page_shows_what_a_bot_says_of_each_card(
    record: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scarto_env.commands.replay.made_bots", lambda names, rules: [Adviser()])
    page = tmp_path / "page.html"
    assert run("replay", record, "--html", "-o", str(page), "--bot", "adviser").code == 0
    plies = data_of(page.read_text())["plies"]
    cards = plies[6]["advice"]["cards"]  # forehand leads: twelve cards, all legal
    assert len(cards) == 12 and {round(card["probability"], 9) for card in cards} == {round(1 / 12, 9)}
    assert all(card["value"] == parse_card(card["code"]) for card in cards)
    assert [card["code"] for card in cards if card["choice"]] == ["C1"]
    assert [card["code"] for card in cards if card["played"]] == ["SC"]


# --- play and watch ---------------------------------------------------------------------------------------------


def test_watch_tells_a_match_and_keeps_it(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "match.stn"
    shown = run("watch", "greedy", "--rules", "piccolo", "--deals", "3", "--seed", "1", "--save", str(path))
    assert shown.code == 0 and shown.out.count("taken by") == 36
    assert shown.out.count("Count by threes") == 3 and "Totals after 3" in shown.out and "\x1b" not in shown.out
    records = load_records(path)
    assert [record.number for record in records] == [0, 1, 2]
    assert records[1].deal.dealer == (records[0].deal.dealer + 1) % 3
    assert records[0].seats == ("greedy 1", "greedy 2", "greedy 3")


def test_watch_from_a_seat_shows_that_seat_alone(run: Any) -> None:
    shown = run("watch", "greedy", "random", "greedy", "--rules", "piccolo", "--seed", "1", "--seat", "1")
    assert "Your hand" in shown.out and "Hand of" not in shown.out


def test_a_person_plays_a_deal_to_its_count(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "deal.stn"
    # Every card of the deck is offered until one is taken: the refused ones are explained.
    offers = [card_code(card) for card in range(NUM_CARDS)] * 30
    typed(monkeypatch, offers)
    shown = run("play", "greedy", "--rules", "piccolo", "--seed", "3", "--save", str(path))
    assert shown.code == 0 and "Count by threes" in shown.out and "You leave" not in shown.out
    assert "is not allowed: the seat does not hold it (A11)" in shown.out
    (played,) = load_records(path)
    assert played.seats == ("you", "greedy 1", "greedy 2") and played.result is not None


def test_the_prompt_answers_questions(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "deal.stn"
    # Another bot than the strongest, whose kernels take long to compile, gives the hint.
    monkeypatch.setattr("scarto_env.commands.play._ADVISER", "greedy")
    typed(monkeypatch, ["?", "h", "l", "t", "p", "r", "", "nonsense", "q"])
    shown = run("play", "greedy", "--seed", "5", "--save", str(path))
    assert shown.code == 0
    for words in ("play it, or lay it away", "greedy would play ", "No trick has been played yet.", "0 tricks", "A13",
                  "'nonsense' is no card code", "You leave the table", "--seed 5"):  # fmt: skip
        assert words in shown.out, words
    (left,) = load_records(path)
    assert left.result is None and position(left).games[0].trick == 0


@pytest.mark.parametrize(
    ("cards", "answers"),
    [
        (["CK"], "CK is not allowed: a king is never laid away (A9)."),
        (["21"], "21 is not allowed: trump 21 is never laid away (A9)."),
        (["SC"], "SC is not allowed: the seat does not hold it (A8)."),
        (["CC", "CC"], "CC is not allowed: it has been laid away (A10)."),
    ],
)
def test_a_refusal_names_the_article(cards: list[str], answers: str) -> None:
    lines = iter(cards)

    def read(_: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    out = io.StringIO()
    greedy = BotPlayer(make_bot("greedy", rules="piccolo"))
    players = [Person(read, lambda: ("greedy", greedy.bot)), greedy, greedy]
    sitting = Sitting(PRESETS["piccolo"], players, ("you", "B", "C"), seed=0, deals=1, viewer=0, out=out)
    sitting.batch.set_deal(0, read_record(SHORT).deal)
    with pytest.raises(Quit):
        sitting.play()
    assert answers in out.getvalue().splitlines()


def test_the_end_of_the_input_leaves_the_table(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, [])
    shown = run("play", "greedy", "--seed", "5")
    assert shown.code == 0 and "You leave the table" in shown.out
    monkeypatch.setattr(sys, "stdin", None)
    assert "You leave the table" in run("play", "greedy", "--seed", "5").out
    typed(monkeypatch, [""])
    assert "You leave the table" in run("watch", "greedy", "--seed", "5", "--step").out
