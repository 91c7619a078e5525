"""Lint: pure rules over the text of fixtures and skills. Reads no file and prints nothing.

`needles.problems` judges a tasks.json with its examples, `scenario.problems` a scenario folder,
`suite.problems` the design of an evals.json, and `skill_md.problems` a SKILL.md. `rules.RULES` says
what each rule is about.
"""
