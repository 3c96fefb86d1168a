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
  %0 = nn.flatten %x from 1 {stage = #nn.stage<compute>} : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xi64>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xi64>):
  %ids = nn.reshape %x {stage = #nn.stage<prepare>} : (tensor<?x1xi64>) -> tensor<?xi64>
  // expected-error@below {{makes keys that no nn.pull takes}}
  %keys, %inverse, %key_splits, %occurrences = nn.unique %ids {stage = #nn.stage<prepare>}
}

// -----

// Half of the batches would have half a row.
nn.record @r {
  nn.field @x : tensor<?x3xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x3xf32>):
  // expected-error@below {{joins rows of 'tensor<?x3xf32>' to 'tensor<?x6xf32>', whose number is not always a multiple (C2)}}
  %0 = nn.reshape %x {stage = #nn.stage<compute>} : (tensor<?x3xf32>) -> tensor<?x6xf32>
  %1 = nn.exp %0 {stage = #nn.stage<compute>} : tensor<?x6xf32>
  nn.return %1 : tensor<?x6xf32>
}

// -----

// The number of ids that a stage makes is known at run time, and not when its
// arena is planned.
module attributes {nn.phase = "split"} {
nn.record @r {
  nn.field @c : !nn.ragged<?x1x*xi64>
}
nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)
nn.program @predict frozen reads(@r) {
^bb0(%ids: tensor<?xi64>, %splits: tensor<?xi32>):
  %made, %made_splits = nn.cross_bags (%ids bags(%splits), %ids bags(%splits)) {stage = #nn.stage<prepare>}
  // expected-error@below {{is as large as a number of ids that only the stage itself counts, for which no room is planned}}
  %single = nn.single_bags %made {stage = #nn.stage<prepare>}
  %crossed, %bags = nn.cross_bags (%made bags(%single), %made bags(%single)) {stage = #nn.stage<prepare>}
  %keys, %inverse, %key_splits, %occurrences = nn.unique %crossed {stage = #nn.stage<prepare>}
  %rows = nn.pull @emb[%keys] {stage = #nn.stage<prepare>} : tensor<?x4xf32>
}
}

// -----

nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // expected-error@below {{has a value that is not dense}}
  %c = nn.constant dense_resource<numbers> : tensor<2xf32> {stage = #nn.stage<compute>}
  %0 = nn.add %x, %c {stage = #nn.stage<compute>} : tensor<?x2xf32>, tensor<2xf32>
  nn.return %0 : tensor<?x2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F00000040"
    }
  }
#-}
