"""`store.fingerprint` of the datasets as published; those never seen complete have none."""

UNVERIFIED = ("miniboo", "drive", "mocap")  # nor is there a checksum of their files
FINGERPRINTS = {
    "mnist": "9ec4352cfbcb33894c46dffe0cc5e075",
    "fashion_mnist": "755e360340a5109813d8b5c9005314b8",
    "cifar10": "7475f0ac8d2e3af4fa8b0c7ebe6aa534",
    "cifar10_efficientnet": "62b81bce847ab7bcdd273195330efd69",
    "boston": "280d5ef9309ed2142abe0a1c0c318953",
    "concrete": "f1a6e3b022b5b957fc16975b01996f22",
    "energy": "8fb944ae8c97b3d3f5281e446e29d730",
    "kin8nm": "64bf08082913bebbe0f55bcd14b8346c",
    "naval": "40b71227ee1f12aa9ad79daf7cb45978",
    "powerplant": "3cef8696fea79f4927cc79272d17b57f",
    "protein": "797c010740020851154d634a3a2c7643",
    "yacht": "69e3eb47b29013f7a4f2c40c2eec16df",
    "letter": "89eb1a7fbb67f38b2840262a62848d8b",
    "magic": "543c3bb05ebb34b3b59ac037fac1ecb3",
    "eeg": "622f5bade586d558db20a3bce77a6fa7",
    "cod_rna": "36bdb13d29fb20972dd00fe6f39ac3a8",
    "covertype": "54dadc14810632f24a811006d7c65ae6",
    "adult": "08a89f5fb26417e368e05a6e3aca9201",
    "usps": "8cb11fae44ccdb2239c40be42f50f988",
    "drive_subset": "eb11094cbf6d82ff1484da6979b3be5f",
    "mocap_subset": "056bfb96223d1691f664f5aa781494bf",
}
