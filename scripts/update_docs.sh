#!/usr/bin/env bash
# Writes what is generated in docs/: the references from the .td files, and what
# a reference model looks like after each phase. lit compares the result with
# what is committed (test/Docs).
#   scripts/update_docs.sh [FOLDER]     (default: docs; needs a build in build/)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$root/docs}
build=${PDL_BUILD:-$root/build}
tblgen=${PDL_TBLGEN:-/usr/lib/llvm-22/bin/mlir-tblgen}
include=(-I "$root/include" -I "$(dirname "$tblgen")/../include")

mkdir -p "$target/Reference" "$target/phases"

generate() { # kind td output
  "$tblgen" "${include[@]}" "$1" "$root/include/$2" ${4:-} -o "$target/Reference/$3"
}
generate -gen-dialect-doc pdlc/Dialect/NN/IR/NNOps.td NN.md -dialect=nn
generate -gen-dialect-doc pdlc/Dialect/PS/IR/PSOps.td PS.md -dialect=ps
generate -gen-dialect-doc pdlc/Dialect/RT/IR/RTOps.td RT.md -dialect=rt
generate -gen-pass-doc pdlc/Transforms/Passes.td PassesTransforms.md
generate -gen-pass-doc pdlc/Conversion/Passes.td PassesConversion.md
generate -gen-pass-doc pdlc/Interpreter/Passes.td PassesInterpreter.md

# The model after each phase that changes it: in mode `local`, `placed` and
# `roles` change nothing, so they show mode `sync`; `llvm` is longer than anybody
# reads.
for phase in model merged gradient fused split buffers tasks; do
  "$build/bin/pdl-opt" "$root/models/logistic_regression/logistic_regression.mlir" \
    --pdl-pipeline="to=$phase" \
    -o "$target/phases/$phase.mlir"
done
for phase in placed split roles; do
  "$build/bin/pdl-opt" "$root/models/logistic_regression/logistic_regression.mlir" \
    --pdl-pipeline="to=$phase mode=sync" \
    -o "$target/phases/sync_$phase.mlir"
done
