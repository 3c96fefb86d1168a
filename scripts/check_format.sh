#!/usr/bin/env bash
# Fails if a C++ file is not formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z '*.cpp' '*.h' | xargs -0 clang-format-22 --dry-run --Werror
