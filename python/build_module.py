"""taut._taut, made by cffi from the public header as the compiler reads it.

TAUT_PYTHON_BUILD names the folder of the core library; by default it is build-python of the
source tree, where CMake builds it.
"""
import os
import subprocess
import tempfile
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TAUT_PYTHON_BUILD", ROOT / "build-python"))

# What Taut calls: each is a Python function of taut/_library.py.
CALLBACKS = """
extern "Python" {
    int taut_python_force(void *, double, const double *, const double *, double *);
    int taut_python_bond(void *, double, const double *, double *);
    int taut_python_jacobian(void *, double, const double *, double *);
    int taut_python_gamma(void *, double, const double *, const double *, double *);
    int taut_python_energy(void *, double, const double *, double *);
    int taut_python_mass(void *, double, const double *, double *);
    int taut_python_advance(void *, double, double, double *);
    int taut_python_save(void *, void *);
    int taut_python_restore(void *, const void *);
    int taut_python_progress(void *, double, double, int64_t);
    int taut_python_write(void *, const void *, size_t);
}
"""


def declarations():
    """taut.h after the preprocessor, without the standard headers, whose types cffi has."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool", "stddef", "stdint", "string"):
            Path(empty, name + ".h").touch()
        # without __GNUC__ TAUT_API is empty; the inline functions of init.h are not needed
        command = [os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", "-U__GNUC__"]
        command += ["-DTAUT_INIT_H", f"-I{empty}", f"-I{ROOT}/include"]
        command += [f"{ROOT}/include/taut/taut.h"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def core_library():
    """The static core library: libc and libm only."""
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-DTAUT_CORE=ON",
                    "-DCMAKE_BUILD_TYPE=Release"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "-j", os.environ.get("JOBS", "2"), "--target",
                    "taut_static"], check=True, stdout=subprocess.DEVNULL)
    return str(BUILD / "lib/libtaut.a")


ffi = cffi.FFI()
ffi.cdef(declarations() + CALLBACKS)
ffi.set_source("taut._taut", "#include <taut/taut.h>", include_dirs=[str(ROOT / "include")],
               extra_objects=[core_library()], libraries=["m", "pthread"], extra_compile_args=["-O2"],
               extra_link_args=["-Wl,--exclude-libs,ALL", "-Wl,-s"])
