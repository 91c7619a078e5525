#!/usr/bin/env python3
"""Builds skilleval.pyz: the whole package in one executable file."""

import argparse
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# its own: the one that `python -m zipapp --main` writes drops the exit code
MAIN = "import sys\n\nfrom skilleval.cli import main\n\nsys.exit(main())\n"


def build(output: Path) -> None:
    """Writes the archive. The same sources give the same bytes, on every machine."""
    with output.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:  # stored: compressors differ in their bytes
            add(archive, "__main__.py", MAIN.encode())
            for path in sorted((ROOT / "skilleval").rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    add(archive, path.relative_to(ROOT).as_posix(), path.read_bytes())
    output.chmod(0o755)


def add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Adds a file with a fixed date, owner and mode."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="the file to write, such as skilleval.pyz")
    build(parser.parse_args().output)
