"""Text into values, safely and with places: files, JSON, Markdown, replies. Knows no schema."""
