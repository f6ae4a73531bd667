"""The snippets of a page of documentation, and how they run.

    python tests/project/snippets.py README.md

needs nothing but what the page itself installs.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path


def snippets(text, *languages):
    """RETURNS the languages and the texts of fenced blocks."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
    return [(language, code) for language, code in found if language in languages]


def run_page(path):
    """Run all snippets of a page, which print what their comments say."""
    namespace = {}
    for language, code in snippets(path.read_text(encoding="utf8"), "python", "bash"):
        if language == "bash":
            run_bash(code)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        promised = [
            comment.strip()
            for comment in re.findall(r"^ *print\(.*?\) {2,}# (.*)$", code, re.M)
        ]
        lines = printed.getvalue().splitlines()
        assert [line for line in lines if line in promised] == promised, lines


def run_bash(code):
    """Run commands with this Python, and stop at the first that fails."""
    folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-e", "-c", code], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
