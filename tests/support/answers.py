"""What a command answers."""


def one_line(done, *words):
    """A mistake is one line on stderr, exit code 2, and nothing is left behind."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("rfbench: error: ")
    for word in words:
        assert word in lines[0]
