// RUN: pdl-opt %s --nn-lower-model -split-input-file | FileCheck %s

// Labels of cross entropies that a program trains are observed, each value
// once, with the weights of the loss.
// CHECK-LABEL: module @several
// CHECK: nn.metric @labels.range : #nn.bucket_error<buckets = 2>
// CHECK-NOT: nn.metric
// CHECK: nn.program @train
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<?x3xf32>, %[[Y:.+]]: tensor<?x1xf32>, %[[WIDE:.+]]: tensor<?x3xf32>, %[[W:.+]]: tensor<?x1xf32>):
// CHECK: nn.observe @labels.range(%[[Y]], %[[Y]]) weight %[[W]]
// CHECK: %[[ONE:.+]] = nn.constant dense<1.000000e+00>
// CHECK: %[[REST:.+]] = nn.sub %[[ONE]], %[[WIDE]]
// CHECK: %[[LARGER:.+]] = nn.max %[[WIDE]], %[[REST]]
// CHECK: %[[LARGEST:.+]] = nn.reduce max %[[LARGER]] axes [1] keep
// CHECK: nn.observe @labels.range(%[[LARGEST]], %[[LARGEST]]) weight %[[W]]
// CHECK: nn.minimize
// CHECK: nn.program @evaluate
// CHECK-NOT: nn.observe
module @several {
  nn.record @r {
    nn.field @x : tensor<?x3xf32>
    nn.field @y : tensor<?x1xf32>
    nn.field @wide : tensor<?x3xf32>
    nn.field @w : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @v : tensor<3x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x3xf32>, %y: tensor<?x1xf32>, %wide: tensor<?x3xf32>, %w: tensor<?x1xf32>):
    %z = nn.linear %x, @v : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    %0 = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    %1 = nn.log_loss %p, %y : tensor<?x1xf32>
    %2 = nn.sigmoid_cross_entropy %x, %wide : tensor<?x3xf32>
    %3 = nn.reduce sum %2 axes [1] keep : tensor<?x3xf32>
    %4 = nn.add %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
    %5 = nn.add %4, %3 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %5 weight %w over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r except [@wide, @w]) {
  ^bb0(%x: tensor<?x3xf32>, %y: tensor<?x1xf32>):
    %z = nn.linear %x, @v : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %0 = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.return %0 : tensor<?x1xf32>
  }
}

// -----

// Other losses accept any label.
// CHECK-LABEL: module @others
// CHECK-NOT: labels.range
module @others {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @v : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @v : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %0 = nn.squared_error %z, %x : tensor<?x1xf32>
    nn.minimize %0 over [@g] : tensor<?x1xf32>
  }
}
