// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{#nn.mrr takes no parameters; leave out <...>}}
nn.metric @m : #nn.mrr<k = 3>

// -----

// expected-error @+1 {{#nn.zeros takes no parameters; leave out <...>}}
nn.param @w : tensor<3xf32> init(#nn.zeros<0.5>)
