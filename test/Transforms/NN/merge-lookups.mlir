// RUN: pdl-opt %s --nn-lower-model --cse --nn-merge-lookups | FileCheck %s


module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    nn.field @a : !nn.ragged<?x1x*xi64>
    nn.field @b : tensor<?x2xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.zeros)
  nn.table @other : i64 -> tensor<3xf32> in @g init(#nn.zeros)

  // Three lookups of @t become one. The ids of the last one move up.
  // CHECK-LABEL: nn.program @predict
  // CHECK: ^bb0(%[[X:.*]]: tensor<?x1xf32>, %[[A:.*]]: tensor<?xi64>, %[[S:.*]]: tensor<?xi32>, %[[B:.*]]: tensor<?x2xi64>):
  // CHECK-DAG: %[[BUCKET:.*]] = nn.bucketize %[[X]]
  // CHECK-DAG: %[[B_FLAT:.*]] = nn.reshape %[[B]]
  // CHECK-DAG: %[[BUCKET_FLAT:.*]] = nn.reshape %[[BUCKET]]
  // CHECK: %[[KEYS:.*]], %[[INVERSE:.*]], %[[KS:.*]], %[[OCC:.*]] = nn.unique %[[A]], %[[B_FLAT]], %[[BUCKET_FLAT]]
  // CHECK-NEXT: %[[ROWS:.*]] = nn.pull @t[%[[KEYS]]]
  // CHECK-NEXT: %[[P:.*]]:3 = nn.pool %[[ROWS]][%[[INVERSE]], %[[KS]], %[[OCC]]] of (%[[A]] bags(%[[S]]) sum, %[[B_FLAT]] mean, %[[BUCKET_FLAT]] sum)
  // CHECK: nn.reshape %[[P]]#0 : (tensor<?x3xf32>) -> tensor<?x1x3xf32>
  // CHECK: nn.pull @other
  // CHECK: nn.reshape %[[P]]#1 : (tensor<?x3xf32>) -> tensor<?x2x3xf32>
  // CHECK: nn.reshape %[[P]]#2 : (tensor<?x3xf32>) -> tensor<?x1x3xf32>
  // CHECK-NOT: nn.pull @t
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>, %b: tensor<?x2xi64>):
    %0 = nn.lookup @t[%a] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
    %1 = nn.lookup @other[%b] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %2 = nn.lookup @t[%b] pool(mean) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %3 = nn.bucketize %x boundaries [0.0, 1.0] : tensor<?x1xf32>
    %4 = nn.lookup @t[%3] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    %5 = nn.concat %0, %1, %2, %4 axis 1 : tensor<?x1x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x3xf32>
    nn.return %5 : tensor<?x6x3xf32>
  }
  // Rows that no op reads are not looked up: not together with another lookup
  // of the table, one by one or pooled, and not alone.
  // CHECK-LABEL: nn.program @unread
  // CHECK: %[[KEYS:.*]], %{{.*}}, %{{.*}}, %{{.*}} = nn.unique %{{[^,]*$}}
  // CHECK-NEXT: nn.pull @t[%[[KEYS]]]
  // CHECK-NOT: nn.unique
  // CHECK-NOT: nn.pull
  nn.program @unread frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %a: !nn.ragged<?x1x*xi64>, %b: tensor<?x2xi64>):
    %0 = nn.lookup @t[%a] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x3xf32>
    %1 = nn.lookup @t[%b] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %2 = nn.lookup @t[%a] pool(mean) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
    %3 = nn.lookup @other[%b] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %4 = nn.flatten %3 from 1 : tensor<?x2x3xf32>
    nn.return %1 : tensor<?x2x3xf32>
  }
}
