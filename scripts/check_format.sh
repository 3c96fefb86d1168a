#!/usr/bin/env bash
# Fails if a C++ file is not formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "$0")/.."
# Works without Git, so that an unpacked archive can be checked too.
find bench fuzz include integration_test lib test tools unittests \
  \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-22 --dry-run --Werror
