// RUN: pdl-opt %s --math-to-pdlabi --verify-diagnostics --split-input-file

func.func @f(%x: f32) -> f32 {
  // expected-error@+1 {{has no settled function on 'f32'}}
  %0 = math.powf %x, %x : f32
  return %0 : f32
}

// -----

// expected-error@+1 {{takes the name exp of a function that the program calls; rename it}}
nn.state @exp : tensor<1xf64> init(#nn.zeros)
func.func @f(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}
