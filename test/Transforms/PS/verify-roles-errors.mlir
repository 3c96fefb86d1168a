// Errors that a single change of a valid module cannot cause.
// verify-roles-mutations.test has all others.
// RUN: pdl-opt %s --ps-verify-roles -split-input-file -verify-diagnostics

// expected-error @+1 {{holds no module of role trainer: run ps-outline-roles first}}
module {
}

// -----

// expected-error @+1 {{holds no module of role pserver: run ps-outline-roles first}}
module {
  module @trainer attributes {ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "0"} {
  }
}

// -----

// Nothing is sent ahead, but the values are those with which the next step
// begins.
module {
  module @trainer attributes {ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "0"} {
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
      // expected-error @+1 {{waits for message @exchange after its post, although it brings what the next step begins with}}
      %l:2, %w = ps.wait @exchange : tensor<f64>, tensor<f64>, tensor<1xf32>
    }
  }
  module @pserver attributes {ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "0"} {
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

// -----

// A step has two messages. The values come with the first, the update with the
// second.
module {
  module @trainer attributes {ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "0"} {
    nn.record @r {
      nn.field @x : tensor<?x1xf32>
    }
    nn.param @w : tensor<1xf32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<1xf32>
    ps.message @early in "train" round sends [@loss] ahead [] receives [@loss, @value]
    ps.message @late in "train" round sends [@gradient] ahead [] receives []
    nn.program @train reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      %l:2, %w = ps.wait @early : tensor<f64>, tensor<f64>, tensor<1xf32>
      %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
      ps.post @early(%sum, %weight) : tensor<f64>, tensor<f64>
      ps.post @late(%w) : tensor<1xf32>
    }
  }
  module @pserver attributes {ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "0"} {
    nn.rule @sgd hyper() slots() once {
    ^bb0(%step: f64, %rate: f64):
      nn.yield %rate : f64
    } each {
    ^bb0(%value: f32, %gradient: f32, %rate: f32):
      nn.yield %value : f32
    }
    nn.group @all rule(@sgd) rate(0.1)
    nn.param @w : tensor<1xf32> in @all init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<1xf32>
    // expected-note @+1 {{the earlier one}}
    ps.message @early in "train" round sends [@loss] ahead [] receives [@loss, @value]
    ps.message @late in "train" round sends [@gradient] ahead [] receives []
    ps.handler @apply in "train" on @late {
      %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
      %g = ps.merged @gradient : tensor<1xf32>
      %scalars:2 = nn.once @all weight(%weight) -> (weight, "rate") {
      ^bb0(%step: f64, %w: f64, %squared: f64):
        nn.yield %w, %step : f64, f64
      } : tensor<f32>, tensor<f32>
      // expected-error @+1 {{updates @w on message @late, but the answer to an earlier one brings trainers what they go on with}}
      nn.update @w gradient(%g) scalars(%scalars#0, %scalars#1) {
      ^bb0(%value: f32, %sum_of: f32, %weight_of: f32, %rate: f32):
        nn.yield %value : f32
      } : tensor<1xf32>, tensor<f32>, tensor<f32>
    }
  }
}

// -----

// The same two messages; the update does not wait for the gradient.
module {
  module @trainer attributes {ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "0"} {
    nn.record @r {
      nn.field @x : tensor<?x1xf32>
    }
    nn.param @w : tensor<1xf32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<1xf32>
    ps.message @early in "train" round sends [@loss] ahead [] receives [@loss, @value]
    ps.message @late in "train" round sends [@gradient] ahead [] receives []
    nn.program @train reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      %l:2, %w = ps.wait @early : tensor<f64>, tensor<f64>, tensor<1xf32>
      %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
      ps.post @early(%sum, %weight) : tensor<f64>, tensor<f64>
      ps.post @late(%w) : tensor<1xf32>
    }
  }
  module @pserver attributes {ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "0"} {
    nn.param @w : tensor<1xf32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @value number 0 in "train" value of @w : tensor<1xf32>
    ps.channel @loss number 1 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<1xf32>
    ps.message @early in "train" round sends [@loss] ahead [] receives [@loss, @value]
    // expected-note @+1 {{this one brings it}}
    ps.message @late in "train" round sends [@gradient] ahead [] receives []
    ps.handler @apply in "train" on @early {
      %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
      // expected-error @+1 {{uses @gradient, which comes with a later message than @early: the handler would wait for ever}}
      %g = ps.merged @gradient : tensor<1xf32>
    }
  }
}

// -----

// Gradients of rows that were not requested.
module {
  module @trainer attributes {ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "0"} {
    nn.record @r {
      nn.field @id : tensor<?x1xi64>
      nn.field @x : tensor<?x1xf32>
    }
    nn.table @emb : i64 -> tensor<1xf32> init(#nn.zeros)
    ps.shards @emb count 1024 cost 8
    ps.channel @loss number 0 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 1 in "train" row_gradient of @emb : tensor<?x1xf32>
    ps.message @exchange in "train" round sends [@gradient, @loss] ahead [] receives [@loss]
    nn.program @train reads(@r) {
    ^bb0(%id: tensor<?x1xi64>, %x: tensor<?x1xf32>):
      %ids = nn.reshape %id : (tensor<?x1xi64>) -> tensor<?xi64>
      %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
      %g = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%ids sum from %x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
      // expected-error @+1 {{sends gradients of rows of @emb, but no message asks for rows of it: which rows these are is not known}}
      ps.post @exchange(%g, %sum, %weight) : tensor<?x1xf32>, tensor<f64>, tensor<f64>
      %l:2 = ps.wait @exchange : tensor<f64>, tensor<f64>
    }
  }
  module @pserver attributes {ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "0"} {
    nn.table @emb : i64 -> tensor<1xf32> init(#nn.zeros)
    ps.shards @emb count 1024 cost 8
    ps.channel @loss number 0 in "train" loss : tensor<2xf64>
    ps.channel @gradient number 1 in "train" row_gradient of @emb : tensor<?x1xf32>
    ps.message @exchange in "train" round sends [@gradient, @loss] ahead [] receives [@loss]
  }
}

// -----

// A gradient that is used as a scalar of the group.
module {
  module @trainer attributes {ps.mode = #ps.mode<async>, ps.role = "trainer", ps.wire = "0"} {
    nn.record @r {
      nn.field @x : tensor<?x1xf32>
    }
    nn.param @w : tensor<f32> init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @loss number 0 in "train" loss : tensor<2xf64>
    ps.channel @value number 1 in "train" value of @w : tensor<f32>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<f32>
    ps.message @exchange in "train" sends [@gradient, @loss] ahead [] receives [@loss, @value]
    nn.program @train reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      %l:2, %w = ps.wait @exchange : tensor<f64>, tensor<f64>, tensor<f32>
      %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
      ps.post @exchange(%w, %sum, %weight) : tensor<f32>, tensor<f64>, tensor<f64>
    }
  }
  module @pserver attributes {ps.mode = #ps.mode<async>, ps.role = "pserver", ps.wire = "0"} {
    nn.rule @sgd hyper() slots() once {
    ^bb0(%step: f64, %rate: f64):
      nn.yield %rate : f64
    } each {
    ^bb0(%value: f32, %gradient: f32, %rate: f32):
      nn.yield %value : f32
    }
    nn.group @all rule(@sgd) rate(0.1)
    nn.param @w : tensor<f32> in @all init(#nn.zeros)
    ps.blocks @w rows [0, 1] costs [8]
    ps.channel @loss number 0 in "train" loss : tensor<2xf64>
    ps.channel @value number 1 in "train" value of @w : tensor<f32>
    ps.channel @gradient number 2 in "train" gradient of @w : tensor<f32>
    ps.message @exchange in "train" sends [@gradient, @loss] ahead [] receives [@loss, @value]
    ps.handler @apply in "train" on @exchange {
      %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
      %g = ps.merged @gradient : tensor<f32>
      %scalars:2 = nn.once @all weight(%weight) -> (weight, "rate") {
      ^bb0(%step: f64, %w: f64, %squared: f64):
        nn.yield %w, %step : f64, f64
      } : tensor<f32>, tensor<f32>
      // expected-error @+1 {{takes as scalar 1 what no nn.once computes}}
      nn.update @w gradient(%g) scalars(%scalars#0, %g) {
      ^bb0(%value: f32, %sum_of: f32, %weight_of: f32, %rate: f32):
        nn.yield %value : f32
      } : tensor<f32>, tensor<f32>, tensor<f32>
    }
  }
}
