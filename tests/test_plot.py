"""rfbench plot: the figure of finished results, drawn again."""

import matplotlib.image
import pytest
from support.answers import one_line

WORDS = ("sketch=rff", "dataset=wine", "features=[16,32,64,128]", "seeds=2")


@pytest.fixture
def run(rfbench, tmp_path):
    assert rfbench(*WORDS).returncode == 0
    (path,) = tmp_path.glob("outputs/wine-rff-kernel_error/*/results.csv")
    return path.parent


@pytest.mark.medium
def test_a_figure_is_drawn_again(rfbench, tmp_path, run):
    before = (run / "figure.png").read_bytes()
    (run / "figure.png").unlink()
    done = rfbench("plot", str(run))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(run / f"figure.{kind}") for kind in ("png", "svg", "pdf")]
    assert (run / "figure.png").read_bytes() == before, "the same numbers are the same file"

    done = rfbench(
        "plot",
        str(run.parent),
        "--y",
        "max_abs_error",
        "--x",
        "transform_seconds",
        "--title",
        "Wine & rows",
        "--size",
        "3.3x2.5",
        "--font",
        "serif",
        "9",
        "--format",
        "svg",
        "png",
        "--output",
        "front",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["front.svg", "front.png"]
    assert matplotlib.image.imread(tmp_path / "front.png").shape[:2] == (500, 660)
    text = (tmp_path / "front.svg").read_text()
    for word in (">Wine &amp; rows</title>", ">seconds to compute features<", ">absolute error<", "9px", "serif"):
        assert word in text, word
    (tmp_path / "mine.mplstyle").write_text("axes.facecolor: 123456\n")
    rfbench("plot", str(run), "--style", "mine.mplstyle", "--output", "styled.svg")
    assert "#123456" in (tmp_path / "styled.svg").read_text()


@pytest.mark.medium
def test_mistakes_are_one_line(rfbench, run):
    for words, answer in (
        (["--y", "max_abs_eror"], "did you mean 'max_abs_error'? choose from max_abs_error, rel_frobenius"),
        (["--x", "featurs"], "did you mean 'features'?"),
        (["--size", "3"], "wanted WIDTHxHEIGHT in inches"),
        (["--size", "300x200"], "at most 100 inches are drawn; '300x200' was given"),
        (["--font", "Nonesuch"], "no font 'Nonesuch'"),
        (["--style", "nonesuch"], "no style nonesuch"),
        (["--output", "figure.jpg"], "--output must end in .png, .svg, .pdf"),
    ):
        one_line(rfbench("plot", str(run), *words), answer)
    one_line(rfbench("plot", "nowhere"), "no directory nowhere")
    one_line(rfbench("plot", str(run), "--formt", "png"), "see rfbench plot --help")


def test_an_unknown_metric_is_refused_before_the_run(rfbench, tmp_path):
    done = rfbench(*WORDS, "plot=[eror:features]")
    one_line(done, "no metric 'eror' for plot=[eror:features]; did you mean 'error'? choose from accuracy, ", "watts")
    one_line(rfbench(*WORDS, "plot=[error:bites]"), "did you mean 'bytes'?")
    for one in ("error:features", "[error]", "3"):
        one_line(rfbench(*WORDS, f"plot={one}"), "plot must be a list of pairs such as [error:features]; ")
    assert not list(tmp_path.glob("outputs/*/*"))


def test_a_metric_of_another_task_costs_the_figure_and_not_the_table(rfbench):
    done = rfbench(*WORDS, "plot=[error:features]")
    assert done.returncode == 2
    assert "rel_frobenius" in done.stdout
    assert "no 'error' to draw in error:features; choose from max_abs_error" in done.stderr


@pytest.mark.medium
def test_runs_that_name_other_figures_are_drawn_together(rfbench, tmp_path, run):
    assert rfbench("sketch=orf", *WORDS[1:], "plot=[max_abs_error:features]").returncode == 0
    assert rfbench("plot", "outputs", "--output", "both.svg").returncode == 0
    text = (tmp_path / "both.svg").read_text()
    for word in (">relative Frobenius error<", ">RFF<", ">ORF<"):
        assert word in text, word
