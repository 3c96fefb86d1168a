// RUN: pdl-opt %s -split-input-file -verify-diagnostics --nn-check-model

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
}
// expected-error @+1 {{@evaluate is what a command runs that leaves the model alone, but the programs of a cycle train; call it @train}}
nn.cycle @evaluate [@a]
