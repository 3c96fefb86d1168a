// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Each elementwise op whose types the verifier compares, with one type that
// differs.

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.neg"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.abs"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.sign"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.exp"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.log"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.log1p"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.sqrt"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.tanh"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.sigmoid"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.relu"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.gelu"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.erf"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.gelu_erf"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.signed_log1p"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.stop_gradient"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.relu_gradient"(%x, %y) : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.sigmoid_cross_entropy"(%x, %y) : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.squared_error"(%x, %y) : (tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.add %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.sub %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.mul %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.div %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.max %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.min %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.equal %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.greater %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.greater_equal %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.greater_equal (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.greater_equal %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.less %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.less (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.less %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.less_equal %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.less_equal (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.less_equal %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<?x3xf32>' (C1)}}
  %0 = nn.not_equal %x, %y : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.not_equal (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.not_equal %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.add (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.add %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.div (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.div %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.equal (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.equal %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.greater (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.greater %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.max (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.max %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.min (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.min %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.mul (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.mul %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %y: tensor<3x4xf32>) {
  // nn.sub (C2)
  // expected-error @+1 {{cannot broadcast 'tensor<?x4xf32>' and 'tensor<3x4xf32>'}}
  %0 = nn.sub %x, %y : tensor<?x4xf32>, tensor<3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.sin"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.cos"(%x) : (tensor<?x4xf32>) -> tensor<?x3xf32>
  nn.return
}
