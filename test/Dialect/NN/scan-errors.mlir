// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Recurrence over rows of bags.

nn.func private @f(%c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{needs an input: its rows are what the body goes over (C1)}}
  %0 = nn.scan of %c {
  ^bb0(%h: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<4x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{takes rows 'tensor<4x3xf32>'; expected [ids, ...] (C1)}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<4x3xf32>, %h: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : tensor<4x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{hands 'tensor<?x3xf32>' to each row as it is; rows are inputs, which stand before `of` (C1)}}
  %0 = nn.scan %x of %c with (%x) {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>, %all: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>, tensor<?x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %m: tensor<3x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{has a body with 1 arguments; expected a row of each of 1 inputs, the states, and 1 tensors of `with` (C2)}}
  %0 = nn.scan %x of %c with (%m) {
  ^bb0(%row: tensor<?x3xf32>):
    nn.yield %row : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>, tensor<3x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{has a body that takes 'tensor<?x4xf32>' as argument #0; expected 'tensor<?x3xf32>' (C2)}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x4xf32>, %h: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{has a state 'tensor<3xf32>'; expected a row [?, ...] (C2)}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<3xf32>):
    nn.yield %row : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{has a body that does not end in nn.yield (C3)}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    llvm.unreachable
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>, %g: tensor<?x3xf32>):
    // nn.scan (C3)
    // expected-error @+1 {{yields 1 values of a scan with 2 states; expected one for each state, then others (C3)}}
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %y: tensor<?x4xf32>, %c: !nn.ragged<?x1x*xi64>) {
  %0 = nn.scan %x, %y of %c {
  ^bb0(%row: tensor<?x3xf32>, %other: tensor<?x4xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C3)
    // expected-error @+1 {{yields 'tensor<?x4xf32>' for a state 'tensor<?x3xf32>' (C3)}}
    nn.yield %other : tensor<?x4xf32>
  } : tensor<?x3xf32>, tensor<?x4xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %m: tensor<3x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  %0:2 = nn.scan %x of %c with (%m) {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>, %shared: tensor<3x3xf32>):
    // nn.scan (C3)
    // expected-error @+1 {{yields 'tensor<3x3xf32>'; expected a row [?, ...] (C3)}}
    nn.yield %h, %shared : tensor<?x3xf32>, tensor<3x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>, tensor<3x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C4)
    // expected-error @+1 {{which the body of a scan does not; put it before or after the scan (C4)}}
    %sum = nn.reduce sum %row axes [0] : tensor<?x3xf32>
    %after = nn.add %h, %sum : tensor<?x3xf32>, tensor<3xf32>
    nn.yield %after : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C4)
    // expected-error @+1 {{does more than compute, which the body of a scan does not; put it before or after the scan (C4)}}
    nn.observe @auc(%row, %h) : tensor<?x3xf32>
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C4)
    // expected-error @+1 {{draws for each sample, which the body of a scan does not; put it before or after the scan (C4)}}
    %1 = nn.dropout %row rate(0.5) : tensor<?x3xf32>
    nn.yield %1 : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C4)
    // expected-error @+1 {{mixes the samples of a batch, which the body of a scan does not; put it before or after the scan (C4)}}
    %1 = nn.rotate %row by 1 : tensor<?x3xf32>
    nn.yield %1 : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{expected [ids, 3 n] to [ids, n] (C1)}}
  %0 = nn.gru %x of %c, @u : tensor<?x4xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{names @u, which is neither nn.param nor nn.state (C1)}}
  %0 = nn.gru %x of %c, @u : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{expected [ids, 4 n] to [ids, n] (C1)}}
  %0 = nn.lstm %x of %c, @u : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.state @u : tensor<1x4xf32> init(#nn.zeros)
nn.state @b : tensor<3xf32> init(#nn.zeros)

nn.func private @f(%x: tensor<?x4xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{names @b of type 'tensor<3xf32>'; expected 'tensor<4xf32>' (C1)}}
  %0 = nn.lstm %x of %c, @u, @b : tensor<?x4xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    %k = nn.constant dense<1.0> : tensor<1xf32>
    // expected-error @+1 {{has bodies of its own, which the body of a scan does not; put it before or after the scan (C4)}}
    %a = nn.if %k with(%row) {
    ^bb0(%r: tensor<?x3xf32>):
      nn.yield %r : tensor<?x3xf32>
    } else {
    ^bb0(%r: tensor<?x3xf32>):
      nn.yield %r : tensor<?x3xf32>
    } : tensor<1xf32>, tensor<?x3xf32>
    nn.yield %a : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the scan is here}}
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C4)
    // expected-error @+1 {{measures the loss of a sample, which the body of a scan does not; put it before or after the scan (C4)}}
    %l = nn.squared_error %row, %h : tensor<?x3xf32>
    nn.yield %l : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

// expected-note @+1 {{the value comes from here}}
nn.func private @f(%x: tensor<?x3xf32>, %w: tensor<3x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // expected-error @+1 {{uses a value from outside of the scan's body; hand it to the body by `with (...)` (nn.scan, C5)}}
    %p = nn.matmul %row, %w : tensor<?x3xf32>, tensor<3x3xf32>
    nn.yield %p : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-note @+1 {{the value comes from here}}
  %t = nn.tanh %x : tensor<?x3xf32>
  %0 = nn.scan %x of %c {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    // nn.scan (C5)
    // expected-error @+1 {{make it an input of the scan, in front of `of`, if it has the rows of its bags (nn.scan, C5)}}
    %p = nn.add %row, %t : tensor<?x3xf32>, tensor<?x3xf32>
    nn.yield %p : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %f: tensor<?x2x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{has 2 tensors of `init` and 1 states; expected one for each (C6)}}
  %0 = nn.scan %x of %c init(%f, %f) {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x3xf32>, %f: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{begins with 'tensor<?x3xf32>' for a state 'tensor<?x3xf32>'; expected 'tensor<?x1x3xf32>', which nn.segment_last gives, and nn.reshape of one tensor a sample (C6)}}
  %0 = nn.scan %x of %c init(%f) {
  ^bb0(%row: tensor<?x3xf32>, %h: tensor<?x3xf32>):
    nn.yield %h : tensor<?x3xf32>
  } : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>, tensor<?x3xf32>
  nn.return
}

// -----

nn.state @u : tensor<1x4xf32> init(#nn.zeros)

nn.func private @f(%x: tensor<?x4xf32>, %f: tensor<?x1x1xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{has 1 tensors of `init` and 2 states; expected one for each (C2)}}
  %0 = nn.lstm %x of %c, @u init(%f) : tensor<?x4xf32>, !nn.ragged<?x1x*xi64>, tensor<?x1x1xf32>
  nn.return
}

// -----

nn.state @u : tensor<1x3xf32> init(#nn.zeros)

nn.func private @f(%x: tensor<?x3xf32>, %f: tensor<?x2x1xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{begins with 'tensor<?x2x1xf32>' for a state 'tensor<?x1xf32>'; expected 'tensor<?x1x1xf32>', which nn.segment_last gives, and nn.reshape of one tensor a sample (C2)}}
  %0 = nn.gru %x of %c, @u init(%f) : tensor<?x3xf32>, !nn.ragged<?x1x*xi64>, tensor<?x2x1xf32>
  nn.return
}
