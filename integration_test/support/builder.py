# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package `pdl`, and functions that build and check small models with it."""

import subprocess
import sys

from programs import PDL_OPT, SOURCE

sys.path.insert(0, str(SOURCE / "python"))
import pdl


def parsed(text, *flags):
    """What pdl-opt makes of a model; fails if it does not take it."""
    done = subprocess.run([PDL_OPT, "-", *flags], input=str(text), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{text}\n{done.stderr}")
    return done.stdout


def with_fields(**fields):
    """A model with a record of floats of the given widths."""
    result = pdl.Model("m")
    record = result.record("r")
    for name, width in fields.items():
        record.floats(name, width)
    return result


def in_program(build, **fields):
    """Runs `build` in a program that has the fields, by name."""
    result = with_fields(**fields or {"x": 3, "y": 4})
    body = pdl.body.Body(result, "program @p")
    arguments = {field.name: body.argument(field.name, field.type)
                 for field in result.only_record().fields.values()}
    with pdl.body.building(body):
        return build(result, **arguments)
