// RUN: pdl-opt %s --pdl-pipeline="to=placed mode=geo" -split-input-file -verify-diagnostics

module @averaged {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{is not for mode geo: frozen programs read a slot of its rule, such as an average, and slots stay with each trainer, so that trainers would test and save different numbers; leave the average out, or use another mode}}
  nn.group @g rule(@sgd) rate(0.1) average(@ema {decay = 0.99})
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %l = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module @all_rows {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{is not for mode geo: untouched(dense) changes all rows of a table in each step, and all of them would travel at each exchange; write untouched(lazy), or use another mode}}
  nn.group @g rule(@adam) rate(0.1) untouched(dense)
  // expected-note @+1 {{the group trains this table}}
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module @halves {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(@sgd) rate(0.1)
  // expected-error @+1 {{is not for mode geo: changes divided by the number of trainers are often less than what 16 bits tell apart, and servers would lose them; leave `stored` out, or use another mode}}
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros) stored(bf16)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module @turns {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@sgd) rate(0.1)
  nn.param @v : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<1x1xf32> in @h init(#nn.zeros)
  nn.program @one reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %l = nn.linear %x, @v : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @two reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %l = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@h] : tensor<?x1xf32>
  }
  // expected-error @+1 {{is not for mode geo: its rule counts turns, as a cycle does: trainers would each count by themselves, and servers add up parts of turns; train one program, or use another mode}}
  nn.cycle @train [@one * 2, @two]
}
