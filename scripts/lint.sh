#!/usr/bin/env bash
# Runs clang-tidy on the given C++ files, or on all, which takes minutes per core.
#   scripts/lint.sh [FILE...]     (needs a build in build/, because files of the
#                                  compiler include headers of TableGen)
# LINT_JOBS: number of concurrent runs (default: the number of cores).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -f build/compile_commands.json ]; then
  echo "$0: build/compile_commands.json is missing; run cmake --preset release" \
    "and cmake --build --preset release first" >&2
  exit 1
fi
failed=0

# The include guard of a header is its path: without include/, and with PDL_ before folders that
# other projects could have as well.
while read -r header; do
  path=${header#include/}
  case "$header" in
  include/* | lib/*) guard= ;;
  *) guard=PDL_ ;;
  esac
  guard+=$(tr 'a-z./-' 'A-Z___' <<<"$path")
  if ! grep -qx "#ifndef $guard" "$header"; then
    echo "$header: the header guard should be $guard" >&2
    failed=1
  fi
done < <(find bench fuzz include integration_test lib tools unittests -name '*.h')

# clang-tidy cannot read a precompiled header of the compiler, so it gets the commands without it.
# The headers are then included as text.
mkdir -p build/lint
sed -e 's/ -Xclang -include-pch -Xclang [^ ]*//' -e 's/ -Winvalid-pch//' \
  build/compile_commands.json >build/lint/compile_commands.json

if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find bench fuzz integration_test lib tools unittests -name '*.cpp')
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${LINT_JOBS:-$(nproc)}" clang-tidy-22 -p build/lint --quiet ||
  failed=1
exit "$failed"
