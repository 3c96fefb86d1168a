// RUN: pdl-opt %s --nn-to-rt | FileCheck %s

// Tensors whose size is the number of ids of a field have memory in the arena,
// because readers count the ids before a stage runs.

module attributes {nn.phase = "split"} {
nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @c : !nn.ragged<?x1x*xi64>
}
nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)

// Two lists of 4 * (ids + 1) bytes, one after the other: 8 bytes for each id.
// There are at most 15 more ids, so that both lists begin at a cache line, and
// a line of 64 bytes for the constant of each.
// CHECK-LABEL: func.func @predict_prepare
// CHECK:         rt.program @predict frozen reads(@r [@x, @c]) lookups [@emb]
// CHECK-SAME:      prepare(@predict_prepare, <248 + 0 * batch, ids(0, 8), keys(0), occurrences(0)>)
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
  %single = nn.single_bags %ids {stage = #nn.stage<prepare>}
  %crossed, %bags = nn.cross_bags (%ids bags(%single), %ids bags(%single)) {stage = #nn.stage<prepare>}
  %keys, %inverse, %key_splits, %occurrences = nn.unique %crossed {stage = #nn.stage<prepare>}
  %rows = nn.pull @emb[%keys] {stage = #nn.stage<prepare>} : tensor<?x4xf32>
  nn.return %x : tensor<?x1xf32>
}
}
