// RUN: pdl-opt %s --nn-lower-model="max-ops=2" -verify-diagnostics

// The error for a long program without functions does not advise to call
// functions less often.
nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
// expected-error @+1 {{holds 3 ops, and at most 2 can be compiled; join ops that do alike into one on a wider tensor}}
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %0 = nn.neg %x : tensor<?x1xf32>
  %1 = nn.exp %0 : tensor<?x1xf32>
  %2 = nn.abs %1 : tensor<?x1xf32>
  nn.return %2 : tensor<?x1xf32>
}
