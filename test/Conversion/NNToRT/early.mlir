// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=sync" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=half-async" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=collective" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=hybrid" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=local" | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=async" | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=quorum" | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %s --pdl-pipeline="to=buffers mode=geo" | FileCheck %s --check-prefix=NONE

// The runtime is notified of each parameter's gradient directly after the op
// that writes it: that of the last layer before the first layer's is computed.
// It is not notified of rows, nor of a gradient that is copied at the end: that
// of @thrice is that of @twice.
// NONE-NOT: rt.gradient_ready

module @layers {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : tensor<?x2xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.param @first : tensor<8x16xf32> in @g init(#nn.xavier)
  nn.param @last : tensor<16x1xf32> in @g init(#nn.xavier)
  nn.param @twice : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @thrice : tensor<1xf32> in @g init(#nn.zeros)
  // CHECK-LABEL: func.func @train_compute(
  // CHECK-SAME: %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
  // CHECK: %[[WORKER:.*]] = rt.pointer {{ *}}worker[0] of %[[CONTEXT]]
  // CHECK: %[[TWICE:.*]] = rt.pointer {{ *}}gradient[3] of %[[CONTEXT]]
  // CHECK: %[[LAST:.*]] = rt.pointer {{ *}}gradient[2] of %[[CONTEXT]]
  // CHECK: %[[FIRST:.*]] = rt.pointer {{ *}}gradient[1] of %[[CONTEXT]]
  // CHECK-NOT: rt.gradient_ready
  // CHECK: rt.view %[[TWICE]]
  // CHECK-NOT: rt.gemm
  // CHECK: rt.gradient_ready 3 of %[[WORKER]]
  // CHECK: %[[OUT:.*]] = rt.view %[[LAST]]
  // CHECK-NEXT: rt.gemm {{.*}} into %[[OUT]]
  // CHECK-NEXT: rt.gradient_ready 2 of %[[WORKER]]
  // CHECK: %[[OUT:.*]] = rt.view %[[FIRST]]
  // CHECK-NEXT: rt.gemm {{.*}} into %[[OUT]]
  // CHECK-NEXT: rt.gradient_ready 1 of %[[WORKER]]
  // CHECK: rt.gemm
  // CHECK: rt.pool_gradient
  // CHECK: memref.copy
  // CHECK-NOT: rt.gradient_ready
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: tensor<?x2xi64>):
    %e = nn.lookup @emb[%c] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x4xf32>
    %x = nn.flatten %e from 1 : tensor<?x2x4xf32>
    %h = nn.linear %x, @first act(relu) : (tensor<?x8xf32>) -> tensor<?x16xf32>
    %z = nn.linear %h, @last, @twice : (tensor<?x16xf32>) -> tensor<?x1xf32>
    %b = nn.read @thrice : tensor<1xf32>
    %s = nn.add %z, %b : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.sigmoid_cross_entropy %s, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
