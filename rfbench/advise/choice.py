"""kernel=auto: the kernel of least error on held-out rows, by ridge regression on a sample of training rows."""

import re
from time import perf_counter

from rfbench.checks import InputError, require
from rfbench.kernels import kernel_recipe
from rfbench.progress import bar

SECONDS = 10.0
ROWS = 2000  # training rows of which a tenth is held out
SEED = 0
# In this order while there is time: each with its degree, or with the length scales of its grid.
CANDIDATES = (("polynomial", 3), ("gaussian", 0), ("polynomial", 2), ("laplacian", 0), ("polynomial", 6), ("matern", 0))


def with_kernel(words: list[str]) -> tuple[list[str], str]:
    """The overrides with a kernel in place of kernel=auto or kernel=auto:SECONDS, and a line that says which."""
    given = [word for word in words if re.fullmatch(r"kernel=auto(:.*)?", word)]
    if not given:
        return words, ""
    for word in words:
        if word.startswith(("kernel.", "degree=")):
            raise InputError(f"kernel=auto chooses the kernel's options, so '{word}' has no effect; remove it")
    limit = given[0].partition(":")[2] or str(SECONDS)
    good = bool(re.fullmatch(r"\d*\.?\d+", limit)) and float(limit) > 0
    require(good, "kernel=auto", "alone or followed by seconds, as in auto:30", given[0])
    others = [word for word in words if word not in given]
    chosen, note = choose(others, float(limit))
    return [*others, *chosen], note


def choose(words: list[str], limit: float) -> tuple[list[str], str]:
    """The overrides of the best kernel that is found in so many seconds, and how it was found."""
    from rfbench.config.compose import compose_jobs, with_search_path
    from rfbench.datasets import load
    from rfbench.datasets.prepare import prepared_split
    from rfbench.job import build_job, plain_config
    from rfbench.seeds import rng_for
    from rfbench.tasks.ridge.task import Ridge

    plain = [word for word in words if not word.startswith("sketch")]
    job = build_job(plain_config(compose_jobs(with_search_path(plain), multirun=False)[0]))
    dataset = load(job.config["dataset"], data_dir=job.config["data_dir"], download=job.config["download"])
    train = prepared_split(dataset, job.preparation, SEED, job.dtype, job.config["train_rows"]).train
    if len(train) > ROWS:
        _, train = train.divided(ROWS / len(train), rng_for(SEED, "kernel=auto"))
    found, start = [], perf_counter()
    with job.engine.running(), bar(len(CANDIDATES), "kernels") as shown:
        for name, degree in CANDIDATES:
            options = {} if degree else {"length_scale": "validation"}
            kernel, loss = Ridge().best(kernel_recipe(name, degree, **options), train, SEED, job.engine)
            found.append((loss, name, degree, getattr(kernel, "length_scale", 0.0)))
            shown.update()
            if (perf_counter() - start) * (1 + 1 / len(found)) > limit:  # another one would take too long
                break
    loss, name, degree, length_scale = min(found)
    option = f"degree={degree}" if degree else f"kernel.length_scale={length_scale:.4g}"
    score = "misclassified" if dataset.classes else "root mean square error"
    said = f"{loss:.2%} {score}" if dataset.classes else f"{score} {loss:.4g}"
    return [f"kernel={name}", option], (
        f"kernel=auto: {name} ({option}), {said} on held-out rows by ridge regression on {len(train)} training rows; "
        f"{len(found)} of {len(CANDIDATES)} kernels tried in {limit:g} s"
    )
