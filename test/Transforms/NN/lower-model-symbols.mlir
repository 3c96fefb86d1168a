// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// Each call of a function with symbol parameters is replaced by its body with
// the symbols of the call, even if the function passes them on.

module {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
    nn.field @k : tensor<?x1xi64>
  }
  nn.param @w1 : tensor<4x4xf32> init(#nn.xavier)
  nn.param @w2 : tensor<4x4xf32> init(#nn.xavier)
  nn.param @b : tensor<4xf32> init(#nn.zeros)
  nn.table @t1 : i64 -> tensor<4xf32> init(#nn.zeros)
  nn.table @t2 : i64 -> tensor<4xf32> init(#nn.zeros)

  nn.func private @layer(%x: tensor<?x4xf32>) with(@w: tensor<4x4xf32>) -> tensor<?x4xf32> {
    %0 = nn.linear %x, @w, @b act(relu) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    nn.return %0 : tensor<?x4xf32>
  }
  // A function has its own names for its symbols: this @w is the other
  // function's @v.
  nn.func private @expert(%x: tensor<?x4xf32>, %k: tensor<?x1xi64>)
      with(@v: tensor<4x4xf32>, @w: tensor<4x4xf32>, @t: i64 -> tensor<4xf32>) -> tensor<?x4xf32> {
    %0 = nn.call @layer(%x) with(@v) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = nn.call @layer(%0) with(@w) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %2 = nn.lookup @t[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x4xf32>
    %3 = nn.reshape %2 : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    %4 = nn.add %1, %3 : tensor<?x4xf32>, tensor<?x4xf32>
    nn.return %4 : tensor<?x4xf32>
  }

  // CHECK-NOT: nn.func
  // CHECK-LABEL: nn.program @p
  // CHECK-NOT: nn.call
  // CHECK: %[[W1:.*]] = nn.read @w1
  // CHECK-NEXT: %[[B:.*]] = nn.read @b
  // CHECK-NEXT: %[[W2:.*]] = nn.read @w2
  // CHECK-NOT: nn.read
  // CHECK: nn.matmul %{{.*}}, %[[W1]]
  // CHECK: nn.matmul %{{.*}}, %[[W2]]
  // CHECK: nn.pull @t1
  // CHECK: nn.matmul %{{.*}}, %[[W2]]
  // CHECK: nn.matmul %{{.*}}, %[[W1]]
  // CHECK: nn.pull @t2
  nn.program @p frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %k: tensor<?x1xi64>):
    %0 = nn.call @expert(%x, %k) with(@w1, @w2, @t1) : (tensor<?x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
    %1 = nn.call @expert(%0, %k) with(@w2, @w1, @t2) : (tensor<?x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
    // CHECK: nn.return %{{.*}} as "second" : tensor<?x4xf32>
    nn.return %1 as "second" : tensor<?x4xf32>
  }
}
