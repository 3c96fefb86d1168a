// RUN: pdl-opt %s --nn-lower-model --nn-autodiff | FileCheck %s

// The gradient of a scan is a scan in the other direction. Values of the first
// scan that the adjoint reads become its results. The gradient of a shared
// tensor is one product after the scan.

nn.record @r {
  nn.field @c : !nn.ragged<?x1x*xi64>
}
nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.zeros)
nn.param @u : tensor<3x3xf32> in @g init(#nn.zeros)
nn.param @v : tensor<1x1xf32> in @g init(#nn.zeros)

// CHECK: %[[U:.*]] = nn.read @u
// CHECK: %[[FIRST:.*]] = nn.scan %[[X:.*]] of %[[S:.*]] with(%[[U]]) {
// CHECK: ^bb0(%[[ROW:.*]]: tensor<?x3xf32>, %[[BEFORE:.*]]: tensor<?x3xf32>, %[[SHARED:.*]]: tensor<3x3xf32>):
// CHECK: %[[P:.*]] = nn.matmul %[[BEFORE]], %[[SHARED]]
// CHECK: %[[A:.*]] = nn.add %[[ROW]], %[[P]]
// CHECK: %[[AFTER:.*]] = nn.tanh %[[A]]
// CHECK: nn.yield %[[AFTER]] : tensor<?x3xf32>
// CHECK: %[[GIVEN:.*]] = nn.segment_repeat
// CHECK: %[[BACK:.*]]:2 = nn.scan %[[GIVEN]], %[[FIRST]] of %[[S]] from_end with(%[[U]]) {
// CHECK: ^bb0(%[[G:.*]]: tensor<?x3xf32>, %[[H:.*]]: tensor<?x3xf32>, %[[CARRY:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<3x3xf32>):
// CHECK: %[[C:.*]] = nn.add %[[G]], %[[CARRY]]
// CHECK: %[[D:.*]] = nn.mul %[[C]], %{{.*}}
// CHECK: %[[NEXT:.*]] = nn.matmul %[[D]], %[[W]] transposed
// CHECK: nn.yield %[[NEXT]], %[[D]] : tensor<?x3xf32>, tensor<?x3xf32>
// CHECK: %[[SHIFTED:.*]] = nn.segment_shift %[[FIRST]] of %[[S]] by 1
// CHECK: nn.matmul %[[SHIFTED]] transposed, %[[BACK]]#1
// CHECK: nn.pool_gradient{{.*}} from %[[BACK]]#1
nn.program @train reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>):
  %x = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x3xf32>
  %h = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %before: tensor<?x3xf32>):
    %0 = nn.linear %before, @u : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %1 = nn.add %row, %0 : tensor<?x3xf32>, tensor<?x3xf32>
    %2 = nn.tanh %1 : tensor<?x3xf32>
    nn.yield %2 : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  %s = nn.segment_sum %h of %c : (tensor<?x3xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
  %l = nn.reduce sum %s axes [2] : tensor<?x1x3xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// A row of rank 3 is several rows for a linear layer. The scans yield them as
// one.
// CHECK-LABEL: nn.program @matrices
// CHECK: nn.scan %{{.*}} of %{{.*}} with
// CHECK: %[[JOINED:.*]] = nn.reshape %{{.*}} : (tensor<?x2x3xf32>) -> tensor<?x3xf32>
// CHECK: %[[PRODUCT:.*]] = nn.matmul %[[JOINED]]
// CHECK: nn.reshape %[[PRODUCT]] : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
// CHECK: %[[APART:.*]] = nn.reshape %[[JOINED]] : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
// CHECK: nn.yield %{{.*}}, %[[APART]] : tensor<?x2x3xf32>, tensor<?x2x3xf32>
// CHECK: nn.scan
// CHECK: nn.yield
// CHECK: nn.matmul %{{.*}} transposed, %{{.*}} : tensor<?x3xf32>, tensor<?x3xf32>
nn.program @matrices reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>):
  %x = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x3xf32>
  %twice = nn.concat %x, %x axis 1 : tensor<?x3xf32>, tensor<?x3xf32>
  %rows = nn.reshape %twice : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  %h = nn.scan %rows of %c {
  ^bb0(%row: tensor<?x2x3xf32>, %before: tensor<?x2x3xf32>):
    %0 = nn.mul %row, %before : tensor<?x2x3xf32>, tensor<?x2x3xf32>
    %1 = nn.linear %0, @u : (tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
    %2 = nn.add %row, %1 : tensor<?x2x3xf32>, tensor<?x2x3xf32>
    nn.yield %2 : tensor<?x2x3xf32>
  } : tensor<?x2x3xf32>, !nn.ragged<?x1x*xi64>
  %s = nn.segment_sum %h of %c : (tensor<?x2x3xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x2x3xf32>
  %l = nn.reduce sum %s axes [2, 3] : tensor<?x1x2x3xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// If a result depends on nothing trained, its cotangent is not used, and there
// is no second scan.
// CHECK-LABEL: nn.program @only_rows
// CHECK: nn.scan
// CHECK-NOT: nn.scan
nn.program @only_rows reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>):
  %x = nn.segment_positions %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %u = nn.read @v : tensor<1x1xf32>
  %h:2 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x1xf32>, %before: tensor<?x1xf32>):
    %0 = nn.linear %before, @v : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %1 = nn.add %row, %0 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.yield %1, %row : tensor<?x1xf32>, tensor<?x1xf32>
  } : tensor<?x1xf32>, !nn.ragged<?x1x*xi64>
  %s = nn.segment_sum %h#1 of %c : (tensor<?x1xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
  %f = nn.reshape %s : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
  %l = nn.matmul %f, %u : tensor<?x1xf32>, tensor<1x1xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// If a state does not begin with zeros, the scan yields it. The cotangent of
// the first row's state is that of the initial state.
// CHECK-LABEL: nn.program @begun
// CHECK: %[[Q:.*]] = nn.read @q
// CHECK: %[[INIT:.*]] = nn.broadcast %[[Q]] like
// CHECK: %[[FIRST:.*]]:2 = nn.scan %{{.*}} of %[[S:.*]] init(%[[INIT]]) {
// CHECK: ^bb0(%{{.*}}: tensor<?x1xf32>, %[[BEFORE:.*]]: tensor<?x1xf32>):
// CHECK: %[[AFTER:.*]] = nn.mul %[[BEFORE]], %[[BEFORE]]
// CHECK: nn.yield %[[AFTER]], %[[BEFORE]]
// CHECK-NOT: nn.segment_shift
// CHECK: %[[BACK:.*]] = nn.scan %{{.*}}, %[[FIRST]]#1 of %[[S]] from_end {
// CHECK: %[[END:.*]] = nn.segment_pad %[[BACK]] of %[[S]] : (tensor<?x1xf32>, tensor<?xi32>) -> tensor<?x1x1x1xf32>
// CHECK: %[[OF_INIT:.*]] = nn.reshape %[[END]] : (tensor<?x1x1x1xf32>) -> tensor<?x1x1xf32>
// CHECK: nn.reduce sum %[[OF_INIT]] axes [0]
nn.param @q : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @begun reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>):
  %x = nn.segment_positions %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %q = nn.read @q : tensor<1x1xf32>
  %sizes = nn.segment_sizes %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
  %init = nn.broadcast %q like %sizes : (tensor<1x1xf32>, tensor<?x1x1xf32>) -> tensor<?x1x1xf32>
  %h = nn.scan %x of %c init(%init) {
  ^bb0(%row: tensor<?x1xf32>, %before: tensor<?x1xf32>):
    %0 = nn.mul %before, %before : tensor<?x1xf32>, tensor<?x1xf32>
    nn.yield %0 : tensor<?x1xf32>
  } : tensor<?x1xf32>, !nn.ragged<?x1x*xi64>, tensor<?x1x1xf32>
  %s = nn.segment_sum %h of %c : (tensor<?x1xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
  %l = nn.reshape %s : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}
