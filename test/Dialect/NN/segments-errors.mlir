// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Rows of bags.

nn.func private @f(%h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_sum %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x3x3xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_max %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x3x3xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_mean %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_sqrtn %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_first %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, ...] (C1)}}
  %0 = nn.segment_last %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [b, slots, 1] (C1)}}
  %0 = nn.segment_sizes %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, ...] to [b, slots, length, ...] (C1)}}
  %0 = nn.segment_pad %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  nn.return
}

// -----

nn.func private @f(%q: tensor<?x3x4xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [b, slots, ...] to [ids, ...] (C1)}}
  %0 = nn.segment_repeat %q over %c : tensor<?x3x4xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%q: tensor<?x2x3xf32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{needs `like` to know how many rows its bags have (C2)}}
  %0 = nn.segment_repeat %q over %s : tensor<?x2x3xf32>, tensor<?xi32>
  nn.return
}

// -----

nn.func private @f(%q: tensor<?x2x3xf32>, %h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{has `like`, though its ragged operand says how many rows there are; leave it out (C2)}}
  %0 = nn.segment_repeat %q over %c like %h : tensor<?x2x3xf32>, !nn.ragged<?x2x*xi64>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%p: tensor<?x3x5x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [b, slots, length, ...] to [ids, ...] (C1)}}
  %0 = nn.segment_unpad %p over %c : tensor<?x3x5x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%p: tensor<?x2x5x3xf32>, %h: tensor<4x3xf32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{has as many rows as 'tensor<4x3xf32>'; expected a first dimension that counts ids (C2)}}
  %0 = nn.segment_unpad %p over %s like %h : tensor<?x2x5x3xf32>, tensor<?xi32>, tensor<4x3xf32>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, 1] (C1)}}
  %0 = nn.segment_positions %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%s: tensor<?xi32>) {
  // expected-error @+1 {{needs `like` to know how many rows its bags have (C2)}}
  %0 = nn.segment_positions %s : (tensor<?xi32>) -> tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected one type [ids, ...] (C1)}}
  %0 = nn.segment_softmax %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected one type [ids, ...] (C1)}}
  %0 = nn.segment_shift %h of %c by 1 : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<4x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected one type [ids, ...] (C1)}}
  %0 = nn.segment_reverse %h of %c : tensor<4x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{failed to verify that input and like have as many bags a sample (C1)}}
  %0 = "nn.same_bags"(%c, %d) : (!nn.ragged<?x2x*xi64>, !nn.ragged<?x1x*xi64>) -> !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f(%i: tensor<?x2xi64>) {
  // expected-error @+1 {{pools nothing of 'tensor<?x2xi64>', which has no bags; pool(sum) gives a row for each id (C2)}}
  %0 = nn.lookup @t[%i] pool(none) : (tensor<?x2xi64>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{gives 'tensor<?x2x4xf32>'; bags without pooling give [ids, width] (C2)}}
  %0 = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{unknown pooling 'max'; expected sum, mean, sqrtn or none}}
  %0 = nn.lookup @t[%c] pool(max) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{shifts by -2147483648; bags have less than 2^31 rows (C2)}}
  %0 = nn.segment_shift %h of %c by -2147483648 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}
