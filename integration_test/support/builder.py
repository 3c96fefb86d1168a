# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that build small models with the Python package `pdl`, and check them."""

import subprocess
import sys

from programs import PDL_OPT, SOURCE

sys.path.insert(0, str(SOURCE / "python"))
import pdl


def parsed(text, *flags):
    """Returns the output of pdl-opt for a model. Fails if pdl-opt rejects the model."""
    done = subprocess.run([PDL_OPT, "-", *flags], input=str(text), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{text}\n{done.stderr}")
    return done.stdout


def with_fields(**fields):
    """Returns a model with a record of float fields of the given widths."""
    result = pdl.Model("m")
    record = result.record("r")
    for name, width in fields.items():
        record.floats(name, width)
    return result


def in_program(build, **fields):
    """Calls `build` while a program is built whose arguments are the fields, by name. Returns its
    result."""
    result = with_fields(**fields or {"x": 3, "y": 4})
    body = pdl.body.Body(result, "program @p")
    arguments = {field.name: body.argument(field.name, field.type)
                 for field in result.only_record().fields.values()}
    with pdl.body.building(body):
        return build(result, **arguments)
