"""skilleval: does an agent skill work, and how sure are we?

The library in four functions: `load` a fixture file into a `Suite`, `validate` it, `run` it, or
`grade` an outcome that exists. Everything else is reached through the nouns of `skilleval.model`.
They are loaded when first used: `import skilleval` itself costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skilleval.api import grade, load, run, validate

__version__ = "0.1.0"
__all__ = ["grade", "load", "run", "validate"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from skilleval import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
