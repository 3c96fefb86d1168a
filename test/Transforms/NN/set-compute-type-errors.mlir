// RUN: pdl-opt %s --nn-set-compute-type=type=bf16x6 -split-input-file -verify-diagnostics
// RUN: echo "module {}" | not pdl-opt --nn-set-compute-type=type=f16 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: echo "module {}" | not pdl-opt --pdl-pipeline="to=model compute=bf16 element-type=f64" 2>&1 | FileCheck %s --check-prefix=WIDE

// TYPE: nn-set-compute-type knows no type 'f16'; expected f32, bf16, bf16x3 or bf16x6
// WIDE: computes products in bf16, which is for elements of f32; leave that out of a test in f64

// expected-error @+1 {{is in phase merged; what products are computed in is part of the fingerprint, and is chosen in phase model only}}
module attributes {nn.phase = "merged"} {
}

// -----

// expected-error @+1 {{has attribute 'nn.compute' with value "f16", which is not "bf16", "bf16x3" or "bf16x6"}}
module attributes {nn.compute = "f16"} {
}

// -----

module attributes {nn.phase = "fused"} {
  nn.record @r {
    nn.field @x : tensor<?x16xf64>
  }
  nn.param @w : tensor<16x20xf64> init(#nn.xavier)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x16xf64>):
    %w = nn.read @w : tensor<16x20xf64>
    // expected-error @+1 {{computes in 'bf16' on elements of 'f64'; only elements of f32 can be split (C3)}}
    %h = nn.gemm %x, %w post [] compute bf16 : (tensor<?x16xf64>, tensor<16x20xf64>) -> tensor<?x20xf64>
    nn.return %h : tensor<?x20xf64>
  }
}
