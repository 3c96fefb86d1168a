// RUN: pdl-opt %s --nn-link-std -split-input-file -verify-diagnostics

// expected-error @+1 {{names @adamm, which neither the module nor the standard library defines; did you mean 'adam'? The library has adadelta, adagrad, adam}}
nn.group @g rule(@adamm) rate(0.1)

// -----

// expected-error @+1 {{names @cosine, which is not an nn.rule in the standard library (C1)}}
nn.group @g rule(@cosine) rate(0.1)

// -----

// expected-error @+1 {{names @sgd, which is not an nn.schedule in the standard library (C1)}}
nn.group @g rule(@adam) rate(0.1) schedule(@sgd)

// -----

// expected-error @+1 {{gives 'beta' to @adam, whose hyper-parameters are ["beta1", "beta2", "epsilon"]; name one of these, or leave it out (C2)}}
nn.group @g rule(@adam {beta = 0.5}) rate(0.1)
