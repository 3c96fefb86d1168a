# How lit runs the compiler's tests.
import os
import shutil

import lit.formats

config.name = "PDL"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pdl_binary_dir, "test")

tools = [os.path.join(config.pdl_binary_dir, "bin"), config.llvm_tools_dir]
config.environment["PDL_OBJECT_CACHE"] = config.pdl_test_objects
config.environment["PATH"] = os.pathsep.join(tools + [os.environ["PATH"]])
for name in ("PDL_TEST_DATA",):
    if name in os.environ:
        config.environment[name] = os.environ[name]
        config.available_features.add("test-data")
config.substitutions.append(("%pdl_src", config.pdl_source_dir))
config.substitutions.append(("%pdl_bin", config.pdl_binary_dir))
if config.pdl_enable_onednn:
    config.available_features.add("onednn")
# Tests that take long, of code that seldom changes (scripts/test.sh --nightly).
if os.environ.get("PDL_TEST_NIGHTLY"):
    config.available_features.add("nightly")
# NVIDIA's assembler, if a CUDA toolkit is installed.
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
