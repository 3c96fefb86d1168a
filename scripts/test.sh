#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all tests:
#   scripts/test.sh          all tests, sanitizers included
#   scripts/test.sh --quick  the release build's tests only
# Tests on data that may not be shipped read their folder from PDL_TEST_DATA
# and are skipped by name without it.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
for argument in "$@"; do
  case "$argument" in
  --quick) quick=true ;;
  *)
    echo "usage: scripts/test.sh [--quick]" >&2
    exit 2
    ;;
  esac
done

scripts/install_dependencies.sh

failed=0
run_preset() { # name
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1"
  ctest --preset "$1" -j "$(nproc)" || failed=1
}

run_preset release
if ! $quick; then
  # The runtime must build and pass without MLIR, and under the sanitizers.
  run_preset runtime
  run_preset asan
  run_preset tsan
fi
exit "$failed"
