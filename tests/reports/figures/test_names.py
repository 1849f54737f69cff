"""Names as people print them: one table, which plugins extend."""

import pytest
from support.figures import metrics

from rfbench.config.files import choices
from rfbench.datasets import GENERATED
from rfbench.reports import names
from rfbench.reports.formats import as_latex
from rfbench.reports.names import METRICS, metric_name, printed
from rfbench.reports.tables import tables


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("ctr_tensorsrht", "CtR-TensorSRHT"),
        ("complex_rff", "complex RFF"),
        ("tensorsketch, D = 64", "TensorSketch, D = 64"),
        ("hierarchical(ctr_tensorsrht, shape=tree)", "hierarchical(CtR-TensorSRHT, shape=tree)"),
        ("fashion_mnist(prepare=[min_max, binarize], threshold=0.1)", "Fashion-MNIST, binarized at 0.1"),
        ("digits(threshold=0.1, prepare=[min_max, binarize])", "Digits, binarized at 0.1"),
        ("mnist(prepare=[binarize])", "MNIST, binarized at 0"),
        ("polynomial(gamma=1/d, bias=0.5), p = 3", "polynomial(γ = 1/d, ν = 0.5), p = 3"),
        ("srf_orthogonal", "orthogonal SRF"),
        ("mine_rff", "mine_rff"),
    ],
)
def test_labels_are_printed(label, name):
    assert printed(label) == name


def test_every_dataset_of_files_has_a_name():
    """Those that rfbench draws are words of the config."""
    published = [name for name in choices("dataset") if name not in (*GENERATED, "shifted")]
    assert [name for name in published if printed(name) == name] == []


def test_plugins_add_names(monkeypatch):
    monkeypatch.setattr(names, "plugged", lambda: {"mine_rff": "Mine-RFF", "loss": "my loss"})
    assert printed("ctr_mine_rff, rff") == "CtR-Mine-RFF, RFF"
    assert metric_name("loss") == "my loss"
    assert metric_name("loss|kl") == "my loss, KL divergence from the exact process"
    assert names.is_metric("loss")
    assert not names.is_metric("los")


def test_latex_tables_have_printed_names():
    rows = [{"metric": m, "value": 1, "unit": u} for m, u in (("rel_frobenius", ""), ("transform_seconds", "s"))]
    (table,) = tables(metrics(row | {"sketch": "ctr_tensorsrht"} for row in rows))
    text = as_latex(table)
    assert "sketch & features & relative Frobenius error & compute features [s]" in text
    assert "CtR-TensorSRHT & 8 & 1 & 1" in text


def test_no_metric_is_named_like_another():
    assert len(set(METRICS.values())) == len(METRICS)
