"""The distribution that docs/plugins.md describes."""

import re
import tomllib

from support import ROOT

FILE = re.compile(r"^\*\*(\S+)\*\*\n\n```(?:toml|python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page():
    return (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")


def write_example(folder):
    """Write its files to a folder; the content of its pyproject.toml."""
    files = dict(FILE.findall(page()))
    for name, text in {**files, "rfbench_example/conf/__init__.py": ""}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tomllib.loads(files["pyproject.toml"])


def example_commands():
    (block,) = re.findall(r"^```text\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    return block.splitlines()
