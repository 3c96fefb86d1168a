# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package `pdl` under the name that it has in wheels. PyPI's `pdl` is another project, so
programs that shall run with a wheel too write `import pdlrec as pdl`."""

import importlib
import pkgutil
import sys

import pdl

for _module in pkgutil.iter_modules(pdl.__path__):
    # These two are run as programs.
    if _module.name not in ("quickstart", "tools"):
        sys.modules[f"{__name__}.{_module.name}"] = importlib.import_module(f"pdl.{_module.name}")
sys.modules[__name__] = pdl
