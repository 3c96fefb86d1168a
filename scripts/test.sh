#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all tests:
#   scripts/test.sh            all tests of a landing, those of memory included
#                              (address and undefined-behavior sanitizers)
#   scripts/test.sh --quick    those of the release build only, without those that
#                              take a minute and more
#   scripts/test.sh --nightly  what takes long and changes seldom as well: the
#                              thread sanitizer, pointers' arithmetic, every
#                              float, and each file with its own includes
# Tests on data that may not be shipped read their folder from PDL_TEST_DATA
# and are skipped by name without it.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
nightly=false
for argument in "$@"; do
  case "$argument" in
  --quick) quick=true ;;
  --nightly) nightly=true ;;
  *)
    echo "usage: scripts/test.sh [--quick | --nightly]" >&2
    exit 2
    ;;
  esac
done

scripts/install_dependencies.sh

failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
run_preset() { # name build-folder
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1"
  local seldom=(-LE nightly)
  ! $quick || seldom=(-LE 'nightly|landing')
  ! $nightly || seldom=()
  # Twice as many as there are cores: tests of several processes wait for each other.
  ctest --preset "$1" -j "$((2 * $(nproc)))" "${seldom[@]}" </dev/null ||
    note_failures "$1" "$2/Testing/Temporary/LastTest.log"
}

# Keeps what the failed tests of a preset printed last, for the end of the run:
# several presets' output lies between a failure and who looks for it.
note_failures() { # name log
  awk -v preset="$1" '
    / Testing: / { name = $0; sub(/.* Testing: /, "", name); count = 0 }
    { lines[count++] = $0 }
    /^Test (Failed|Timeout)|\*\*\*/ {
      print "--- failed, preset " preset ": " name
      for (i = count > 40 ? count - 40 : 0; i < count; ++i) print lines[i]
    }' "$2" >>"$failures"
  # A run that failed is reported even if its log has no such line.
  [ -s "$failures" ] || echo "--- failed, preset $1: see $2" >>"$failures"
}

run_preset release build
# The runtime's tests, without MLIR and under the sanitizers.
if $nightly; then
  run_preset asan-nightly build-asan-nightly
  run_preset tsan build-tsan
elif ! $quick; then
  run_preset asan build-asan
fi
if $nightly; then
  # The tests of this preset are those of the others.
  cmake --preset runtime >/dev/null
  cmake --build --preset runtime --target PDLRuntime PDLRuntimeGrpc PDLRuntimeOneDNN \
    PDLServerMain PDLTrainerMain pdl-checkpoint pdl-launch
fi
if [ -s "$failures" ]; then
  echo
  echo "What failed, again:"
  cat "$failures"
  exit 1
fi
