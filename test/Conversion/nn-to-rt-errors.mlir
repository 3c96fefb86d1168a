// RUN: pdl-opt %s --nn-to-rt --verify-diagnostics --split-input-file
// RUN: not pdl-opt %s --split-input-file --nn-to-rt=numerics=exact 2>&1 | FileCheck %s

// CHECK: nn-to-rt knows no numerics 'exact'; expected fast or strict

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  // expected-error@below {{has no stage: run nn-assign-stages first}}
  %0 = nn.exp %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  // expected-error@below {{has no lowering to a stage}}
  %0 = nn.flatten %x from 1 {stage = "compute"} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xi64>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xi64>):
  %ids = nn.reshape %x {stage = "prepare"} : (tensor<?x1xi64>) -> tensor<?xi64>
  // expected-error@below {{makes keys that no nn.pull takes}}
  %keys, %inverse, %key_splits, %occurrences = nn.unique %ids {stage = "prepare"}
}
