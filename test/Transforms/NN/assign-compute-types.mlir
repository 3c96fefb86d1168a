// RUN: pdl-opt %s --nn-assign-compute-types -split-input-file | FileCheck %s
// RUN: pdl-opt %s --nn-assign-compute-types -split-input-file --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT

// COUNT: products-rounded=3
// CHECK-LABEL: module attributes {nn.compute = "bf16"
module attributes {nn.phase = "gradient", nn.compute = "bf16"} {
  nn.record @r {
    nn.field @x : tensor<?x16xf32>
    nn.field @y : tensor<?x16xf64>
  }
  nn.param @w : tensor<16x20xf32> init(#nn.xavier)
  nn.param @v : tensor<16x20xf64> init(#nn.xavier)
  nn.param @n : tensor<16x15xf32> init(#nn.xavier)
  nn.param @b : tensor<20xf32> init(#nn.zeros)
  // CHECK: nn.program @predict
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x16xf32>, %y: tensor<?x16xf64>):
    %w = nn.read @w : tensor<16x20xf32>
    %v = nn.read @v : tensor<16x20xf64>
    %n = nn.read @n : tensor<16x15xf32>
    %b = nn.read @b : tensor<20xf32>
    // CHECK: %[[H:.*]] = nn.gemm %{{.*}}, %{{.*}} bias(%{{.*}}) post [bias, relu] compute bf16 : (tensor<?x16xf32>
    %h = nn.gemm %x, %w bias(%b) post [bias, relu] : (tensor<?x16xf32>, tensor<16x20xf32>, tensor<20xf32>) -> tensor<?x20xf32>
    // The gradients of the factors.
    // CHECK: nn.gemm %[[H]], %{{.*}} transposed post [] compute bf16 :
    %dx = nn.gemm %h, %w transposed post [] : (tensor<?x20xf32>, tensor<16x20xf32>) -> tensor<?x16xf32>
    // CHECK: nn.gemm %{{.*}} transposed, %[[H]] post [] compute bf16 :
    %dw = nn.gemm %x transposed, %h post [] : (tensor<?x16xf32>, tensor<?x20xf32>) -> tensor<16x20xf32>
    // Narrow products, forward and backward, and products of other types than
    // f32 keep their bits.
    // CHECK: %[[G:.*]] = nn.gemm %{{.*}}, %{{.*}} post [] : (tensor<?x16xf32>, tensor<16x15xf32>)
    %g = nn.gemm %x, %n post [] : (tensor<?x16xf32>, tensor<16x15xf32>) -> tensor<?x15xf32>
    // CHECK: nn.gemm %[[G]], %{{.*}} transposed post [] :
    %dg = nn.gemm %g, %n transposed post [] : (tensor<?x15xf32>, tensor<16x15xf32>) -> tensor<?x16xf32>
    // CHECK: nn.gemm %{{.*}} transposed, %[[G]] post [] :
    %dn = nn.gemm %x transposed, %g post [] : (tensor<?x16xf32>, tensor<?x15xf32>) -> tensor<16x15xf32>
    // CHECK: nn.gemm %{{.*}}, %{{.*}} post [] : (tensor<?x16xf64>
    %z = nn.gemm %y, %v post [] : (tensor<?x16xf64>, tensor<16x20xf64>) -> tensor<?x20xf64>
    nn.return %dx, %dg, %z : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x20xf64>
  }
}

// -----

// Without the attribute nothing changes.
// CHECK-LABEL: module attributes {nn.phase = "gradient"}
// CHECK-NOT: compute
module attributes {nn.phase = "gradient"} {
  nn.record @r {
    nn.field @x : tensor<?x16xf32>
  }
  nn.param @w : tensor<16x20xf32> init(#nn.xavier)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x16xf32>):
    %w = nn.read @w : tensor<16x20xf32>
    %h = nn.gemm %x, %w post [] : (tensor<?x16xf32>, tensor<16x20xf32>) -> tensor<?x20xf32>
    nn.return %h : tensor<?x20xf32>
  }
}
