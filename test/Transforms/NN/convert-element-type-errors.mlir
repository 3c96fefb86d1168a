// RUN: pdl-opt %s --nn-convert-element-type=type=f64 -split-input-file -verify-diagnostics

// expected-error @+1 {{is in phase merged; the element type changes in phase model only, before formulas are chosen for it}}
module attributes {nn.phase = "merged"} {
}

// -----

nn.func private @f() -> tensor<1xf32> {
  // expected-error @+1 {{holds its elements in a form that cannot be widened; write them as dense<...>}}
  %0 = nn.constant sparse<[[0]], [1.0]> : tensor<1xf32>
  nn.return %0 : tensor<1xf32>
}

// -----

// expected-error @+1 {{stores its rows in bf16, which is for elements of f32; leave that out of a test in f64}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) stored(bf16)
