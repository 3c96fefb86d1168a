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
