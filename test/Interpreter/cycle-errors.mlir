// RUN: pdl-opt %s -verify-diagnostics --nn-interpret="data=none program=train" -o /dev/null

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
}
// expected-error @+1 {{is no program yet: interpret it in phase merged or after it, where nn-join-cycle has made one}}
nn.cycle @train [@a]
