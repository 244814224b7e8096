"""What ships as the model's scenarios is what the model says."""

from __future__ import annotations

from hardware.parameters import fitting
from hardware.physics.controls import FOLDER, scenarios
from hardware.rules import require


def test_the_first_hands_that_ship_are_those_of_the_model_and_of_todays_counter() -> None:
    name, text = next(scenarios(require(fitting(None))))
    assert (FOLDER / f"{name}.toml").read_text("utf-8") == text
