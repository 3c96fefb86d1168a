// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Products of samples, and other orders of elements.

nn.func private @f(%a: tensor<?x3x4xf32>, %b: tensor<?x2x4x2xf32>) {
  // expected-error @+1 {{whose dimensions before the last two differ (C2); reshape one of them, or give one matrix on the right}}
  %0 = nn.matmul %a, %b : tensor<?x3x4xf32>, tensor<?x2x4x2xf32>
  nn.return
}

// -----

nn.func private @f(%a: tensor<?x3x4xf32>, %w: tensor<3x2xf32>) {
  // expected-error @+1 {{whose dimensions before the last two differ (C2)}}
  %0 = nn.matmul %a transposed, %w : tensor<?x3x4xf32>, tensor<3x2xf32>
  nn.return
}

// -----

nn.func private @f(%a: tensor<?x3x4xf32>, %b: tensor<?x3x2xf32>) {
  // expected-error @+1 {{'nn.matmul' op cannot multiply 'tensor<?x3x4xf32>' by 'tensor<?x3x2xf32>' (C1)}}
  %0 = nn.matmul %a, %b : tensor<?x3x4xf32>, tensor<?x3x2xf32>
  nn.return
}

// -----

nn.func private @f(%a: tensor<?x3x4xf32>, %b: tensor<?x3x2xf32>) {
  // expected-error @+1 {{'nn.batch_matmul' op cannot multiply 'tensor<?x3x4xf32>' by 'tensor<?x3x2xf32>' (C1)}}
  %0 = nn.batch_matmul %a, %b : tensor<?x3x4xf32>, tensor<?x3x2xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3x4xf32>) {
  // expected-error @+1 {{permutes 'tensor<?x3x4xf32>' by [0, 2, 2]; name each of its dimensions once (C1)}}
  %0 = nn.transpose %x permutation [0, 2, 2] : tensor<?x3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3x4xf32>) {
  // expected-error @+1 {{moves the batch of 'tensor<?x3x4xf32>'; the first dimension stays where it is (C2)}}
  %0 = nn.transpose %x permutation [1, 0, 2] : tensor<?x3x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{takes from axis 0 of 'tensor<?x4xf32>'; expected a static dimension (C1)}}
  %0 = nn.take %x axis 0 at [0] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{takes nothing (C2)}}
  %0 = nn.take %x axis 1 at [] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{takes index 4 of 4; -1 gives zero (C2)}}
  %0 = nn.take %x axis 1 at [1, 4] : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{takes index -2 of 4; -1 gives zero (C2)}}
  %0 = nn.take %x axis 1 at [-2] : tensor<?x4xf32>
  nn.return
}
