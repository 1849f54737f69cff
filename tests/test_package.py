"""The wheel works alone, in an environment that has nothing of the checkout."""

import subprocess
import sys
import zipfile

import pytest
from support import ROOT
from support.files import user_files
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


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment with the wheel and what it needs, and nothing else."""
    place = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([*pip(place), wheel], check=True)
    return place


def pip(environment):
    return [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


@pytest.fixture
def rfbench(environment, tmp_path):
    """Runs a command of the environment in a directory of its own, without the variables of this process."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "RFBENCH_CACHE": str(tmp_path / "cache")}

    def call(*words, program="rfbench", **more):
        command = [environment / "bin" / program, *map(str, words)]
        return subprocess.run(command, cwd=place, env=variables | more, capture_output=True, text=True)

    call.place = place
    return call


@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment_from_any_directory(environment, rfbench, tmp_path):
    done = rfbench("seeds=1", "features=64")
    assert done.returncode == 0, done.stderr
    assert "digits" in done.stdout
    assert list(rfbench.place.glob("outputs/*/*/figure.svg"))
    assert "embedded" in rfbench("list").stdout
    assert rfbench("degre=6").returncode == 2

    write_example(tmp_path / "plugin")
    subprocess.run([*pip(environment), tmp_path / "plugin"], check=True)
    for command in example_commands():
        done = rfbench(*command.split()[1:])
        assert done.returncode == 0, (command, done.stderr)
    assert "watts [W]" in done.stdout
    assert "spiral (360 training rows" in done.stdout
    subprocess.run([environment / "bin" / "pip", "uninstall", "--quiet", "--yes", "rfbench-example"], check=True)


TOUR = [  # (command, exit code, part of what it prints); the pages explain each
    # own data
    ("data add patients.csv --name patients", 2, "patient_id"),
    (
        "data add patients.csv --name patients --drop patient_id --onehot sex --missing median --dry-run",
        0,
        "nothing was written",
    ),
    ("data add patients.csv --name patients --drop patient_id --onehot sex --missing median", 0, "dataset=patients"),
    ("data show patients", 0, "sex=f"),
    # models
    ("task=gpr dataset=patients sketch=rff features=64 seeds=1 task.save=true", 0, "models/"),
    ("predict outputs/patients-rff-gpr new_patients.csv --output here.csv", 0, "here.csv: 3 predictions"),
    # generative models
    ("task=kid task.x=real.npy task.y=fake.npy sketch=ctr_tensorsrht seeds=1", 0, "kid"),
    ("task=kid task.x=real.npy task.y=[fake.npy,fake2.npy] features=2d seeds=1", 0, "fake and fake2: "),
    # figures and tables
    ("plot outputs/patients-rff-gpr --y rmse --format pdf --size 3.3x2.5 --font serif 8", 0, "rff-gpr/figure.pdf"),
    ("report --format md", 0, "## "),
    # sweeps and results
    ("-m sketch=rff,orf,rademacher kernel=gaussian seeds=1", 2, "job 3 of 3: sketch=rademacher"),
    ("-m sketch=rff,orf features=16 dataset=wine seeds=[0,1] output_dir=machine1", 0, "[2/2]"),
    ("-m sketch=rff,orf features=16 dataset=wine seeds=[2] output_dir=machine2", 0, "rfbench report machine2"),
    ("merge machine1 machine2", 0, "2 jobs, 3 seeds"),
    ("-m sketch=rff,orf features=16 dataset=wine seeds=2", 0, "1 other seed on disk is not shown"),
    ("results", 0, "kernel_error"),
    ("clean --older 30d --failed --orphans --dry-run", 0, "nothing to remove"),
    ("experiment=wacker/fig2_1", 0, "wacker/fig2_1 takes some seconds"),
    ("compare wacker/fig2_1", 0, "Fig. 2.1 (Wacker 2022)"),
    ("compare --help", 0, "EXPERIMENT"),
    ("dataset=x.csv", 2, "rfbench data add x.csv --name x"),
    ("task=regression", 2, "choose ridge or gpr"),
    # components
    ("check sketch=rademacher", 0, "good"),
    ("list sketches", 0, "cost per row"),
    # hardware
    (
        "sketch=optical opu=simulated dataset.prepare=[binarize] dataset.threshold=0.5 features=1d seeds=2",
        0,
        "optical(opu=simulated)",
    ),
    ("task=projection features=[256,512] seeds=1", 0, "projection"),
    ("check opu=simulated", 0, "good"),
    ("data remove patients", 0, "patients"),
]


@pytest.mark.slow
def test_the_tasks_of_new_users_from_a_clean_environment(rfbench, wheel, tmp_path):
    """Commands of README and pages, one after the other; a model predicts with the same bits in another environment."""
    user_files(rfbench.place)
    for command, code, wanted in TOUR:
        done = rfbench(*command.split())
        assert done.returncode == code, (command, done.stdout, done.stderr)
        assert wanted in done.stdout + done.stderr, (command, done.stdout, done.stderr)
    python = "import rfbench; print(rfbench.load_dataset('wine').train.arrays()[0].shape)"
    assert rfbench("-c", python, program="python").stdout == "(160, 13)\n"
    assert "clean" in rfbench("-sc", "query=bash", COMP_LINE="rfbench cle").stdout
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", other], check=True)
    subprocess.run([*pip(other), wheel], check=True)
    words = [other / "bin" / "rfbench", "predict", "outputs/patients-rff-gpr", "new_patients.csv"]
    done = subprocess.run(words, cwd=rfbench.place, env={"HOME": str(other)}, capture_output=True, text=True)
    assert done.stdout == (rfbench.place / "here.csv").read_text(), done.stderr  # repr of every float: the same bits
