// RUN: pdl-opt %s --math-to-pdlabi --verify-diagnostics

func.func @f(%x: f32) -> f32 {
  // expected-error@+1 {{has no settled function on 'f32'}}
  %0 = math.cos %x : f32
  return %0 : f32
}
