#!/usr/bin/env bash
# Runs clang-tidy on the C++ files given, or on all: minutes a core.
#   scripts/lint.sh [FILE...]     (needs a build in build/)
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'lib/*.cpp' 'tools/*.cpp' 'unittests/*.cpp' 'bench/*.cpp')
else
  files=("$@")
fi
# Precompiled headers of another compiler mode are no use to clang-tidy.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-22 -p build --quiet
