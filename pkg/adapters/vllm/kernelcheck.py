# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs in the engine's own image before the engine, and says through the
# termination log whether LMCache's compiled kernels can be loaded there. Importing
# them proves nothing: LMCache falls back to slow code without an error.
import ctypes
import glob
import importlib.util
import os
import sys

# Up to 0.5.5 the library is called c_ops, later cuda_ops.
PATTERNS = ("c_ops*.so", "cuda_ops*.so")
LIMIT = 3500


def verdict():
    spec = importlib.util.find_spec("lmcache")
    if spec is None or not spec.submodule_search_locations:
        return "FAIL: the image has no lmcache package"
    folders = list(spec.submodule_search_locations)
    libraries = sorted(
        path
        for folder in folders
        for pattern in PATTERNS
        for path in glob.glob(os.path.join(glob.escape(folder), "**", pattern), recursive=True)
    )
    if not libraries:
        return "FAIL: lmcache in %s has none of %s: a build without compiled kernels" % (
            ", ".join(folders), ", ".join(PATTERNS))
    import torch  # noqa: F401 - the kernels are linked against its libraries
    for library in libraries:
        ctypes.CDLL(library)
    return "OK"


try:
    result = verdict()
except BaseException as problem:
    result = "FAIL: %s: %s" % (type(problem).__name__, problem)
try:
    with open(os.environ.get("KERNEL_CHECK_LOG", "/dev/termination-log"), "w") as log:
        log.write(result[:LIMIT])
except OSError as problem:
    print("cannot write the result:", problem, file=sys.stderr)
print(result)
if result != "OK" and os.environ.get("KERNEL_CHECK_STRICT") == "1":
    sys.exit(1)
