"""The plugin of docs/plugins.md does what the page says; broken plugins are warnings, broken sketches fail."""

import importlib
import json
import sys

import numpy as np
import pytest
from support import ROOT
from support.plugin import example_commands, write_example

from rfbench.commands import check
from rfbench.config import files
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches.base import ClosedForm
from rfbench.sketches.contract import CHECKS, Subject
from rfbench.sketches.products.product import ProductMap, ProductSketch
from rfbench.sketches.products.weights import RADEMACHER


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes a distribution visible to this process, as pip does: (name, files, entry points)."""

    def install(name, entry_points, version="1.0"):
        information = tmp_path / "site" / f"{name}.dist-info"
        information.mkdir(parents=True, exist_ok=True)
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (information / "entry_points.txt").write_text(entry_points)
        importlib.invalidate_caches()
        return tmp_path / "site"

    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield install
    for module in [name for name in sys.modules if name.startswith(("rfbench_example", "rfbench_broken"))]:
        del sys.modules[module]
    files._folders.cache_clear()


def test_every_command_of_the_page_works_with_its_plugin(installed, rfbench, tmp_path):
    toml = write_example(tmp_path / "site")
    groups = toml["project"]["entry-points"]
    points = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in ps.items()) for group, ps in groups.items())
    installed("rfbench-example", points)
    commands = example_commands()
    assert len(commands) == 6
    for command in commands:
        done = rfbench(*command.split()[1:])
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if command.endswith("list sketches"):
            assert "kernel: linear; variance: closed form; cost per row: d D q" in done.stdout
            assert "spiral                of a plugin" in rfbench("list", "datasets").stdout
    assert "trace_error" in done.stdout
    assert "watts [W]" in done.stdout


@pytest.mark.slow
def test_results_of_another_version_of_a_plugin_are_computed_again(installed, rfbench, tmp_path):
    """Also where another command made them, and with seeds that nobody asks for again."""
    groups = write_example(tmp_path / "site")["project"]["entry-points"]
    points = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in ps.items()) for group, ps in groups.items())
    words = ("sketch=sparse_signs", "kernel=linear", "dataset=wine", "features=16")
    installed("rfbench-example", points)
    assert rfbench(*words, "seeds=2").returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    assert json.loads(path.with_name("run.json").read_text())["plugins"] == {"rfbench-example": "1.0"}
    first = path.read_text()
    assert rfbench(*words, "seeds=2").returncode == 0
    assert path.read_text() == first
    installed("rfbench-example", points, "1.1")
    done = rfbench("-m", *words, "seeds=1")
    assert done.returncode == 0
    (again,) = tmp_path.glob("outputs/sweep-*/jobs/*/results.csv")
    assert not first.startswith(again.read_text())  # other times: it was not copied
    done = rfbench(*words, "seeds=1")
    assert "was computed with rfbench-example 1.0, and is computed again" in done.stdout
    assert path.with_name("results-rfbench-example_1.0.csv").read_text() == first
    assert {row["seed"] for row in read_rows(path)} == {"0"}
    assert json.loads(path.with_name("run.json").read_text())["plugins"] == {"rfbench-example": "1.1"}


def test_one_broken_plugin_is_a_warning_that_names_it(installed, rfbench):
    site = installed(
        "rfbench-broken",
        "[rfbench.conf]\nbroken = rfbench_broken.conf\n[rfbench.sketches]\nbroken = rfbench_broken:SKETCH\n",
    )
    (site / "rfbench_broken").mkdir()
    (site / "rfbench_broken" / "__init__.py").write_text("import no_such_library\n")
    done = rfbench("list", "sketches")
    assert done.returncode == 0
    assert "tensorsrht" in done.stdout
    assert done.stderr.count("warning: plugin 'rfbench-broken' is broken") == 1
    assert "no_such_library" in done.stderr
    assert rfbench("--cfg", "job").returncode == 0


class WrongScale(ProductSketch):
    def sample(self, d, D, rng, dtype=np.float32):
        return ProductMap(super().sample(d, D, rng, dtype).W * 1.05 ** (0.5 / self.degree))


class Broken(ProductSketch):
    """Another map over the weights of a good one."""

    map = ProductMap

    def sample(self, d, D, rng, dtype=np.float32):
        return self.map(super().sample(d, D, rng, dtype).W)


class UnwrittenMap(ProductMap):
    def write(self, X, out):
        part = np.empty_like(out)
        super().write(X, part)
        out[:, :3] = part[:, :3]


class DependentMap(ProductMap):
    def write(self, X, out):
        super().write(X + 0.1 * (X - X.mean(0)), out)


class ChangingMap(ProductMap):
    def write(self, X, out):
        super().write(X, out)
        X *= 0.5


class OtherTypeMap(ProductMap):
    def __call__(self, X, out=None):
        return super().__call__(X, out).astype(np.float64)


class Unwritten(Broken):
    map = UnwrittenMap


class DependentRows(Broken):
    map = DependentMap


class InputChanged(Broken):
    map = ChangingMap


class OtherType(Broken):
    map = OtherTypeMap


class SharedWeights(ProductSketch):
    def sample(self, d, D, rng, dtype=np.float32):
        W = super().sample(d, D, rng, dtype).W
        return ProductMap(np.array([W[0], W[0] * np.sqrt(D)]))


class WrongClosedForm(ProductSketch):
    @property
    def closed_form(self):
        right = super().closed_form
        return ClosedForm(lambda X, Y, D: 1.3 * right.variance(X, Y, D))


class GlobalRandomness(ProductSketch):
    def sample(self, d, D, rng, dtype=np.float32):
        return super().sample(d, D, np.random.default_rng(np.random.randint(2**31)), dtype)  # noqa: NPY002


def failed(sketch):
    subject = Subject(sketch, make_kernel("polynomial", 2, bias=0.0), check.rows(), 64)
    return {what for what, wrong in check.outcomes(CHECKS, subject) if wrong}


@pytest.mark.parametrize(
    ("broken", "check_that_fails"),
    [
        (WrongScale, "mean is the kernel"),
        (Unwritten, "all features are written"),
        (SharedWeights, "mean is the kernel"),
        (DependentRows, "rows are apart"),
        (WrongClosedForm, "variance is the closed form"),
        (GlobalRandomness, "global randomness is left alone"),
        (InputChanged, "input is untouched"),
        (OtherType, "right shape and type"),
    ],
)
def test_broken_sketches_fail(broken, check_that_fails):
    assert check_that_fails in failed(broken(2, RADEMACHER))


def test_the_sketch_that_they_derive_from_passes():
    assert failed(ProductSketch(2, RADEMACHER)) == set()


@pytest.mark.medium
@pytest.mark.parametrize("name", [name for name in files.choices("sketch") if "/" in name])
def test_sketches_with_other_options_pass(name):
    """The sketches without them run in tests/sketches/test_contract.py."""
    assert check.main([f"sketch={name}"]) == 0


def test_check_says_what_is_wrong_and_exits_with_1(rfbench, monkeypatch):
    monkeypatch.setattr("rfbench.commands.check.make_sketch", lambda **_: Unwritten(3, RADEMACHER))
    done = rfbench("check", "sketch=rademacher", "kernel.bias=0")
    assert done.returncode == 1
    assert "FAILED  all features are written: 61 of 64 features are not written" in done.stdout
    for words in (
        ["check"],
        ["check", "dataset=digits"],
        ["check", "sketch=nope"],
        ["check", "sketch=rff", "sketch.no=1"],
        ["check", "meter=none"],
        ["check", "opu=analog"],
    ):
        assert rfbench(*words).returncode == 2


def test_the_page_is_part_of_the_documentation():
    assert "plugins.md" in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
