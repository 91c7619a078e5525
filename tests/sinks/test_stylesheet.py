"""The look of the HTML report: readable in both themes, and loading nothing."""

import re

import pytest

from skilleval.sinks.stylesheet import CSS

LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
PAIRS = [
    *(("text", "page"), ("text", "raised"), ("text", "code"), ("text", "unsure-page")),
    *(("soft", "page"), ("soft", "raised"), ("link", "page"), ("good", "good-page")),
    *(("bad", "bad-page"), ("unsure", "unsure-page")),
]
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in CSS.split("@media")[:2])


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("pair", PAIRS, ids="-on-".join)
def test_text_stands_out_from_its_ground(theme, pair):
    darker, lighter = sorted(luminance(theme[name]) for name in pair)
    assert (lighter + 0.05) / (darker + 0.05) >= LEAST_CONTRAST


def test_both_themes_define_the_same_colours():
    assert LIGHT.keys() == DARK.keys()
    assert set(re.findall(r"var\(--([\w-]+)\)", CSS)) <= LIGHT.keys()


def test_nothing_is_loaded():
    assert not re.search(r"url\(|@import|@font-face", CSS)
