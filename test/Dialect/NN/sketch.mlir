// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// A click model as a user would write it.

// CHECK-LABEL: module @ctr_dnn
module @ctr_dnn {
  // CHECK: nn.record @criteo {
  nn.record @criteo {
    // CHECK-NEXT: nn.field @label : tensor<?x1xf32>
    nn.field @label : tensor<?x1xf32>
    // CHECK-NEXT: nn.field @dense : tensor<?x13xf32> missing(0.000000e+00 : f64)
    nn.field @dense : tensor<?x13xf32> missing(0.0 : f64)
    // CHECK-NEXT: nn.field @cat : !nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>)
    nn.field @cat   : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
  }
  // CHECK: nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-1.000000e-02, 1.000000e-02>)
  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.01, 0.01>)
  // CHECK: nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<400xf32>     in @dense init(#nn.zeros)
  nn.param @w2 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<400xf32>     in @dense init(#nn.zeros)
  nn.param @w3 : tensor<400x1xf32>   in @dense init(#nn.normal<0.0, 0.05>)
  nn.param @b3 : tensor<1xf32>       in @dense init(#nn.constant<-1.0>)
  // CHECK: nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @auc : #nn.auc<buckets = 4096>
  // CHECK: nn.clip @joint : global_norm(1.000000e+01)
  nn.clip  @joint : global_norm(10.0)
  // CHECK: nn.clip @each : norm(1.000000e+00)
  nn.clip  @each : norm(1.0)
  // CHECK: nn.clip @elements : value(5.000000e-01)
  nn.clip  @elements : value(0.5)
  // CHECK: nn.group @dense rule(@adam) rate(1.000000e-03) decay(#nn.l2<{{.*}}>) clip(@joint)
  nn.group @dense  rule(@adam) rate(1.0e-3) decay(#nn.l2<1.0e-6>) clip(@joint)
  // CHECK: nn.group @sparse rule(@adam) rate(1.000000e-03) untouched( lazy)
  nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)

  // CHECK: nn.func private @logit(%{{.*}}: tensor<?x13xf32>, %{{.*}}: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
  nn.func private @logit(%d: tensor<?x13xf32>, %c: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
    // CHECK: nn.lookup @emb[%{{.*}}] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %e  = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    // CHECK: nn.flatten %{{.*}} from 1 : tensor<?x26x10xf32>
    %f  = nn.flatten %e from 1 : tensor<?x26x10xf32>
    // CHECK: nn.signed_log1p %{{.*}} : tensor<?x13xf32>
    %n  = nn.signed_log1p %d : tensor<?x13xf32>
    // CHECK: nn.concat %{{.*}}, %{{.*}} axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %x  = nn.concat %f, %n axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    // CHECK: nn.linear %{{.*}}, @w1, @b1 act({{ ?}}relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    %h1 = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>
    // CHECK: nn.linear %{{.*}}, @w3, @b3 : (tensor<?x400xf32>) -> tensor<?x1xf32>
    %z  = nn.linear %h2, @w3, @b3 : (tensor<?x400xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  // CHECK: nn.program @train reads(@criteo) {
  nn.program @train reads(@criteo) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x13xf32>, %c: !nn.ragged<?x26x*xi64>):
    // CHECK: nn.call @logit
    %z = nn.call @logit(%d, %c) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    // CHECK: nn.sigmoid_cross_entropy %{{.*}}, %{{.*}} : tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    // CHECK: nn.observe @auc(%{{.*}}, %{{.*}}) : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    // CHECK: nn.minimize %{{.*}} over [@dense, @sparse] : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
  // CHECK: nn.program @predict frozen reads(@criteo except @label) {
  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%d: tensor<?x13xf32>, %c: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%d, %c) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    // CHECK: nn.return %{{.*}} : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
