"""Small pictures: rates and effects with their intervals."""

import re
from xml.etree import ElementTree

import pytest

from skilleval.sinks import svg
from skilleval.stats.estimators import Interval


def picture(text):
    return ElementTree.fromstring(text)


def test_a_bar_is_as_long_as_the_rate():
    root = picture(svg.rate_bar(0.25, Interval(0.1, 0.6), "25%"))
    bar = next(each for each in root if each.get("class") == "bar")
    assert float(bar.get("width")) == svg.WIDTH / 4
    path = next(each for each in root if each.get("class") == "whisker").get("d")
    assert [float(x) for x in re.findall(r"M([\d.]+)|H([\d.]+)", path)[0] if x] == [22.0]
    assert f"H{0.6 * svg.WIDTH:.1f}" in path


def test_an_unknown_rate_has_no_bar():
    classes = [each.get("class") for each in picture(svg.rate_bar(None, None, "unknown"))]
    assert classes == [None, "track"]


@pytest.mark.parametrize(("effect", "name"), [(0.5, "better"), (-0.5, "worse"), (0.0, "even")])
def test_an_effect_says_its_direction(effect, name):
    root = picture(svg.effect_bar(effect, Interval(-1, 1), "x"))
    dot = next(each for each in root if each.tag == "circle")
    assert (dot.get("class"), float(dot.get("cx"))) == (name, (effect + 1) / 2 * svg.WIDTH)


def test_every_picture_says_in_words_what_it_shows():
    root = picture(svg.effect_bar(None, None, "<codex> & co"))
    assert (root.get("role"), root.find("title").text) == ("img", "<codex> & co")
