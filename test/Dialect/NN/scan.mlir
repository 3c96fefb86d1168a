// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Recurrence over rows of bags.

nn.state @u : tensor<3x9xf32> init(#nn.zeros)
nn.state @v : tensor<3x12xf32> init(#nn.zeros)
nn.state @b : tensor<9xf32> init(#nn.zeros)

// CHECK-LABEL: nn.func private @scans
nn.func private @scans(%x: tensor<?x9xf32>, %y: tensor<?x12xf32>, %m: tensor<3x3xf32>, %c: !nn.ragged<?x2x*xi64>, %s: tensor<?xi32>, %f: tensor<?x2x3xf32>) {
  // CHECK: nn.gru %{{.*}} of %{{.*}}, @u, @b : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>
  %0 = nn.gru %x of %c, @u, @b : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.lstm %{{.*}} of %{{.*}}, @v from_end : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>
  %1 = nn.lstm %y of %c, @v from_end : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.scan %{{.*}}, %{{.*}} of %{{.*}} from_end with(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>, %[[H:.*]]: tensor<?x3xf32>, %[[M:.*]]: tensor<3x3xf32>):
  // CHECK-NEXT: nn.matmul %[[H]], %[[M]] : tensor<?x3xf32>, tensor<3x3xf32>
  // CHECK: nn.yield %{{.*}}, %[[A]] : tensor<?x3xf32>, tensor<?x3xf32>
  // CHECK: } : tensor<?x3xf32>, tensor<?x3xf32>, !nn.ragged<?x2x*xi64>, tensor<3x3xf32>
  %2:2 = nn.scan %0, %1 of %c from_end with (%m) {
  ^bb0(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %h: tensor<?x3xf32>, %shared: tensor<3x3xf32>):
    %p = nn.matmul %h, %shared : tensor<?x3xf32>, tensor<3x3xf32>
    %q = nn.add %p, %b : tensor<?x3xf32>, tensor<?x3xf32>
    nn.yield %q, %a : tensor<?x3xf32>, tensor<?x3xf32>
  } : tensor<?x3xf32>, tensor<?x3xf32>, !nn.ragged<?x2x*xi64>, tensor<3x3xf32>
  // CHECK: nn.scan %{{.*}} of %{{.*}} {
  // CHECK: } : tensor<?x3xf32>, tensor<?xi32>
  %3 = nn.scan %0 of %s {
  ^bb0(%a: tensor<?x3xf32>):
    nn.yield %a : tensor<?x3xf32>
  } : tensor<?x3xf32>, tensor<?xi32>
  // CHECK: nn.gru %{{.*}} of %{{.*}}, @u from_end init(%{{.*}}) : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>
  %4 = nn.gru %x of %c, @u from_end init(%f) : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>
  // CHECK: nn.lstm %{{.*}} of %{{.*}}, @v init(%[[F:.*]], %[[F]]) :
  %5 = nn.lstm %y of %c, @v init(%f, %f) : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  // CHECK: nn.scan %{{.*}} of %{{.*}} init(%{{.*}}) with(%{{.*}}) {
  // CHECK: } : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<3x3xf32>
  %6 = nn.scan %0 of %c init(%f) with (%m) {
  ^bb0(%a: tensor<?x3xf32>, %h: tensor<?x3xf32>, %shared: tensor<3x3xf32>):
    %p = nn.matmul %h, %shared : tensor<?x3xf32>, tensor<3x3xf32>
    nn.yield %p : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<3x3xf32>
  nn.return
}
