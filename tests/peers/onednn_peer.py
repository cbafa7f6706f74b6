"""oneDNN: products of float32 matrices by dnnl_sgemm, called through ctypes."""

import ctypes
import importlib.metadata
import itertools
import os
import sys
import time

import numpy

from peer_server import serve

PACKAGE = "onednn-cpu-gomp"
ALIGNMENT = 64
_SIZE = ctypes.c_int64


class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("patch", ctypes.c_int), ("hash", ctypes.c_char_p),
                ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint)]


def _library():
    for file in importlib.metadata.files(PACKAGE):
        if file.name.startswith("libdnnl.so"):
            return str(file.locate())
    raise FileNotFoundError(f"{PACKAGE} has no libdnnl.so")


def _matrix(rows, columns):
    """Returns an aligned matrix of zeros, row by row."""
    memory = numpy.zeros(rows * columns * 4 + ALIGNMENT, numpy.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    values = memory[begin:begin + rows * columns * 4].view(numpy.float32)
    return values.reshape(rows, columns)


def _cpu_seconds(calls, function, arguments):
    begin = time.thread_time_ns()
    for _ in itertools.repeat(None, calls):
        function(*arguments)
    return (time.thread_time_ns() - begin) * 1e-9


def _seconds_of_call(function, arguments, at_least):
    """Returns the CPU time of one call: the mean of so many calls that they
    take `at_least` seconds."""
    calls, seconds = 1, 0.0
    while seconds < at_least:
        seconds = _cpu_seconds(calls, function, arguments)
        measured = calls
        calls = max(calls + 1, min(
            10 * calls, int(1.2 * calls * at_least / max(seconds, 1e-9))))
    return seconds / measured


class OneDnnPeer:
    def __init__(self, threads):
        # The library reads the variable when it is loaded.
        os.environ["OMP_NUM_THREADS"] = str(threads)
        library = ctypes.CDLL(_library())
        self._sgemm = library.dnnl_sgemm
        self._sgemm.argtypes = [
            ctypes.c_char, ctypes.c_char, _SIZE, _SIZE, _SIZE, ctypes.c_float,
            ctypes.c_void_p, _SIZE, ctypes.c_void_p, _SIZE, ctypes.c_float,
            ctypes.c_void_p, _SIZE]
        library.dnnl_version.restype = ctypes.POINTER(_Version)
        self._version = library.dnnl_version().contents
        self._random = numpy.random.default_rng(1)

    def versions(self):
        version = self._version
        return {"oneDNN": f"{version.major}.{version.minor}.{version.patch}"}

    def _values(self, rows, columns):
        matrix = _matrix(rows, columns)
        matrix[:] = self._random.random(matrix.shape, numpy.float32) * 2 - 1
        return matrix

    def product(self, shape, form, at_least):
        m, n, k = shape
        a = self._values(*((k, m) if form[0] == "T" else (m, k)))
        b = self._values(*((n, k) if form[1] == "T" else (k, n)))
        c = _matrix(m, n)
        # Makes values of ctypes here: to convert them takes time in each call.
        operands = (ctypes.c_float(1), ctypes.c_void_p(a.ctypes.data),
                    _SIZE(a.shape[1]), ctypes.c_void_p(b.ctypes.data),
                    _SIZE(b.shape[1]), ctypes.c_float(0),
                    ctypes.c_void_p(c.ctypes.data), _SIZE(n))
        transposed = ctypes.c_char(form[0].encode()), ctypes.c_char(
            form[1].encode())
        sizes = _SIZE(n), _SIZE(k)
        whole = (*transposed, _SIZE(m), *sizes, *operands)
        if self._sgemm(*whole) != 0:
            raise RuntimeError(f"dnnl_sgemm refuses {shape} {form}")
        self._check(c, a.T if form[0] == "T" else a,
                    b.T if form[1] == "T" else b)
        seconds = _seconds_of_call(self._sgemm, whole, at_least)
        # A product of no rows takes the time of the call from Python, which
        # calls of Gauntlet's kernels do not need.
        empty = (*transposed, _SIZE(0), *sizes, *operands)
        return seconds - _seconds_of_call(self._sgemm, empty, at_least / 10)

    @staticmethod
    def _check(c, a, b):
        # Inputs are in [-1, 1): rounding errors grow at most linearly with k.
        worst = numpy.abs(c - a @ b).max()
        if not worst <= 1e-6 * a.shape[1]:
            raise RuntimeError(f"dnnl_sgemm: {worst} from numpy's product")


if __name__ == "__main__":
    serve(OneDnnPeer(int(sys.argv[1])))
