"""The layers of the package: a module imports from its own layer and below, without cycles, in small folders."""

import ast
from collections import Counter

import pytest
from support import ROOT

LAYERS = [  # lowest first
    {"", "arrays", "blocks", "cache", "checks", "memory", "progress", "recipes", "registry", "seeds", "storage"},
    {"config"},
    {"datasets"},
    {"kernels"},
    {"sketches"},
    {"engines"},
    {"linalg"},
    {"devices"},
    {"results"},
    {"tasks"},
    {"reports"},
    {"sklearn"},
    {"job"},
    {"advise"},
    {"trials", "launch", "commands", "python", "cli", "__main__"},
]
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
FILES = {path.relative_to(ROOT / "rfbench"): path for path in sorted((ROOT / "rfbench").rglob("*.py"))}
MOST_MODULES = 16


def name_of(path):
    parts = path.with_suffix("").parts
    return ".".join(("rfbench", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = {name_of(path): file for path, file in FILES.items()}


def imports_of(module, anywhere=True):
    """The modules of the package that a module imports; those it imports when it is loaded, unless anywhere."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    lazy = {n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef) for n in ast.walk(f)}
    typing = {
        n for i in ast.walk(tree) if isinstance(i, ast.If) and "TYPE_CHECKING" in ast.dump(i.test) for n in ast.walk(i)
    }
    for node in ast.walk(tree):
        if node in typing or (node in lazy and not anywhere):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rfbench":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


def room(module):
    return (*module.split("."), "")[1]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_its_own_layer_and_below(module):
    for other in imports_of(module):
        assert RANK[room(other)] <= RANK[room(module)], f"{module} imports {other}"


def test_no_cycle_of_imports():
    graph = {module: set(imports_of(module, anywhere=False)) - {module} for module in MODULES}
    while free := {module for module, others in graph.items() if not others & graph.keys()}:
        graph = {module: others for module, others in graph.items() if module not in free}
    assert not graph, f"a cycle among {sorted(graph)}"


def test_no_folder_is_crowded():
    folders = Counter(str(path.parent) for path in FILES if path.name != "__init__.py")
    assert max(folders.values()) <= MOST_MODULES, folders.most_common(1)


@pytest.mark.parametrize(
    "module", [m for m in MODULES if room(m) in ("engines", "linalg", "results", "tasks", "reports")]
)
def test_sketches_are_asked_through_their_interface(module):
    """No other layer imports a concrete sketch; plugins could not take part."""
    concrete = {m for m in imports_of(module) if room(m) == "sketches"}
    assert concrete <= {"rfbench.sketches", "rfbench.sketches.base", "rfbench.sketches.draw"}
