// RUN: pdl-opt %s | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --nn-convert-element-type=type=f64 | FileCheck %s --check-prefix=WIDE

// Functions with symbol parameters.

module {
  nn.param @w1 : tensor<4x8xf32> init(#nn.xavier)
  nn.state @b1 : tensor<8xf32> init(#nn.zeros)
  nn.table @t : i64 -> tensor<8xf32> init(#nn.zeros)

  // CHECK: nn.func private @layer(%{{.*}}: tensor<?x4xf32>) with(@w: tensor<4x8xf32>, @b: tensor<8xf32>) -> tensor<?x8xf32> {
  // WIDE: nn.func private @layer(%{{.*}}: tensor<?x4xf64>) with(@w: tensor<4x8xf64>, @b: tensor<8xf64>) -> tensor<?x8xf64> {
  nn.func private @layer(%x: tensor<?x4xf32>) with(@w: tensor<4x8xf32>, @b: tensor<8xf32>) -> tensor<?x8xf32> {
    // CHECK: nn.linear %{{.*}}, @w, @b act(relu)
    %0 = nn.linear %x, @w, @b act(relu) : (tensor<?x4xf32>) -> tensor<?x8xf32>
    nn.return %0 : tensor<?x8xf32>
  }

  // A table, and a symbol that is passed on.
  // CHECK: nn.func private @both(%{{.*}}: tensor<?x1xi64>, %{{.*}}: tensor<?x4xf32>) with(@rows: i64 -> tensor<8xf32>, @v: tensor<4x8xf32>) -> (tensor<?x1x8xf32>, tensor<?x8xf32>) {
  // WIDE: with(@rows: i64 -> tensor<8xf64>, @v: tensor<4x8xf64>)
  nn.func private @both(%k: tensor<?x1xi64>, %x: tensor<?x4xf32>)
      with(@rows: i64 -> tensor<8xf32>, @v: tensor<4x8xf32>) -> (tensor<?x1x8xf32>, tensor<?x8xf32>) {
    %0 = nn.lookup @rows[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    // CHECK: nn.call @layer(%{{.*}}) with(@v, @b1) : (tensor<?x4xf32>) -> tensor<?x8xf32>
    %1 = nn.call @layer(%x) with(@v, @b1) : (tensor<?x4xf32>) -> tensor<?x8xf32>
    nn.return %0, %1 : tensor<?x1x8xf32>, tensor<?x8xf32>
  }

  // CHECK: nn.func private @values() with(@v: tensor<8xf32>) {
  nn.func private @values() with(@v: tensor<8xf32>) {
    %0 = nn.read @v : tensor<8xf32>
    nn.return
  }

  // CHECK: nn.func @outside(%{{.*}}: tensor<?x1xi64>, %{{.*}}: tensor<?x4xf32>) {
  nn.func @outside(%k: tensor<?x1xi64>, %x: tensor<?x4xf32>) {
    // CHECK: nn.call @both(%{{.*}}, %{{.*}}) with(@t, @w1) : (tensor<?x1xi64>, tensor<?x4xf32>) -> (tensor<?x1x8xf32>, tensor<?x8xf32>)
    %0:2 = nn.call @both(%k, %x) with(@t, @w1) : (tensor<?x1xi64>, tensor<?x4xf32>) -> (tensor<?x1x8xf32>, tensor<?x8xf32>)
    nn.call @values() with(@b1) : () -> ()
    nn.return
  }
}
