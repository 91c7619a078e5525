"""Ways to ask a model, and to ask again: HTTP endpoints, kiro-cli. Owns no meaning of a reply."""
