// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Products.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// %t can reuse the memory of %y, because no op reads %y after the second
// product. %z cannot, because it reads %y.
// CHECK-LABEL: func.func @products_compute
// CHECK:         rt.gemm strict %{{.*}}, %{{.*}}, %{{.*}} post [] into %[[Y:[0-9]+]]
// CHECK:         rt.gemm strict %{{.*}}, %[[Y]], %{{.*}} transposed post [] into %[[Z:[0-9]+]]
// CHECK:         rt.gemm strict %{{.*}}, %[[Z]], %{{.*}} post [] into %[[Y]]
// CHECK:         rt.reduce_rows sum
// CHECK:         rt.program @products
// The size of a sample of %y and %z: 8 and 4 elements. These are no multiples
// of 64 bytes, so there is memory for 3 more samples, up to a multiple of 4.
// CHECK-SAME:    compute(@products_compute, <144 + 48 * batch>)
nn.program @products frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %m = nn.read @m : tensor<4x8xf32>
  %y = nn.matmul %x, %m : tensor<?x4xf32>, tensor<4x8xf32>
  %z = nn.matmul %y, %m transposed : tensor<?x8xf32>, tensor<4x8xf32>
  %t = nn.matmul %z, %m : tensor<?x4xf32>, tensor<4x8xf32>
  %o = nn.reduce sum %t axes [1] keep : tensor<?x8xf32>
  nn.return %o : tensor<?x1xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @i : tensor<?x2xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.metric @auc : #nn.auc<buckets = 64>
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.param @b : tensor<8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @product_compute
// CHECK:         rt.gemm strict {{.*}} post [#rt<post bias>, #rt<post relu>]
nn.program @product frozen reads(@r except [@y, @i, @c]) {
^bb0(%x: tensor<?x4xf32>):
  %m = nn.read @m : tensor<4x8xf32>
  %b = nn.read @b : tensor<8xf32>
  %0 = nn.gemm %x, %m bias(%b) post [bias, relu] : (tensor<?x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  nn.return %0 : tensor<?x8xf32>
}

}
