// RUN: pdl-opt %s --pdl-pipeline="to=placed mode=quorum" -split-input-file -verify-diagnostics

nn.record @r {
  nn.field @x : tensor<?x2xf32>
  nn.field @y : tensor<?x1xf32>
}
// expected-error @+1 {{is not for mode quorum: it compensates delays, and a round adds gradients that were computed on different values; leave compensate out, or use mode async or half-async}}
nn.group @dense rule(@sgd) rate(0.5) compensate(@delay_compensation)
nn.param @w : tensor<2x1xf32> in @dense init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>, %y: tensor<?x1xf32>):
  %z = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
  nn.minimize %l over [@dense] : tensor<?x1xf32>
}
