"""The trial of an agent program: its place, git, attempts, what it told. `harness` runs one."""
