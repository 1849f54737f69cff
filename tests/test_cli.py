"""The command as a user types it: answers, mistakes, sweeps."""

import os
import resource
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from support.answers import one_line

from rfbench.cli import main
from rfbench.results.rows import only_writer, read_rows


def test_a_mistake_from_the_shell(rfbench_process):
    one_line(rfbench_process("degre=6"), "did you mean 'degree'")


def test_help_version_and_lists(rfbench):
    assert "rfbench data get" in rfbench("--help").stdout
    assert rfbench("--version").stdout.startswith("rfbench 0.")
    everything = rfbench("list").stdout
    for word in (
        "digits",
        "embedded",
        "ctr_tensorsrht",
        "closed form",
        "polynomial_sphere",
        "kernel_error",
        "wacker/fig4_1",
    ):
        assert word in everything
    assert "digits" not in rfbench("list", "sketches").stdout
    assert max(map(len, everything.splitlines())) <= 120
    narrow = rfbench("list", env={"COLUMNS": "80"}).stdout
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.split() == everything.split()
    assert everything.index("wacker/fig4_2 ") < everything.index("wacker/fig4_10 ")


def test_the_sign_is_a_name_of_the_spread(rfbench):
    done = rfbench("sketch=rff", "dataset=wine", "features=16", "seeds=2", "±=stderr")
    assert "± standard error of the mean over seeds" in done.stdout, done.stderr


def test_an_internal_error_has_a_code_of_its_own_and_a_traceback_on_request(rfbench, monkeypatch):
    def broken(words):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("rfbench.commands.listing.show", broken)
    done = rfbench("list")
    assert done.returncode == 70
    assert done.stderr == "rfbench: internal error: ZeroDivisionError: a bug; set RFBENCH_DEBUG=1 for the traceback\n"
    with pytest.raises(ZeroDivisionError):
        rfbench("list", env={"RFBENCH_DEBUG": "1"})


def test_an_interrupt_exits_with_130_and_says_how_to_resume(rfbench, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rfbench.trials.load", interrupted)
    done = rfbench("seeds=1", "features=64")
    assert done.returncode == 130
    assert "rerun the command to resume" in done.stderr


@pytest.mark.parametrize("verb", ["list", "data", "compare", "plot", "predict", "check"])
def test_every_command_has_help_of_its_own(verb, capsys):
    with suppress(SystemExit):  # argparse
        main([verb, "--help"])
    assert f"rfbench {verb}" in capsys.readouterr().out


def test_light_commands_import_no_heavy_module(rfbench):
    """--help and list answer in under a second because of what they do not load."""
    heavy = ("pandas", "matplotlib", "sklearn", "hydra")
    for words in (["--help"], ["list"]):
        code = (
            f"import sys; from rfbench.cli import main; main({words}); sys.exit(any(m in sys.modules for m in {heavy}))"
        )
        assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_the_composed_config_can_be_printed(rfbench):
    assert "name: ctr_tensorsrht" in rfbench("--cfg", "job").stdout


def test_the_kernel_follows_the_sketch_unless_asked_otherwise(rfbench):
    assert "name: linear" in rfbench("sketch=identity", "--cfg", "job").stdout
    assert "name: gaussian" in rfbench("sketch=exact", "kernel=gaussian", "--cfg", "job").stdout


def test_a_second_run_leaves_the_first_one_alone(rfbench, tmp_path):
    words = ("seeds=1", "features=64")
    assert rfbench(*words).returncode == 0
    (directory,) = tmp_path.glob("outputs/*/*")
    (directory / "results.csv").unlink()  # as in the first trial of a run
    with only_writer(directory):
        one_line(rfbench(*words), "another run is writing")
    assert (directory / ".lock").exists()


def test_other_data_under_the_same_name_are_not_mixed(rfbench, tmp_path):
    for place, shift in (("one", 0.0), ("two", 1.0)):
        (tmp_path / place / "yacht").mkdir(parents=True)
        table = np.random.default_rng(0).standard_normal((308, 7)) + shift
        np.savetxt(tmp_path / place / "yacht" / "data.txt", table)
    assert rfbench("dataset=yacht", "features=64", "seeds=1", "data_dir=one").returncode == 0
    one_line(rfbench("dataset=yacht", "features=64", "seeds=2", "data_dir=two"), "was computed from different data")
    assert rfbench("dataset=yacht", "features=64", "seeds=2", "data_dir=one").returncode == 0


def test_zero_variance_is_not_a_ratio(rfbench, tmp_path):
    """Full Hadamard blocks of degree 1 have no variance at all."""
    done = rfbench(
        "task=variance", "kernel=linear", "sketch=complex_tensorsrht", "features=2d", "seeds=1", "task.draws=50"
    )
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    assert {r["metric"] for r in read_rows(path)} == {"variance_closed_form", "variance_empirical"}


def test_one_and_one_point_zero_are_the_same_experiment(rfbench, tmp_path):
    for bias in ("1", "1.0"):
        assert rfbench(f"kernel.bias={bias}", "features=64", "seeds=1").returncode == 0
    assert len(list(tmp_path.glob("outputs/*/*"))) == 1


def test_a_mistake_deletes_nothing_of_the_user(rfbench, tmp_path):
    assert rfbench("seeds=1", "features=64").returncode == 0
    (directory,) = tmp_path.glob("outputs/*/*")
    (directory / "results.csv").unlink()
    (directory / "notes.txt").write_text("mine")
    one_line(
        rfbench("seeds=1", "features=64", "data_dir=x", "dataset=digits", "kernel=polynomial_sphere", "kernel.a=1"),
        "kernel.a",
    )
    assert (directory / "notes.txt").read_text() == "mine"


def test_a_directory_with_a_difficult_name(rfbench, tmp_path):
    place = tmp_path / "sp ace'q é"
    place.mkdir()
    env = {"RFBENCH_CACHE": str(place / "c'ache")}
    np.save(place / "own.npy", np.random.default_rng(0).standard_normal((40, 3)))
    assert rfbench("data", "add", "own.npy", "--name", "mine", cwd=place, env=env).returncode == 0
    done = rfbench("-m", "dataset=mine,wine", "features=64", "seeds=1", cwd=place, env=env)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["dü", "d=x", "d'x", "d,x", "d x", "d{x}", "d[x", "d:x", "d#x", "(d)", "d\\x"])
def test_a_folder_of_datasets_with_a_difficult_name(rfbench, tmp_path, name):
    mode = ("-m",) if name in ("dü", "d,x") else ()
    (tmp_path / name / "yacht").mkdir(parents=True)
    np.savetxt(tmp_path / name / "yacht" / "data.txt", np.random.default_rng(0).standard_normal((308, 7)))
    done = rfbench(
        *mode, "dataset=yacht", "features=16", "seeds=1", "task.rows=5", "download=false", f"data_dir={name}"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["a${b", "a${oc.env:HOME}"])
def test_a_directory_that_would_send_results_elsewhere_is_refused(rfbench, tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    words = ("dataset=wine", "features=16", "seeds=1")
    one_line(rfbench(*words, cwd=tmp_path / name), "the working directory must not have")
    one_line(rfbench(*words, env={"RFBENCH_CACHE": name}), "RFBENCH_CACHE must not have")
    monkeypatch.delenv("RFBENCH_CACHE")
    one_line(rfbench(*words, env={"XDG_CACHE_HOME": name}), "the cache directory must not have")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_backslash_in_a_directory(rfbench, tmp_path):
    """As the last character, too, where a quote follows it in what Hydra is given."""
    work, cache, results = tmp_path / "a\\b\\", tmp_path / "c\\n\\", "o\\p\\"
    work.mkdir()
    (work / "own.csv").write_text("a,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(60)))
    for words in (
        ("data", "add", "own.csv", "--name", "mine", "--target", "y"),
        ("-m", "dataset=mine", "sketch=rff,orf", "features=16", "seeds=1"),
        ("dataset=mine", "sketch=rff", "features=16", "seeds=1", f"output_dir={results}"),
    ):
        done = rfbench(*words, cwd=work, env={"RFBENCH_CACHE": str(cache)})
        assert done.returncode == 0, done.stderr
    assert len(list(work.glob("outputs/sweep-*/jobs/*/results.csv"))) == 2
    assert len(list((work / results).glob("*/*/results.csv"))) == 1
    assert {path.name for path in tmp_path.iterdir()} == {work.name, cache.name}


def test_the_environment_is_the_caller_s_again(rfbench, monkeypatch):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    before = dict(os.environ)
    assert rfbench("dataset=wine", "sketch=rff", "features=16", "seeds=1").returncode == 0
    assert dict(os.environ) == before


def test_an_option_after_words(rfbench):
    done = rfbench("dataset=wine", "-m", "sketch=rff,orf", "features=16", "seeds=1")
    assert done.returncode == 0, done.stderr
    assert "[2/2] " in done.stdout


def test_a_terminal_without_unicode(rfbench_process):
    assert "digits" in rfbench_process("list", env={"PYTHONIOENCODING": "ascii"}).stdout
    assert rfbench_process("seeds=2", "features=64", env={"PYTHONIOENCODING": "ascii"}).returncode == 0


def test_damaged_results_are_not_built_upon(rfbench, tmp_path):
    assert rfbench("seeds=1", "features=64").returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    path.write_text(path.read_text().replace(",64,0,rel_spectral", ",sixty,0,rel_spectral"))
    one_line(rfbench("seeds=2", "features=64"), "damaged near row 3")


def test_own_csv_from_add_to_table(rfbench, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["a,b,label", *(f"{x:.4f},{y:.4f},{'yes' if x > 0 else 'no'}" for x, y in rng.standard_normal((60, 2)))]
    (tmp_path / "own.csv").write_text("\n".join(lines))
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    assert rfbench("data", "add", "own.csv", "--name", "mine", env=env).returncode == 0
    assert "mine" in rfbench("list", "datasets", env=env).stdout
    done = rfbench("dataset=mine", "features=64", "seeds=2", env=env)
    assert done.returncode == 0, done.stderr
    assert "mine (54 training rows, 2 columns)" in done.stdout


def test_a_word_in_a_csv_is_one_line(rfbench, tmp_path):
    (tmp_path / "own.csv").write_text("a,b,y\n1,2,3\n4,oops,6\n7,8,9\n")
    one_line(rfbench("data", "add", "own.csv", "--name", "worded"), "oops", "own.csv")


def test_a_truncated_idx_file_is_one_line(rfbench, tmp_path, data_dir):
    import gzip
    import shutil

    shutil.copytree(f"{data_dir}/mnist", tmp_path / "data" / "mnist")
    images = tmp_path / "data" / "mnist" / "t10k-images-idx3-ubyte.gz"
    images.chmod(0o644)
    with gzip.open(images) as file:
        content = file.read(100_000)
    images.write_bytes(gzip.compress(content))
    env = {"RFBENCH_CACHE": str(tmp_path / "cache"), "RFBENCH_DATA": str(tmp_path / "data")}
    one_line(rfbench("dataset=mnist", "download=false", env=env), "t10k-images")


def test_an_unwritable_output_directory_is_one_line(rfbench, tmp_path):
    (tmp_path / "outputs").write_text("a file where a directory should be")
    one_line(rfbench("seeds=1", "features=64"), "cannot write")


@pytest.mark.slow
@pytest.mark.parametrize("room", [1_000, 20_000], ids=["at the start", "in the middle"])
def test_a_full_disk_is_one_line_and_loses_nothing(room, rfbench, rfbench_process, tmp_path):
    words = ("features=[64,96,128,160,192,224,256,288]", "task.rows=20")
    assert rfbench("seeds=1", *words).returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    before = path.read_text()

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    one_line(rfbench_process("seeds=20", *words, preexec_fn=small_disk), "cannot write", "File too large")
    assert path.read_text().startswith(before)
    kept = len(read_rows(path))
    assert (kept > len(before.splitlines())) == (room > 10_000)
    assert rfbench("seeds=20", *words).returncode == 0
    assert len(read_rows(path)) == 20 * 8 * 4


@pytest.mark.slow
def test_a_log_that_cannot_be_written_is_no_traceback(rfbench, rfbench_process, tmp_path):
    sweep = ("-m", "sketch=rff,orf", "dataset=wine", "features=16", "task.rows=10")
    assert rfbench(*sweep, "seeds=1").returncode == 0
    for log in tmp_path.rglob("rfbench.log"):
        log.write_text("x" * 200_000)

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = rfbench_process(*sweep, "seeds=2", preexec_fn=small_disk)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_same_numbers_whatever_the_workers_and_blocks(rfbench, tmp_path):
    tables = []
    for options in ("engine.workers=1", "engine.workers=3", "block_rows=50"):
        place = tmp_path / options
        place.mkdir()
        assert rfbench("seeds=2", "features=[64,96]", options, cwd=place).returncode == 0
        (path,) = place.glob("outputs/*/*/results.csv")
        tables.append([r["value"] for r in read_rows(path) if r["unit"] != "s"])
    assert tables[0] == tables[1]
    np.testing.assert_allclose(*[np.array(t, float) for t in (tables[0], tables[2])], rtol=1e-5)
