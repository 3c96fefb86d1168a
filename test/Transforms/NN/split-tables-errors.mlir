// RUN: pdl-opt %s --nn-split-tables -verify-diagnostics

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @d : tensor<?x1xi64>
  }
  nn.group @g rule(@own) rate(0.1)
  nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 2.0)
  nn.program @predict frozen reads(@r) {
  ^bb0(%d: tensor<?x1xi64>):
    %ids = nn.reshape %d : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    %rows = nn.pull @t[%keys] : tensor<?x2xf32>
    // expected-error @+1 {{takes rows of @t that no nn.pool took; tables that widen are split before}}
    %twice = nn.add %rows, %rows : tensor<?x2xf32>, tensor<?x2xf32>
    nn.return %twice : tensor<?x2xf32>
  }
}
