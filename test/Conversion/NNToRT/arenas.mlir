// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse --remarks-filter=statistics 2> %t.counts | FileCheck %s
// RUN: grep "arena-b" %t.counts | FileCheck %s --check-prefix=COUNT

// Tensors of different sizes share memory: small ones use the memory of an
// earlier large one.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.param @wide : tensor<4x64xf32> init(#nn.zeros)
nn.param @narrow : tensor<64x16xf32> init(#nn.zeros)
nn.param @square : tensor<16x16xf32> init(#nn.zeros)

// 64 and 16 columns at the same time; later 16 and 16, which need no more
// memory.
// CHECK-LABEL: func.func @small_compute
// CHECK: %[[WIDE:.+]] = arith.constant 256 : index
// CHECK: rt.program @small
// CHECK-SAME: compute(@small_compute, <0 + 320 * batch>)
// COUNT: arena-bytes=320
// COUNT: arena-bound=320
nn.program @small frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %w = nn.read @wide : tensor<4x64xf32>
  %n = nn.read @narrow : tensor<64x16xf32>
  %s = nn.read @square : tensor<16x16xf32>
  %a = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x64xf32>
  %b = nn.matmul %a, %n : tensor<?x64xf32>, tensor<64x16xf32>
  %c = nn.matmul %b, %s : tensor<?x16xf32>, tensor<16x16xf32>
  %d = nn.matmul %c, %s : tensor<?x16xf32>, tensor<16x16xf32>
  %o = nn.reduce sum %d axes [1] keep : tensor<?x16xf32>
  nn.return %o : tensor<?x1xf32>
}
}

// -----

// Only one body of a condition runs, so both bodies use the same memory. The
// inputs and outputs of the condition exist all the time.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x16xf32>
}
nn.param @m : tensor<16x16xf32> init(#nn.zeros)
nn.state @on : tensor<1xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @choice_compute
// CHECK: rt.program @choice
// CHECK-SAME: compute(@choice_compute, <0 + 192 * batch>)
// COUNT: arena-bytes=192
// COUNT: arena-bound=192
nn.program @choice frozen reads(@r) {
^bb0(%x: tensor<?x16xf32>):
  %m = nn.read @m : tensor<16x16xf32>
  %on = nn.read @on : tensor<1xf32>
  %a = nn.matmul %x, %m : tensor<?x16xf32>, tensor<16x16xf32>
  %r = nn.if %on with(%a, %m) {
  ^bb0(%v: tensor<?x16xf32>, %w: tensor<16x16xf32>):
    %b = nn.matmul %v, %w : tensor<?x16xf32>, tensor<16x16xf32>
    nn.yield %b : tensor<?x16xf32>
  } else {
  ^bb0(%v: tensor<?x16xf32>, %w: tensor<16x16xf32>):
    %c = nn.matmul %v, %w transposed : tensor<?x16xf32>, tensor<16x16xf32>
    nn.yield %c : tensor<?x16xf32>
  } : tensor<1xf32>, tensor<?x16xf32>, tensor<16x16xf32>
  %o = nn.reduce sum %r axes [1] keep : tensor<?x16xf32>
  nn.return %o : tensor<?x1xf32>
}
}
