// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Activations, ops with numbers, and nn.select.

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.floor"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.rsqrt"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.softplus"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.swish"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.hard_sigmoid"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.leaky_relu (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.leaky_relu"(%x) <{slope = 0.1 : f64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.elu (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.elu"(%x) <{alpha = 1.0 : f64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.clamp (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.clamp"(%x) <{lower = 0.0 : f64, upper = 1.0 : f64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.pow (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.pow"(%x) <{exponent = 2.0 : f64}> : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has a slope that is not finite in 'f32' (C2)}}
  %0 = nn.leaky_relu %x slope 0x7FF0000000000000 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an alpha that is not finite in 'f32' (C2)}}
  %0 = nn.elu %x alpha 0x7FF8000000000000 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has an exponent that is not finite in 'f32' (C2)}}
  %0 = nn.pow %x exponent 0x7FF8000000000000 : tensor<?x4xf32>
  nn.return
}

// -----

// A number may be representable only in f64.
nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf64>) {
  %0 = nn.elu %y alpha 1.0e+308 : tensor<?x4xf64>
  // expected-error @+1 {{has an alpha that is not finite in 'f32' (C2)}}
  %1 = nn.elu %x alpha 1.0e+308 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has a bound that is NaN (C2)}}
  %0 = nn.clamp %x from 0x7FF8000000000000 to 1.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has a lower bound above its upper bound (C2); give the smaller number first}}
  %0 = nn.clamp %x from 2.0 to 1.0 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{has bounds that no number of 'f32' is within (C2)}}
  %0 = nn.clamp %x from 1.0e39 to 2.0e39 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<?x4xf32>, %a: tensor<?x4xf64>) {
  // nn.select (C1)
  // expected-error @+1 {{'nn.select' op mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  %0 = nn.select %c, %a, %a : tensor<?x4xf32>, tensor<?x4xf64>, tensor<?x4xf64>
  nn.return
}

// -----

nn.func private @f(%c: tensor<?x4xf32>, %a: tensor<4x4xf32>) {
  // nn.select (C2)
  // expected-error @+1 {{'nn.select' op cannot broadcast}}
  %0 = nn.select %c, %a, %a : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  nn.return
}
