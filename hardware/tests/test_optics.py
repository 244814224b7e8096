"""What a receiver makes of light that a token takes away bit by bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hardware.parameters import SENSORS, TEMPLE, Sensor
from hardware.physics.optics import (
    BLACK,
    EASY,
    GREY,
    PALE,
    WORST,
    Receiver,
    Shade,
    current,
    light,
    overdrive,
    rays,
    scattered,
    spells,
)  # fmt: skip

LENS = rays(5, 2)
STEP_MS = 0.5
ACROSS = 21.0


def bead(radius: float, speed: float, off: float = 0.0) -> list[Shade]:
    """Return the rays that a ball stops which passes the beam's middle, `off` beside it, in mm and mm a ms."""
    starts, ends = LENS.points[:, None, :], LENS.points[None, :, :]
    middle = ((starts + ends) / 2).reshape(-1, 2)
    slope = ((ends - starts) / ACROSS).reshape(-1, 2)
    shade = []
    for step in range(200):
        away = middle - np.array([(step - 100) * STEP_MS * speed, off])
        # The distance of a line from the ball's middle, which the line passes nearest at `t` across the gutter.
        t = -(away * slope).sum(1) / (1 + (slope**2).sum(1))
        stopped = ((away + slope * t[:, None]) ** 2).sum(1) + t**2 < radius**2
        if stopped.any():
            shade.append((step, np.packbits(stopped).tobytes()))
    return shade


def width(receiver: Receiver, shade: list[Shade]) -> float:
    found = list(spells(LENS, receiver, shade, STEP_MS))
    assert len(found) <= 1
    return found[0].width_ms if found else 0.0


EIGHT = bead(4, 0.85, 1.5)
"""A bead of 8 mm that rolls below the beam, as fast as one on the gutter."""


def test_an_over_driven_lens_sees_a_bead_for_less_than_half_the_time_that_a_ray_does() -> None:
    ray = width(EASY, EIGHT)
    bare = width(replace(WORST, aperture=False, response_ms=0), EIGHT)
    assert 7 <= ray <= 10
    assert 0 < bare < ray / 2


def test_an_aperture_gives_most_of_the_time_back() -> None:
    assert width(replace(WORST, response_ms=0), EIGHT) >= 1.5 * width(
        replace(WORST, aperture=False, response_ms=0), EIGHT
    )


@pytest.mark.parametrize("aperture", [True, False])
def test_the_more_light_must_be_gone_the_shorter_the_dark(aperture: bool) -> None:
    widths = [width(Receiver(share, aperture, response_ms=0), EIGHT) for share in (0.5, 0.9, 0.98)]
    assert all(one > other for one, other in pairwise(widths))


def test_pale_plastic_shortens_the_dark_and_without_an_aperture_ends_it() -> None:
    widths = [width(Receiver(plastic=plastic, response_ms=0), EIGHT) for plastic in (BLACK, GREY, PALE)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1] > 0
    assert width(Receiver(aperture=False, plastic=PALE, response_ms=0), EIGHT) == 0


def test_a_slow_receiver_is_dark_for_as_much_less_and_does_not_see_what_is_shorter() -> None:
    quick, slow = (width(Receiver(response_ms=ms), EIGHT) for ms in (0.0, 2.0))
    assert quick - slow == pytest.approx(2.0)
    assert width(Receiver(response_ms=quick), EIGHT) == 0


def test_a_clear_beam_has_all_its_light_and_a_covered_one_what_the_walls_throw_back() -> None:
    open_, shut = light(LENS, WORST, np.array([[False] * LENS.count, [True] * LENS.count]))
    assert open_ == pytest.approx(1)
    assert shut == pytest.approx(scattered(LENS, WORST) / (1 + scattered(LENS, WORST)))


def test_nothing_in_the_light_makes_no_spell() -> None:
    assert list(spells(LENS, WORST, [], STEP_MS)) == []


@pytest.mark.parametrize("sensor", SENSORS.values(), ids=SENSORS)
def test_the_points_of_a_lens_share_its_area_and_those_in_the_aperture_the_apertures(sensor: Sensor) -> None:
    bundle = rays(sensor.lens, TEMPLE.aperture)
    assert bundle.areas.sum() == pytest.approx(1)
    assert bundle.areas[bundle.inside].sum() == pytest.approx((TEMPLE.aperture / sensor.lens) ** 2)
    assert np.hypot(*bundle.points.T).max() < sensor.lens / 2


def test_an_aperture_takes_most_of_the_drive_and_a_resistor_is_for_a_bare_lens() -> None:
    """Behind the aperture a pair for 250 mm has light to spare, and with 220 ohms more hardly any."""
    assert overdrive(250, ACROSS, 5, None) > 100
    assert overdrive(250, ACROSS, 5, TEMPLE.aperture) > 3
    assert overdrive(250, ACROSS, 5, TEMPLE.aperture, current(220)) < 2
    assert overdrive(500, ACROSS, 5, TEMPLE.aperture, current(220)) > 5
