"""Small pictures for the HTML report: a rate with its interval, an effect with its interval.

Inline SVG with classes only: colours are the stylesheet's. Every picture has a title that says in
words what it shows.
"""

from __future__ import annotations

from html import escape

from skilleval.stats.estimators import Interval

# in pixels; AXIS is the room for words below
WIDTH, HEIGHT, AXIS = 220, 22, 14
_MIDDLE = HEIGHT / 2
_CAP = 5


def rate_bar(mean: float | None, interval: Interval | None, title: str) -> str:
    """A bar from 0 to the mean on a track from 0 to 1, and its interval as a line with two caps."""
    parts = [f'<rect class="track" x="0" y="5" width="{WIDTH}" height="12" rx="2"/>']
    if mean is not None:
        parts.append(f'<rect class="bar" x="0" y="5" width="{_place(mean)}" height="12" rx="2"/>')
    if interval:
        parts.append(_whisker(_place(interval.low), _place(interval.high)))
    return _picture(parts, title)


def effect_bar(effect: float | None, interval: Interval | None, title: str) -> str:
    """A dot between -1 and 1 with its interval, and a line at 0, where nothing is changed."""
    zero = _place(0.5)
    labels = (("start", "0", "−100%"), ("middle", zero, "no change"), ("end", f"{WIDTH}", "+100%"))
    parts = [
        f'<rect class="track" x="0" y="5" width="{WIDTH}" height="12" rx="2"/>',
        f'<line class="zero" x1="{zero}" x2="{zero}" y1="1" y2="{HEIGHT - 1}"/>',
    ]
    if interval:
        parts.append(_whisker(_place((interval.low + 1) / 2), _place((interval.high + 1) / 2)))
    if effect is not None:
        side = "better" if effect > 0 else "worse" if effect < 0 else "even"
        parts.append(
            f'<circle class="{side}" cx="{_place((effect + 1) / 2)}" cy="{_MIDDLE:g}" r="5"/>'
        )
    parts += [
        f'<text x="{x}" y="{HEIGHT + AXIS - 3}" text-anchor="{anchor}">{word}</text>'
        for anchor, x, word in labels
    ]
    return _picture(parts, title, HEIGHT + AXIS)


def _place(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * WIDTH:.1f}"


def _whisker(low: str, high: str) -> str:
    top, bottom = _MIDDLE - _CAP, _MIDDLE + _CAP
    path = f"M{low} {_MIDDLE:g}H{high}M{low} {top:g}V{bottom:g}M{high} {top:g}V{bottom:g}"
    return f'<path class="whisker" d="{path}"/>'


def _picture(parts: list[str], title: str, height: int = HEIGHT) -> str:
    return (
        f'<svg role="img" viewBox="-1 0 {WIDTH + 2} {height}" width="{WIDTH}" height="{height}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
