"""The package taut: one stable-ABI module with the core library inside, and the shipped models."""
import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
HEADER = (ROOT / "include/taut/taut.h").read_text()
# what is made on the way stays out of the source tree
WORK = Path(os.environ.get("TAUT_PYTHON_BUILD", ROOT / "build-python"), "module")
WORK.mkdir(parents=True, exist_ok=True)


class WithModels(build_py):
    def run(self):
        super().run()
        folder = Path(self.build_lib, "taut", "models")
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.taut", "*.csv"):
            for file in (ROOT / "models").glob(pattern):
                shutil.copy(file, folder)


setup(
    name="taut",
    version=".".join(re.findall(r"#define TAUT_VERSION_\w+ (\d+)", HEADER)),
    description="Motion of mechanical systems that strong forces hold close to a manifold",
    license="BSD-3-Clause",
    python_requires=">=3.9",
    install_requires=["numpy", "cffi>=1.15"],
    extras_require={"all": ["h5py", "matplotlib", "pandas", "xarray"]},
    packages=["taut"],
    package_data={"taut": ["py.typed", "*.pyi"]},
    cffi_modules=["build_module.py:ffi"],
    cmdclass={"build_py": WithModels},
    options={"bdist_wheel": {"py_limited_api": "cp39"}, "build": {"build_base": str(WORK)},
             "egg_info": {"egg_base": str(WORK)}},
    zip_safe=False,
)
