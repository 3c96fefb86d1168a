// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// A condition that selects one of two ways to compute values.

nn.func private @f(%c: tensor<?x1xf32>, %x: tensor<?x3xf32>) {
  // expected-error @+1 {{has a condition of type 'tensor<?x1xf32>'; expected one number, such as tensor<1x'f32'>; samples choose one by one with nn.select (C1)}}
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x3xf32>):
    nn.yield %y : tensor<?x3xf32>
  } else {
  ^bb0(%y: tensor<?x3xf32>):
    nn.yield %y : tensor<?x3xf32>
  } : tensor<?x1xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<2xf32>) {
  // expected-error @+1 {{has a condition of type 'tensor<2xf32>'; expected one number}}
  %0 = nn.if %c {
    %a = nn.constant dense<1.0> : tensor<f32>
    nn.yield %a : tensor<f32>
  } else {
    %a = nn.constant dense<2.0> : tensor<f32>
    nn.yield %a : tensor<f32>
  } : tensor<2xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x3xf32>) {
  // expected-error @+1 {{has a body that takes (); expected the types of the tensors of `with`, ('tensor<?x3xf32>') (C2)}}
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x3xf32>):
    nn.yield %y : tensor<?x3xf32>
  } else {
    %a = nn.constant dense<2.0> : tensor<f32>
    nn.yield %a : tensor<f32>
  } : tensor<1xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<1xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{has results with as many rows as the batch, and no tensor of `with` that has them (C3)}}
  %0 = nn.if %c with(%m) {
  ^bb0(%y: tensor<3xf32>):
    %a = nn.sample 3 from 0 below 9 uniform : tensor<?x3xi64>
    %b = nn.cast %a : (tensor<?x3xi64>) -> tensor<?x3xf32>
    nn.yield %b : tensor<?x3xf32>
  } else {
  ^bb0(%y: tensor<3xf32>):
    %a = nn.sample 3 from 0 below 9 uniform : tensor<?x3xi64>
    %b = nn.cast %a : (tensor<?x3xi64>) -> tensor<?x3xf32>
    nn.yield %b : tensor<?x3xf32>
  } : tensor<1xf32>, tensor<3xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x3xf32>) {
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x3xf32>):
    nn.yield %y : tensor<?x3xf32>
  } else {
  ^bb0(%y: tensor<?x3xf32>):
    // expected-error @+1 {{yields ('tensor<?x3xf32>', 'tensor<?x3xf32>') of an nn.if with results ('tensor<?x3xf32>') (C3)}}
    nn.yield %y, %y : tensor<?x3xf32>, tensor<?x3xf32>
  } : tensor<1xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x3xf32>) {
  // expected-note @+1 {{the choice is here}}
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x3xf32>):
    // expected-error @+1 {{draws for each sample, which the body of a choice does not; put it before or after the choice (C4)}}
    %d = nn.dropout %y rate(0.5) : tensor<?x3xf32>
    nn.yield %d : tensor<?x3xf32>
  } else {
  ^bb0(%y: tensor<?x3xf32>):
    nn.yield %y : tensor<?x3xf32>
  } : tensor<1xf32>, tensor<?x3xf32>
  nn.return
}

// -----

nn.metric @m : #nn.mean
nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x1xf32>) {
  // expected-note @+1 {{the choice is here}}
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x1xf32>):
    nn.yield %y : tensor<?x1xf32>
  } else {
  ^bb0(%y: tensor<?x1xf32>):
    // expected-error @+1 {{does more than compute, which the body}}
    nn.observe @m(%y) : tensor<?x1xf32>
    nn.yield %y : tensor<?x1xf32>
  } : tensor<1xf32>, tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x1xf32>) {
  // expected-note @+1 {{the value comes from here}}
  %t = nn.tanh %x : tensor<?x1xf32>
  %0 = nn.if %c with(%x) {
  ^bb0(%y: tensor<?x1xf32>):
    nn.yield %y : tensor<?x1xf32>
  } else {
  ^bb0(%y: tensor<?x1xf32>):
    // nn.if (C5)
    // expected-error @+1 {{uses a value from outside of the choice's body; hand it to both bodies by `with(...)` (nn.if, C5)}}
    %z = nn.add %y, %t : tensor<?x1xf32>, tensor<?x1xf32>
    nn.yield %z : tensor<?x1xf32>
  } : tensor<1xf32>, tensor<?x1xf32>
  nn.return
}
