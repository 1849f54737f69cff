"""Files of a user, as the pages name them."""

import numpy as np


def user_files(directory):
    """Write them to a directory."""
    rows = "".join(f"{i},{i * i % 7},{i % 5 + 0.5}\n" for i in range(50))
    (directory / "measurements.csv").write_text(f"a,b,yield\n{rows}")
    lines = [f"p{i},{'mf'[i % 2]},{20 + i % 9},{i % 7 / 2},{i * 7 % 60},{i % 9 + 0.25}" for i in range(40)]
    lines = [line.replace(",22,", ",,") if i < 30 else line.replace(",3.0,", ",,") for i, line in enumerate(lines)]
    (directory / "patients.csv").write_text("\n".join(["patient_id,sex,bmi,crp,age,outcome", *lines, ""]))
    rows = [line.rpartition(",")[0] for line in lines[:3]]
    (directory / "new_patients.csv").write_text("\n".join(["patient_id,sex,bmi,crp,age", *rows, ""]))
    np.save(directory / "digits.npy", np.random.default_rng(0).random((5, 64)))
    for seed, name in enumerate(("real", "fake", "fake2")):
        np.save(directory / f"{name}.npy", np.random.default_rng(seed).standard_normal((1200, 16)))
    (directory / "text.txt").write_text("A sketch is a random map whose inner products estimate a kernel.\n")
