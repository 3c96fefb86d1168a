// RUN: pdl-opt %s --nn-set-compute-type=type=bf16 | FileCheck %s
// RUN: pdl-opt %s --nn-set-compute-type=type=f32 | FileCheck %s --check-prefix=SAME
// The compute type is part of what a checkpoint and a program must share, and
// of the program.
// RUN: pdl-opt %s --pdl-pipeline="to=merged compute=bf16" | FileCheck %s --check-prefix=PART
// RUN: pdl-opt %s --pdl-pipeline="to=buffers compute=bf16 numerics=strict" | FileCheck %s --check-prefix=CALL
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=sync compute=bf16" | FileCheck %s --check-prefix=ROLES

// RUN: pdl-opt %s --pdl-pipeline="to=buffers compute=bf16" | FileCheck %s --check-prefix=FAST
// RUN: pdl-opt %s --pdl-pipeline="to=merged compute=bf16x3" | FileCheck %s --check-prefix=PART3
// RUN: pdl-opt %s --pdl-pipeline="to=buffers compute=bf16x3 numerics=strict" | FileCheck %s --check-prefix=CALL3
// RUN: pdl-opt %s --pdl-pipeline="to=buffers compute=bf16x6" | FileCheck %s --check-prefix=FAST6

// CHECK: module attributes {nn.compute = "bf16"}
// SAME-NOT: nn.compute
// PART3: "large products" = "bf16x3"
// PART: training {
// PART: "large products" = "bf16"
// ROLES: module @trainer attributes {{{.*}}nn.compute = "bf16"
// ROLES: module @pserver attributes {{{.*}}nn.compute = "bf16"
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x16xf32>
  }
  nn.group @dense rule(@sgd) rate(0.1)
  nn.param @w : tensor<16x20xf32> in @dense init(#nn.xavier)
  nn.param @v : tensor<20x1xf32> in @dense init(#nn.xavier)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x16xf32>):
    %w = nn.read @w : tensor<16x20xf32>
    %v = nn.read @v : tensor<20x1xf32>
    // CALL: rt.gemm bf16 %
    // FAST: rt.gemm bf16_fast %
    // CALL3: rt.gemm bf16x3 %
    // FAST6: rt.gemm bf16x6_fast %
    %h = nn.matmul %x, %w : tensor<?x16xf32>, tensor<16x20xf32>
    // CALL: rt.gemm strict
    // CALL3: rt.gemm strict
    // FAST: rt.gemm fast
    // FAST6: rt.gemm fast
    %z = nn.matmul %h, %v : tensor<?x20xf32>, tensor<20x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
    nn.return
  }
}
