#!/usr/bin/env bash
# Installs missing packages, builds everything, and runs all tests:
#   scripts/test.sh            all tests of a landing, also with the address and
#                              undefined-behavior sanitizers
#   scripts/test.sh --quick    only tests of the release build that take less than
#                              a minute
#   scripts/test.sh --nightly  also tests that take long: the thread sanitizer,
#                              pointer arithmetic, every f32 number, and each file
#                              with its own includes
# Tests on data that may not be shipped read the folder in PDL_TEST_DATA. Without it,
# they are skipped, and the output names them.
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

# Nightly runs also read Parquet files. Other runs do if Arrow is already there.
if $nightly; then
  scripts/install_dependencies.sh --with-arrow
else
  scripts/install_dependencies.sh
fi

failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
run_preset() { # name build-folder
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1"
  local seldom=(-LE nightly)
  ! $quick || seldom=(-LE 'nightly|landing')
  ! $nightly || seldom=()
  # Twice as many tests as cores, because tests of several processes wait for each other.
  ctest --preset "$1" -j "$((2 * $(nproc)))" "${seldom[@]}" </dev/null ||
    note_failures "$1" "$2/Testing/Temporary"
}

# Stores the last output of a preset's failed tests for the end of the run. Otherwise the output of
# later presets would hide it.
note_failures() { # name folder-of-logs
  awk -v preset="$1" '
    FILENAME ~ /LastTestsFailed/ { sub(/^[0-9]+:/, ""); failed[$0]; next }
    /^[0-9]+\/[0-9]+ Testing: / { name = $0; sub(/[^:]*: /, "", name); count = 0 }
    { lines[count++] = $0 }
    /^<end of output>$/ && name in failed {
      named[name]
      print "--- failed, preset " preset ": " name
      first = count > 40 ? count - 40 : 0
      # The names of failed cases may stand far above the end.
      for (i = 0; i < first; ++i) if (lines[i] ~ /^(FAIL|ERROR): |^Traceback/) print lines[i]
      for (i = first; i < count; ++i) print lines[i]
    }
    END {
      for (name in failed)
        if (!(name in named)) print "--- failed, preset " preset ": " name ", without output"
    }' "$2/LastTestsFailed.log" "$2/LastTest.log" >>"$failures" || true
  # A run that failed is reported even if its log has no such line.
  grep -q "^--- failed, preset $1: " "$failures" ||
    echo "--- failed, preset $1: see $2/LastTest.log" >>"$failures"
}

run_preset release build
# Runs the runtime's tests, without MLIR and with sanitizers.
if $nightly; then
  run_preset asan-nightly build-asan-nightly
  run_preset tsan build-tsan
elif ! $quick; then
  run_preset asan build-asan
fi
if $nightly; then
  # The tests of these presets are those of the other presets, so they are only built.
  cmake --preset runtime >/dev/null
  cmake --build --preset runtime --target PDLRuntime PDLRuntimeGrpc PDLRuntimeOneDNN \
    PDLServerMain PDLTrainerMain pdl-checkpoint pdl-launch
  cmake --preset compiler >/dev/null
  cmake --build --preset compiler
fi
if [ -s "$failures" ]; then
  echo
  echo "What failed, again:"
  cat "$failures"
  grep '^--- failed' "$failures"
  exit 1
fi
