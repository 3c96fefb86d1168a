// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Ops that mix the samples of a batch.

nn.func private @f(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.rotate' op rotates 'tensor<4x3xf32>', which has no batch; expected a dynamic first dimension (C1)}}
  %0 = nn.rotate %x by 1 : tensor<4x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{rotates by 9223372036854775807; expected at most 2147483647 places either way (C2)}}
  %0 = nn.rotate %x by 9223372036854775807 : tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %v: tensor<?x3xf32>) {
  // expected-error @+1 {{'nn.in_batch_softmax' op scores 'tensor<?x4xf32>' by 'tensor<?x3xf32>'; expected one type [b, width] (C1)}}
  %0 = nn.in_batch_softmax %u, %v : tensor<?x4xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>) {
  // expected-error @+1 {{'nn.in_batch_softmax' op corrects scores by 'tensor<?x4xf32>'; expected one number of 'f32' an item, [b, 1] (C2)}}
  %0 = nn.in_batch_softmax %u, %u correction %u : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %i: tensor<?x2xi64>) {
  // expected-error @+1 {{'nn.in_batch_softmax' op has 'tensor<?x2xi64>' for ids; expected one an item, [b, 1] (C2)}}
  %0 = nn.in_batch_softmax %u, %u ids %i : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xi64>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x2x4xf32>) {
  // expected-error @+1 {{'nn.in_batch_log_sum_exp' op scores 'tensor<?x2x4xf32>' by 'tensor<?x2x4xf32>'; expected one type [b, width] (C1)}}
  %0 = nn.in_batch_log_sum_exp %u, %u : tensor<?x2x4xf32>, tensor<?x2x4xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %q: tensor<?x1xf64>) {
  // nn.in_batch_log_sum_exp (C2)
  // expected-error @+1 {{'nn.in_batch_log_sum_exp' op mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  %0 = nn.in_batch_log_sum_exp %u, %u correction %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf64>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %v: tensor<?x3xf32>, %c: tensor<?x1xf32>) {
  // expected-error @+1 {{'nn.in_batch_gradient' op scores 'tensor<?x4xf32>' by 'tensor<?x3xf32>'; expected one type [b, width] (C1)}}
  %0 = nn.in_batch_gradient of users %u, %v sums %c from %c : tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %c: tensor<?x1xf32>, %i: tensor<?xi64>) {
  // expected-error @+1 {{'nn.in_batch_gradient' op has 'tensor<?xi64>' for ids; expected one an item, [b, 1] (C2)}}
  %0 = nn.in_batch_gradient of users %u, %u ids %i sums %c from %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?xi64>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%u: tensor<?x4xf32>, %c: tensor<?x1xf32>) {
  // expected-error @+1 {{'nn.in_batch_gradient' op takes 'tensor<?x4xf32>' of sums and cotangents; expected [b, 1] of 'f32' (C3)}}
  %0 = nn.in_batch_gradient of items %u, %u sums %c from %u : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>
  nn.return
}
