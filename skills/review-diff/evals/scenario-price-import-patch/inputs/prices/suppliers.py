"""The suppliers. Names are folder names, so they are plain lower-case words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Supplier:
    name: str
    currency: str
    feed_url: str


SUPPLIERS = (
    Supplier("nordlicht", "EUR", "https://feeds.nordlicht.example/prices.csv"),
    Supplier("havana", "USD", "https://export.havana.example/v2/list.csv"),
    Supplier("kite", "GBP", "https://kite.example/feeds/prices.csv"),
)
