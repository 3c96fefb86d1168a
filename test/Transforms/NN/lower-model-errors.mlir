// RUN: pdl-opt %s --nn-lower-model -split-input-file -verify-diagnostics

nn.func private @f(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @g(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}
nn.func private @g(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{makes @f call itself; functions are inlined and may not recurse (nn.func, C1)}}
  %0 = nn.call @f(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}

// -----

// Each level doubles the number of ops, which is known without inlining.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.func private @a(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.tanh %x : tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}
nn.func private @b(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @a(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.call @a(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %1 : tensor<?x1xf32>
}
nn.func private @c(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @b(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.call @b(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = nn.call @b(%1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = nn.call @b(%2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %4 = nn.call @b(%3) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = nn.call @b(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = nn.call @b(%5) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %7 = nn.call @b(%6) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %8 = nn.call @b(%7) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %9 = nn.call @b(%8) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %10 = nn.call @b(%9) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %11 = nn.call @b(%10) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %12 = nn.call @b(%11) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %13 = nn.call @b(%12) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %14 = nn.call @b(%13) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %15 = nn.call @b(%14) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %15 : tensor<?x1xf32>
}
nn.func private @d(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @c(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.call @c(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = nn.call @c(%1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = nn.call @c(%2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %4 = nn.call @c(%3) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = nn.call @c(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = nn.call @c(%5) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %7 = nn.call @c(%6) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %8 = nn.call @c(%7) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %9 = nn.call @c(%8) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %10 = nn.call @c(%9) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %11 = nn.call @c(%10) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %12 = nn.call @c(%11) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %13 = nn.call @c(%12) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %14 = nn.call @c(%13) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %15 = nn.call @c(%14) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %15 : tensor<?x1xf32>
}
nn.func private @e(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @d(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.call @d(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = nn.call @d(%1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = nn.call @d(%2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %4 = nn.call @d(%3) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = nn.call @d(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = nn.call @d(%5) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %7 = nn.call @d(%6) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %8 = nn.call @d(%7) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %9 = nn.call @d(%8) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %10 = nn.call @d(%9) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %11 = nn.call @d(%10) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %12 = nn.call @d(%11) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %13 = nn.call @d(%12) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %14 = nn.call @d(%13) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %15 = nn.call @d(%14) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %15 : tensor<?x1xf32>
}
nn.func private @f(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = nn.call @e(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.call @e(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = nn.call @e(%1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = nn.call @e(%2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %4 = nn.call @e(%3) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = nn.call @e(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = nn.call @e(%5) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %7 = nn.call @e(%6) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %8 = nn.call @e(%7) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %9 = nn.call @e(%8) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %10 = nn.call @e(%9) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %11 = nn.call @e(%10) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %12 = nn.call @e(%11) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %13 = nn.call @e(%12) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %14 = nn.call @e(%13) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %15 = nn.call @e(%14) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %15 : tensor<?x1xf32>
}
// expected-error @+1 {{would hold 131073 ops with its functions inlined, and at most 100000 can be compiled; call functions less often}}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %0 = nn.neg %x : tensor<?x1xf32>
  // expected-note @+1 {{the largest of its functions is @f}}
  %1 = nn.call @f(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %1 : tensor<?x1xf32>
}

// -----

// A function does not hide that ids are computed from values of the model.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.state @w : tensor<1x1xf32> init(#nn.zeros)
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @score(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-note @+1 {{the ids depend on this}}
  %0 = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %0 = nn.call @score(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.bucketize %0 boundaries [0.0] : tensor<?x1xf32>
  // expected-error @+1 {{looks up ids that depend on values of the model; they derive from fields and constants alone, so that they are known before a step begins (C3)}}
  %2 = nn.lookup @t[%1] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
  nn.return %2 : tensor<?x1x2xf32>
}

// -----

// Neither does a function that looks up its argument.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.state @w : tensor<1x1xf32> init(#nn.zeros)
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @embed(%ids: tensor<?x1xi64>) -> tensor<?x1x2xf32> {
  // expected-error @+1 {{looks up ids that depend on values of the model}}
  %0 = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
  nn.return %0 : tensor<?x1x2xf32>
}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-note @+1 {{the ids depend on this}}
  %0 = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = nn.bucketize %0 boundaries [0.0] : tensor<?x1xf32>
  %2 = nn.call @embed(%1) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
  nn.return %2 : tensor<?x1x2xf32>
}
