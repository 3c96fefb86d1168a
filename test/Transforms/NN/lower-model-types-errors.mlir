// RUN: pdl-opt %s --nn-lower-model -split-input-file -verify-diagnostics

// The number of crossed ids is known too late for rows of them.

nn.record @r {
  nn.field @c : !nn.ragged<?x1x*xi64>
  nn.field @d : !nn.ragged<?x1x*xi64>
}
nn.program @predict frozen reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
  %0 = nn.cross %c, %d : !nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>
  %1 = nn.id_arithmetic remainder %0 with 9 : !nn.ragged<?x1x*xi64>
  // expected-error @+1 {{makes rows of bags of ids that the program makes, whose number is known only while a step is prepared; name those of a field (C3)}}
  %2 = nn.cast %1 : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %3 = nn.segment_sum %2 of %1 : (tensor<?x1xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
  nn.return %3 : tensor<?x1x1xf32>
}

// -----

// Weights belong to the ids that are looked up.

nn.record @r {
  nn.field @c : !nn.ragged<?x1x*xi64>
  nn.field @d : !nn.ragged<?x1x*xi64>
}
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.program @predict frozen reads(@r) {
// expected-note @+1 {{the bags are these}}
^bb0(%c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
  %w = nn.cast %d : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  // expected-error @+1 {{takes, as operand #1, rows of other bags than the rest}}
  %0 = nn.lookup @t[%c] weights(%w) pool(sum) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x2xf32>
  nn.return %0 : tensor<?x1x2xf32>
}

// -----

nn.record @r {
  nn.field @c : !nn.ragged<?x1x*xi64>
  nn.field @d : !nn.ragged<?x1x*xi64>
}
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.table @weights : i64 -> tensor<1xf32> init(#nn.zeros)
nn.program @predict frozen reads(@r) {
^bb0(%c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
  %w = nn.lookup @weights[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %0 = nn.cross %c : !nn.ragged<?x1x*xi64>
  // expected-error @+1 {{whose number is known only while a step is prepared; pool them, without weights, or look up those of a field (C4)}}
  %1 = nn.lookup @t[%0] weights(%w) pool(sum) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x2xf32>
  nn.return %1 : tensor<?x1x2xf32>
}
