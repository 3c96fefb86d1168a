// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Random numbers of samples.

nn.func private @f(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.dropout' op draws for 'tensor<4x3xf32>'; expected a dynamic first dimension (C1)}}
  %0 = nn.dropout %x rate(0.5) : tensor<4x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{'nn.dropout' op has the rate 1.000000e+00; expected a probability that is below 1 (C2)}}
  %0 = nn.dropout %x rate(1.0) : tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{'nn.dropout' op has the rate -1.000000e-01; expected a probability that is below 1 (C2)}}
  %0 = nn.dropout %x rate(-0.1) : tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws 0 ids a sample; expected 1 to 65536 (C1)}}
  %0 = nn.sample 0 from 0 below 10 uniform : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws ids from 10 below 10, which are none (C2)}}
  %0 = nn.sample 5 from 10 below 10 uniform : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws log_uniform from 281474976710657 ids; expected at most 2^48 (C2)}}
  %0 = nn.sample 5 from 0 below 281474976710657 log_uniform : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws by counts, but has none; write counts(dense<[...]> : tensor<9xi64>) power(...), a count for each id (C3)}}
  %0 = nn.sample 5 from 1 below 10 counts : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws log_uniform, which knows no counts; write counts(...) (C3)}}
  %0 = nn.sample 5 from 1 below 3 log_uniform(dense<[1, 2]> : tensor<2xi64>) power(1.0) : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op has counts tensor<2xi64> for 3 ids; expected one for each, at most 2^24 (C3)}}
  %0 = nn.sample 5 from 1 below 4 counts(dense<[1, 2]> : tensor<2xi64>) power(1.0) : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op has the count -2 for id 2; expected how often it occurs (C3)}}
  %0 = nn.sample 5 from 1 below 3 counts(dense<[1, -2]> : tensor<2xi64>) power(1.0) : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws by counts that are all 0; expected one above (C3)}}
  %0 = nn.sample 5 from 1 below 3 counts(dense<0> : tensor<2xi64>) power(1.0) : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{'nn.sample' op draws by counts to the power -1.000000e+00; expected 0 to 8 (C4)}}
  %0 = nn.sample 5 from 1 below 3 counts(dense<1> : tensor<2xi64>) power(-1.0) : tensor<?x5xi64>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?x5xi64>) {
  // expected-error @+1 {{'nn.log_probability' op has counts tensor<2xi64> for 3 ids; expected one for each, at most 2^24 (C3)}}
  %0 = nn.log_probability %i from 1 below 4 counts(dense<[1, 2]> : tensor<2xi64>) power(1.0) : (tensor<?x5xi64>) -> tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?x5xi64>) {
  // expected-error @+1 {{'nn.log_probability' op draws by counts to the power 9.000000e+00; expected 0 to 8 (C4)}}
  %0 = nn.log_probability %i from 1 below 3 counts(dense<1> : tensor<2xi64>) power(9.0) : (tensor<?x5xi64>) -> tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?x5xi64>) {
  // expected-error @+1 {{'nn.log_probability' op gives 'tensor<?x4xf32>' for 'tensor<?x5xi64>'; expected one shape with a dynamic first dimension (C1)}}
  %0 = nn.log_probability %i from 0 below 10 uniform : (tensor<?x5xi64>) -> tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?x5xi64>) {
  // expected-error @+1 {{'nn.log_probability' op draws ids from 3 below 2, which are none (C2)}}
  %0 = nn.log_probability %i from 3 below 2 uniform : (tensor<?x5xi64>) -> tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%i: tensor<?x1xi64>, %n: tensor<?x5xi64>) {
  // expected-error @+1 {{'nn.accidental_hits' op compares 'tensor<?x1xi64>' with 'tensor<?x5xi64>' into 'tensor<?x1xf32>'; expected own ids [b, n], drawn ones [b, m] and a result [b, m] (C1)}}
  %0 = nn.accidental_hits %i, %n : (tensor<?x1xi64>, tensor<?x5xi64>) -> tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x2xf32>, %n: tensor<?x5xf32>) {
  // expected-error @+1 {{'nn.sampled_softmax' op compares 'tensor<?x2xf32>' with 'tensor<?x5xf32>'; expected logits [b, 1] and [b, n] (C1)}}
  %0 = nn.sampled_softmax %z, %n correction %z, %n : tensor<?x2xf32>, tensor<?x5xf32>, tensor<?x2xf32>, tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x1xf32>, %n: tensor<?x5xf32>) {
  // expected-error @+1 {{'nn.sampled_softmax' op corrects 'tensor<?x1xf32>' and 'tensor<?x5xf32>' by 'tensor<?x1xf32>' and 'tensor<?x1xf32>'; expected the same types (C2)}}
  %0 = nn.sampled_softmax %z, %n correction %z, %z : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x2xf32>, %n: tensor<?x5xf32>) {
  // expected-error @+1 {{'nn.nce_loss' op compares 'tensor<?x2xf32>' with 'tensor<?x5xf32>'; expected logits [b, 1] and [b, n] (C1)}}
  %0 = nn.nce_loss %z, %n correction %z, %n : tensor<?x2xf32>, tensor<?x5xf32>, tensor<?x2xf32>, tensor<?x5xf32>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x1xf32>, %n: tensor<?x5xf32>) {
  // expected-error @+1 {{'nn.nce_loss' op has hits 'tensor<?x1xf32>' of logits 'tensor<?x5xf32>'; expected one type (C2)}}
  %0 = nn.nce_loss %z, %n correction %z, %n hits %z : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x1xf32>, %n: tensor<?x5xf64>) {
  // nn.negative_sampling (C1)
  // expected-error @+1 {{'nn.negative_sampling' op mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  %0 = nn.negative_sampling %z, %n : tensor<?x1xf32>, tensor<?x5xf64>
  nn.return
}

// -----

nn.func private @f(%z: tensor<?x1xf32>, %n: tensor<?x5xf32>) {
  // expected-error @+1 {{'nn.negative_sampling' op has hits 'tensor<?x1xf32>' of logits 'tensor<?x5xf32>'; expected one type (C2)}}
  %0 = nn.negative_sampling %z, %n hits %z : tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>
  nn.return
}
