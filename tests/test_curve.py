"""Learning curves: a panel for each number of players, and messages for damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("matplotlib", reason="needs the extra stats")

from helsinki_env.training.learning_curve import draw_curve
from helsinki_env.training.run import RunError


def found(players: int, opponent: str, share: float) -> dict[str, Any]:
    return {
        "players": players,
        "opponent": opponent,
        "games": 1200,
        "share": share,
        "low": max(0.0, share - 0.1),
        "high": min(1.0, share + 0.1),
    }


def test_the_curve_of_a_run_is_drawn_with_a_panel_for_each_player_count(tmp_path: Path) -> None:
    curve = [
        {
            "positions": 1000,
            "decisions": decisions,
            "results": [found(2, "greedy", 0.9), found(3, "greedy", share), found(3, "net", 0.0)],
        }
        for decisions, share in ((0, 0.4), (5000, 1.0))
    ]
    (tmp_path / "curve.json").write_text(json.dumps(curve))
    drawn = draw_curve(tmp_path)
    assert "<svg" in drawn
    for panel in ("2 players", "3 players", "against greedy, 1,200 games", "against net, 1,200 games"):
        assert f"<!-- {panel} -->" in drawn  # letters are drawn as lines, with the text as a comment
    assert drawn == draw_curve(tmp_path)


@pytest.mark.parametrize("content", [None, "[]"])
def test_a_run_that_was_never_measured_has_no_curve(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "curve.json").write_text(content)
    with pytest.raises(RunError, match="with evaluations"):
        draw_curve(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "found more than 40 nested lists"),
        ("{}", "found {}, expected a list of measurements"),
        ("[5]", r"\[0\]: found 5, expected a mapping"),
        ('[{"positions": 1, "decisions": 0, "results": []}]', r"\[0\]\.results: found \[\], expected a list"),
        ('[{"positions": 1, "decisions": NaN}]', "found NaN, expected a finite number"),
    ],
)
def test_a_damaged_curve_is_refused_by_name(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "curve.json").write_text(content)
    with pytest.raises(RunError, match=message) as caught:
        draw_curve(tmp_path)
    assert str(tmp_path / "curve.json") in str(caught.value)
