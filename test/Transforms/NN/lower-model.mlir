// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// CHECK-LABEL: module @m attributes {nn.phase = "merged"}
module @m {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
    nn.field @c : !nn.ragged<?x2x*xi64>
    nn.field @k : tensor<?x2xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<4x6xf32> in @g init(#nn.xavier)
  nn.param @b : tensor<6xf32> in @g init(#nn.zeros)

  // CHECK-NOT: nn.func
  nn.func private @inner(%x: tensor<?x4xf32>) -> tensor<?x6xf32> {
    %0 = nn.linear %x, @w, @b act(relu) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    nn.return %0 : tensor<?x6xf32>
  }
  nn.func private @outer(%x: tensor<?x4xf32>) -> tensor<?x6xf32> {
    %0 = nn.call @inner(%x) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    %1 = nn.linear %x, @w act(sigmoid) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    %2 = nn.add %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
    nn.return %2 : tensor<?x6xf32>
  }

  // CHECK: nn.program @predict frozen reads(@r) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x4xf32>, %[[IDS:.*]]: tensor<?xi64>, %[[SPLITS:.*]]: tensor<?xi32>, %[[K:.*]]: tensor<?x2xi64>):
  // Each symbol is read once, at entry.
  // CHECK-NEXT: %[[W:.*]] = nn.read @w : tensor<4x6xf32>
  // CHECK-NEXT: %[[B:.*]] = nn.read @b : tensor<6xf32>
  // CHECK: %[[PRODUCT:.*]] = nn.matmul %[[X]], %[[W]]
  // CHECK: %[[SUM:.*]] = nn.add %[[PRODUCT]], %[[B]]
  // CHECK: nn.relu %[[SUM]]
  // CHECK: %[[SECOND:.*]] = nn.matmul %[[X]], %[[W]]
  // CHECK: nn.sigmoid %[[SECOND]]
  // The cross of bags and a tensor of ids.
  // CHECK: %[[FLAT:.*]] = nn.reshape %[[K]] : (tensor<?x2xi64>) -> tensor<?xi64>
  // CHECK: %[[SINGLE:.*]] = nn.single_bags %[[FLAT]]
  // CHECK: %[[CROSSED:.*]], %[[CROSSED_SPLITS:.*]] = nn.cross_bags (%[[IDS]] bags(%[[SPLITS]]), %[[FLAT]] bags(%[[SINGLE]])) salt(5)
  // CHECK: %[[KEYS:.*]], %[[INVERSE:.*]], %[[KEY_SPLITS:.*]], %[[OCCURRENCES:.*]] = nn.unique %[[CROSSED]]
  // CHECK: %[[ROWS:.*]] = nn.pull @t[%[[KEYS]]] : tensor<?x3xf32>
  // CHECK: %[[POOLED:.*]] = nn.pool %[[ROWS]][%[[INVERSE]], %[[KEY_SPLITS]], %[[OCCURRENCES]]] of (%[[CROSSED]] bags(%[[CROSSED_SPLITS]]) mean)
  // CHECK: %[[RESULT:.*]] = nn.reshape %[[POOLED]] : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  // CHECK: nn.reshape %[[RESULT]] : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %c: !nn.ragged<?x2x*xi64>, %k: tensor<?x2xi64>):
    %0 = nn.call @outer(%x) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    %1 = nn.cross %c, %k salt(5) : !nn.ragged<?x2x*xi64>, tensor<?x2xi64>
    %2 = nn.lookup @t[%1] pool(mean) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %3 = nn.flatten %2 from 1 : tensor<?x2x3xf32>
    %4 = nn.add %0, %3 : tensor<?x6xf32>, tensor<?x6xf32>
    nn.return %4 : tensor<?x6xf32>
  }

  // An activation is the name of any elementwise op with one operand.
  // CHECK-LABEL: nn.program @activations
  nn.program @activations frozen reads(@r except [@c, @k]) {
  ^bb0(%x: tensor<?x4xf32>):
    // CHECK: %[[A:.*]] = nn.matmul
    // CHECK-NEXT: nn.gelu %[[A]]
    %0 = nn.linear %x, @w act(gelu) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    // CHECK: %[[B:.*]] = nn.matmul
    // CHECK-NEXT: nn.add %{{.*}}, %[[B]]
    %1 = nn.linear %x, @w act(none) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    %2 = nn.add %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
    nn.return %2 : tensor<?x6xf32>
  }
}
