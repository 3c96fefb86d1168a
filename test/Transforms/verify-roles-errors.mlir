// What one change to a good module cannot show; for the rest see
// verify-roles-mutations.test.
// RUN: pdl-opt %s --ps-verify-roles -split-input-file -verify-diagnostics

// expected-error @+1 {{holds no module of role trainer: run ps-outline-roles first}}
module {
}

// -----

// expected-error @+1 {{holds no module of role pserver: run ps-outline-roles first}}
module {
  module @trainer attributes {ps.mode = "sync", ps.role = "trainer", ps.wire = "0"} {
  }
}

// -----

// Nothing is sent ahead, but values are those that the next step begins with.
module {
  module @trainer attributes {ps.mode = "sync", ps.role = "trainer", ps.wire = "0"} {
    nn.record @r {
      nn.field @x : tensor<?x1xf32>
    }
    nn.param @w : tensor<1xf32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.message @exchange in "train" round sends [@loss] ahead [] receives [@loss, @value]
    nn.program @train reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
      // expected-note @+1 {{it is posted here}}
      ps.post @exchange(%sum, %weight) : tensor<f64>, tensor<f64>
      // expected-error @+1 {{waits for message @exchange behind its post, although it brings what the next step begins with}}
      %l:2, %w = ps.wait @exchange : tensor<f64>, tensor<f64>, tensor<1xf32>
    }
  }
  module @pserver attributes {ps.mode = "sync", ps.role = "pserver", ps.wire = "0"} {
    nn.param @w : tensor<1xf32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.message @exchange in "train" round sends [@loss] ahead [] receives [@loss, @value]
    ps.handler @apply in "train" on @exchange {
      %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
    }
  }
}
