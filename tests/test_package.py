"""The wheel works alone, in an environment that has nothing of the checkout."""

import subprocess
import sys
import zipfile

import pytest
from support import ROOT
from support.plugin import example_commands, write_example

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

    write_example(tmp_path / "plugin")
    subprocess.run([*pip, tmp_path / "plugin"], check=True)
    for command in example_commands():
        done = rfbench(*command.split()[1:])
        assert done.returncode == 0, (command, done.stderr)
    assert "watts [W]" in done.stdout
    assert "spiral (360 training rows" in done.stdout
