// RUN: pdl-opt %s --ps-outline-roles -split-input-file -verify-diagnostics

// expected-error @+1 {{has no mode: run ps-partition first}}
module {
  nn.param @w : tensor<4xf32> init(#nn.zeros)
}

// -----

// The pass may not run twice.
module attributes {ps.mode = #ps.mode<sync>} {
  // expected-error @+1 {{is a module already: roles are cut out of a flat one}}
  module @trainer {
  }
}
