// RUN: pdl-opt %s --nn-merge-lookups -split-input-file -verify-diagnostics

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @row : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%ids: tensor<?xi64>, %splits: tensor<?xi32>, %row: tensor<?x2xf32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    // expected-error @+1 {{pools rows that no nn.pull made, so its table is not known}}
    %e = nn.pool %row[%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum)
      : (tensor<?x2xf32>) -> tensor<?x2xf32>
    nn.return %e : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @c : tensor<?x1xi64>
  }
  nn.table @t : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: tensor<?x1xi64>):
    %ids = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    // expected-error @+1 {{feeds the ids of another lookup; ids derive from fields alone (nn.lookup, C3)}}
    %rows = nn.pull @t[%keys] : tensor<?x1xf32>
    %e = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids sum)
      : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %bucket = nn.bucketize %e boundaries [0.0] : tensor<?x1xf32>
    %again = nn.reshape %bucket : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys2, %inverse2, %key_splits2, %occurrences2 = nn.unique %again
    %rows2 = nn.pull @t[%keys2] : tensor<?x1xf32>
    %e2 = nn.pool %rows2[%inverse2, %key_splits2, %occurrences2] of (%again sum)
      : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %e2 : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>):
    %w = nn.read @w : tensor<1xf32>
    %z = nn.mul %y, %w : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{counts rows of bags that no nn.pool made, so their ids are not known (C2)}}
    nn.count_pooled @t of %y by %y : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %z over [@g] : tensor<?x1xf32>
  }
}
