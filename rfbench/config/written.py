"""The config of a job as files in its directory, such as Hydra writes them: .hydra/ with both parts and the words."""

from pathlib import Path

import yaml
from omegaconf import OmegaConf

from rfbench.config.compose import Composed

Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def write_config(directory: Path, composed: Composed, number: int | None) -> None:
    """Write the config of a job; of a sweep it has a number."""
    hydra = OmegaConf.to_container(composed.hydra, enum_to_str=True)
    assert isinstance(hydra, dict)
    hydra["overrides"]["task"] = composed.words
    hydra["runtime"]["output_dir"] = str(directory)
    hydra["job"] |= {"num": number, "override_dirname": ",".join(sorted(composed.words))}
    hydra["mode"] = "RUN" if number is None else "MULTIRUN"
    folder = directory / ".hydra"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(OmegaConf.to_yaml(composed.config), encoding="utf-8")
    text = yaml.dump({"hydra": hydra}, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    (folder / "hydra.yaml").write_text(text, encoding="utf-8")
    (folder / "overrides.yaml").write_text(OmegaConf.to_yaml(composed.words), encoding="utf-8")
