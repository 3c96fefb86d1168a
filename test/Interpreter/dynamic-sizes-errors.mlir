// Dynamic dimensions that agree by type may differ in a batch.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.safetensors c.values I64 3 1,2,3 c.splits I32 3 0,2,3 x F32 2,1 1,2
// RUN: not pdl-opt %s --nn-interpret="program=predict data=%t.safetensors outputs=-" -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: 'nn.add' op meets dimensions of 3 and 2 elements in this batch
module @m attributes {nn.phase = "merged"} {
  nn.record @sample {
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @x : tensor<?x1xf32>
  }
  nn.table @emb : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@sample) {
  ^bb0(%ids: tensor<?xi64>, %splits: tensor<?xi32>, %x: tensor<?x1xf32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    %rows = nn.pull @emb[%keys] : tensor<?x1xf32>
    %s = nn.add %rows, %x : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %s : tensor<?x1xf32>
  }
}
