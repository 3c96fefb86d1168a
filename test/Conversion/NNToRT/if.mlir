// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=fast" --cse | FileCheck %s

// The bodies of a condition are blocks of the stage, each with its own loops
// and products.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x3xf32>
}
nn.state @u : tensor<3x3xf32> init(#nn.zeros)
nn.state @late : tensor<1xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @choice_compute
// CHECK: %[[C:.*]] = memref.load
// CHECK: %[[TRUE:.*]] = arith.cmpf une, %[[C]], %cst
// CHECK: cf.cond_br %[[TRUE]], ^[[FIRST:.*]], ^[[SECOND:.*]]
// CHECK: ^[[FIRST]]:
// CHECK: rt.gemm fast
// CHECK-NOT: scf.parallel
// CHECK: memref.copy
// CHECK: cf.br ^[[BEHIND:.*]]
// CHECK: ^[[SECOND]]:
// CHECK-NOT: rt.gemm
// CHECK: scf.parallel
// CHECK: memref.copy
// CHECK: cf.br ^[[BEHIND]]
// CHECK: ^[[BEHIND]]:
nn.program @choice frozen reads(@r) {
^bb0(%x: tensor<?x3xf32>):
  %u = nn.read @u : tensor<3x3xf32>
  %c = nn.read @late : tensor<1xf32>
  %y = nn.if %c with(%x, %u) {
  ^bb0(%rows: tensor<?x3xf32>, %w: tensor<3x3xf32>):
    %0 = nn.matmul %rows, %w : tensor<?x3xf32>, tensor<3x3xf32>
    nn.yield %0 : tensor<?x3xf32>
  } else {
  ^bb0(%rows: tensor<?x3xf32>, %w: tensor<3x3xf32>):
    %0 = nn.exp %rows : tensor<?x3xf32>
    nn.yield %0 : tensor<?x3xf32>
  } : tensor<1xf32>, tensor<?x3xf32>, tensor<3x3xf32>
  nn.return %y : tensor<?x3xf32>
}
}
