"""The wheel works alone, in an environment that has nothing of the checkout."""

import subprocess
import sys
import zipfile

import pytest
from support import ROOT

pytestmark = pytest.mark.medium


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    call = [sys.executable, "-m", "build", "--wheel", "--outdir", str(target), str(ROOT)]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = target.glob("*.whl")
    return path


def test_the_wheel_holds_configs_and_types_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"rfbench/conf/config.yaml", "rfbench/conf/sketch/ctr_tensorsrht.yaml", "rfbench/py.typed"} <= set(names)
    templates = ("base.html", "report.html", "changes.html", "report.js", "report.css")
    assert {f"rfbench/reports/html/templates/{name}" for name in templates} <= set(names)
    assert all(name.startswith(("rfbench/", "rfbench-")) for name in names)


PLUGIN = """
[project]
name = "rfbench-plugin-test"
version = "1"
[project.entry-points."rfbench.kernels"]
cosine = "rfbench_plugin_test:Cosine"
[project.entry-points."rfbench.sketches"]
half = "rfbench_plugin_test:HALF"
[project.entry-points."rfbench.datasets"]
line = "rfbench_plugin_test:line"
[project.entry-points."rfbench.meters"]
ticks = "rfbench_plugin_test:Ticks"
[project.entry-points."rfbench.conf"]
test = "rfbench_plugin_test.conf"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""
PLUGIN_CODE = """
from dataclasses import dataclass
from contextlib import contextmanager
import numpy as np
from rfbench.devices.meters.base import Meter, Reading
from rfbench.datasets.base import Dataset, InMemory
from rfbench.kernels.base import Kernel
from rfbench.arrays import inner
from rfbench.sketches.family import Family
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.weights import RADEMACHER

@dataclass(frozen=True)
class Cosine(Kernel):
    name = "cosine"
    def gram(self, X, Y):
        return np.cos(inner(X, Y))

HALF = Family(lambda kernel: ProductSketch(1, RADEMACHER), ("linear",), "closed form", "d D")

@dataclass(frozen=True)
class Ticks(Meter):
    name = "ticks"
    device = "cpu"
    @contextmanager
    def measure(self):
        reading = Reading("ticks of a plugin")
        yield reading
        reading.seconds, reading.joules = 2.0, 6.0

def line(config):
    X = np.linspace(0, 1, 50)[:, None]
    return Dataset("line", InMemory(X), InMemory(X[:, 0]), None)
"""


@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment_from_any_directory(wheel, tmp_path):
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel], check=True)
    place = tmp_path / "elsewhere"
    place.mkdir()
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "RFBENCH_CACHE": str(tmp_path / "cache")}

    def rfbench(*words):
        call = [environment / "bin" / "rfbench", *words]
        return subprocess.run(call, cwd=place, env=variables, capture_output=True, text=True)

    done = rfbench("seeds=1", "features=64")
    assert done.returncode == 0, done.stderr
    assert "digits" in done.stdout
    assert list(place.glob("outputs/*/*/figure.svg"))
    assert "embedded" in rfbench("list").stdout
    assert rfbench("degre=6").returncode == 2

    plugin = tmp_path / "plugin"
    (plugin / "rfbench_plugin_test").mkdir(parents=True)
    (plugin / "pyproject.toml").write_text(PLUGIN)
    (plugin / "rfbench_plugin_test" / "__init__.py").write_text(PLUGIN_CODE)
    made = (
        ("kernel", "cosine", ""),
        ("sketch", "half", ""),
        ("dataset", "line", "prepare: []\n"),
        ("meter", "ticks", ""),
    )
    for group, name, more in made:
        folder = plugin / "rfbench_plugin_test" / "conf" / group
        folder.mkdir(parents=True)
        (folder / f"{name}.yaml").write_text(f"# of a plugin\nname: {name}\n{more}")
    (plugin / "rfbench_plugin_test" / "conf" / "__init__.py").touch()
    subprocess.run([*pip, plugin], check=True)
    done = rfbench("sketch=exact", "kernel=cosine", "seeds=1")
    assert done.returncode == 0, done.stderr
    assert "cosine kernel" in done.stdout
    done = rfbench("sketch=half", "kernel=linear", "dataset=line", "seeds=1", "meter=ticks")
    assert done.returncode == 0, done.stderr
    assert "watts [W]" in done.stdout
    assert "line (45 training rows" in done.stdout
    assert "of a plugin" in rfbench("list", "sketches").stdout
