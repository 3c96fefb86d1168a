// RUN: pdl-opt %s --nn-verify-phase="phase=merged" -verify-diagnostics

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @d : tensor<?x1xi64>
  }
  nn.group @g rule(@own) rate(0.1)
  // expected-error @+1 {{may not stand in phase merged: nn-split-tables has made two of it by now}}
  nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 2.0)
}
