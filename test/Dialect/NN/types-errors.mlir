// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Conversions between ids and numbers, weights of ids, and rows that begin with
// counts.

nn.func private @f(%c: tensor<?x2xi64>) {
  // nn.id_arithmetic (C1)
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "nn.id_arithmetic"(%c) <{kind = #nn<id_operation add>, number = 1 : i64}> : (tensor<?x2xi64>) -> tensor<?x1xi64>
  nn.return
}

// -----

nn.func private @f(%c: tensor<?x2xi64>) {
  // expected-error @+1 {{divides by 0; expected a number above 0 (C2)}}
  %0 = nn.id_arithmetic remainder %c with 0 : tensor<?x2xi64>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{divides by -7; expected a number above 0 (C2)}}
  %0 = nn.id_arithmetic quotient %c with -7 : !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{makes 'f32' to 'f32', which it is; leave the cast out (C1)}}
  %0 = nn.cast %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{makes bags of 'i64' to rows of 'i64'; rows are floats (C1)}}
  %0 = nn.cast %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xi64>
  nn.return
}

// -----

nn.func private @f(%w: !nn.ragged<?x2x*xf32>) {
  // expected-error @+1 {{makes bags of 'f32' to rows of 'i64'; rows are floats (C1)}}
  %0 = nn.cast %w : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xi64>
  nn.return
}

// -----

nn.func private @f(%w: !nn.ragged<?x2x*xf32>) {
  // expected-error @+1 {{must be tensor or bags of 64-bit ids, but got '!nn.ragged<?x2x*xf32>'}}
  %0 = nn.id_arithmetic add %w with 7 : !nn.ragged<?x2x*xf32>
  nn.return
}

// -----

// expected-error @+1 {{a ragged type holds i64 ids, or numbers that are f32 or f64, not 'f16'}}
nn.func private @f(%w: !nn.ragged<?x2x*xf16>) {
  nn.return
}

// -----

nn.record @r {
  // expected-error @+1 {{hashes a numeric field; hash(...) needs ids (C2)}}
  nn.field @w : !nn.ragged<?x1x*xf32> hash(#nn.hash<xxh64>)
}

// -----

nn.record @r {
  // expected-error @+1 {{has missing(...) that is not a finite number (C3)}}
  nn.field @w : !nn.ragged<?x1x*xf32> missing("none")
}

// -----

nn.func private @f(%c: tensor<?x2xi64>) {
  // expected-error @+1 {{expected 'tensor<?x2xf32>' (C2)}}
  %0 = nn.cast %c : (tensor<?x2xi64>) -> tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected 'tensor<?x1xf32>' (C2)}}
  %0 = nn.cast %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.func private @f(%c: !nn.ragged<?x2x*xi64>, %w: tensor<?x2xf32>) {
  // expected-error @+1 {{has weights 'tensor<?x2xf32>'; expected one number for each id, 'tensor<?x1xf32>' (C5)}}
  %0 = nn.lookup @t[%c] weights(%w) pool(sum) : (!nn.ragged<?x2x*xi64>, tensor<?x2xf32>) -> tensor<?x2x3xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.func private @f(%c: !nn.ragged<?x2x*xi64>, %w: tensor<?x1xf32>) {
  // expected-error @+1 {{has weights, which are for pooled bags; nn.mul takes those of single rows (C5)}}
  %0 = nn.lookup @t[%c] weights(%w) pool(none) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.func private @f(%c: tensor<?x1xi64>, %w: tensor<?x1xf32>) {
  // expected-error @+1 {{has weights, which are for pooled bags; nn.mul takes those of single rows (C5)}}
  %0 = nn.lookup @t[%c] weights(%w) pool(sum) : (tensor<?x1xi64>, tensor<?x1xf32>) -> tensor<?x1x3xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // nn.cvm (C1)
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "nn.cvm"(%x) : (tensor<?x4xf32>) -> tensor<?x2xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) {
  // expected-error @+1 {{takes 'tensor<?x1xf32>'; expected rows that begin with a show and a click, [b, ..., 2 or more] (C2)}}
  %0 = nn.cvm %x : tensor<?x1xf32>
  nn.return
}

// -----

nn.func private @f(%h: tensor<?x3x2xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{expected [ids, width] to [ids, (last - first + 1) * width] (C1)}}
  %0 = nn.segment_window %h of %c from -1 to 1 : tensor<?x3x2xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%h: tensor<?x3xf32>, %c: !nn.ragged<?x2x*xi64>) {
  // expected-error @+1 {{takes rows from 1 to 0; expected at most 1024, the first one first, and bags have less than 2^31 (C2)}}
  %0 = nn.segment_window %h of %c from 1 to 0 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{takes 'tensor<4xf32>'; expected rank 2 or more (C1)}}
  %0 = nn.top_k %x count 2 : tensor<4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{finds the 5 largest of 'tensor<?x4xf32>'; expected 1 to the last dimension (C2)}}
  %0 = nn.top_k %x count 5 : tensor<?x4xf32>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2xf32>, %y: tensor<?x2xf64>) {
  // expected-error @+1 {{'nn.concat' op mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  %0 = nn.concat %x, %y axis 1 : tensor<?x2xf32>, tensor<?x2xf64>
  nn.return
}

// -----

nn.func private @f(%x: tensor<?x2xf64>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.matmul' op mixes 'f64' and 'f32'; nn.cast makes one of the other}}
  %0 = nn.matmul %x, %y : tensor<?x2xf64>, tensor<2x3xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.func private @f(%l: tensor<?x1xf64>, %w: tensor<?x1xf32>) {
  // expected-error @+1 {{'nn.minimize' op mixes 'f64' and 'f32'; nn.cast makes one of the other}}
  nn.minimize %l weight %w over [@g] : tensor<?x1xf64>, tensor<?x1xf32>
  nn.return
}

// -----

nn.metric @auc : #nn.auc<buckets = 10>
nn.func private @f(%p: tensor<?x1xf32>, %y: tensor<?x1xf64>) {
  // expected-error @+1 {{'nn.observe' op mixes 'f32' and 'f64'; nn.cast makes one of the other}}
  nn.observe @auc(%p, %y) : tensor<?x1xf32>, tensor<?x1xf64>
  nn.return
}

// -----

nn.param @w : tensor<2x3xf64> init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf32>) {
  // expected-error @+1 {{expected 'tensor<2x3xf32>'; nn.cast leads from f32 to f64 and back (C1)}}
  %0 = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x3xf32>
  nn.return
}

// -----

nn.param @u : tensor<3x9xf64> init(#nn.zeros)
nn.func private @f(%x: tensor<?x9xf32>, %c: !nn.ragged<?x1x*xi64>) {
  // expected-error @+1 {{expected 'tensor<3x9xf32>'; nn.cast leads from f32 to f64 and back (C1)}}
  %0 = nn.gru %x of %c, @u : tensor<?x9xf32>, !nn.ragged<?x1x*xi64>
  nn.return
}

// -----

nn.group @s rule(@moving_average) rate(0.1)
nn.param @m : tensor<2xf32> in @s init(#nn.zeros)
nn.func private @f(%x: tensor<?x2xf64>) {
  // expected-error @+1 {{expected 'tensor<2xf64>'; nn.cast leads from f32 to f64 and back (C1)}}
  nn.accumulate @m(%x) : tensor<?x2xf64>
  nn.return
}
