#!/usr/bin/env bash
# Writes the generated files: in docs/, the references from the .td files, and
# reference models after each phase; the ops and the standard library of python/pdl.
# lit compares the result with the committed files (test/Docs).
#   scripts/update_docs.sh [FOLDER]     (needs a build in build/; writes all files to
#                                        FOLDER, by default to their own places)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$root/docs}
builder=${1:-$root/python/pdl}
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

"$root/scripts/op_obligations.py" "$build/bin/pdl-opt" "$target/Reference/NN.md" \
  > "$target/Obligations.md"

# Written through another file, so that the old ops stay if the generator fails.
"$root/scripts/generate_builder.py" "$build/bin/pdl-opt" "$target/Reference/NN.md" \
  > "$builder/ops.py.new"
mv "$builder/ops.py.new" "$builder/ops.py"
"$root/scripts/generate_standard.py" > "$builder/standard.py.new"
mv "$builder/standard.py.new" "$builder/standard.py"

"$root/scripts/flag_reference.py" "$build" "$root/models/wide_deep/wide_deep.mlir" \
  > "$target/Reference/CommandLine.md"
"$root/scripts/metric_reference.py" "$build" "$root/models/wide_deep/wide_deep.mlir" \
  > "$target/Reference/Metrics.md"

# Writes models after each phase that changes them, each into its own folder: one model without
# products and one with them. In mode `local`, phases `placed` and `roles` change nothing, so they
# are shown in mode `sync`. Phase `llvm` is too long to read.
show() { # model phase mode output
  "$build/bin/pdl-opt" "$root/models/$1/$1.mlir" \
    --pdl-pipeline="to=$2 mode=$3" -o "$target/phases/$1/$4.mlir"
}
for model in logistic_regression ctr_dnn; do
  mkdir -p "$target/phases/$model"
  for phase in model merged gradient fused split buffers tasks; do
    show "$model" "$phase" local "$phase"
  done
  for phase in placed split roles; do
    show "$model" "$phase" sync "sync_$phase"
  done
done
