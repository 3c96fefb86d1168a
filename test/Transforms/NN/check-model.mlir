// RUN: pdl-opt %s --nn-check-model -split-input-file -verify-diagnostics

// A program that no command runs, because of a typing error; a group that no
// program trains; state that no program reads.
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @used rule(@sgd) rate(0.1)
  // expected-warning @+1 {{nothing trains group @unused: no nn.minimize names it}}
  nn.group @unused rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @used init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @idle: no program and no function names it}}
  nn.param @idle : tensor<1xf32> in @unused init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @mean}}
  nn.state @mean : tensor<1xf32> init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @rows}}
  nn.table @rows : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.func private @score(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  // expected-warning @+1 {{no command runs program @trian; commands are train, evaluate and predict; did you mean 'train'?}}
  nn.program @trian reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.call @score(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@used] : tensor<?x1xf32>
  }
}

// -----

// A model that only predicts trains no group, without a warning. If no command
// runs any program of a model, this is reported once, whatever their names are.
// --program runs frozen ones.
module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  // expected-warning @+1 {{no command runs a program of this model; commands are train, evaluate and predict: give one of its programs such a name}}
  nn.program @score reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}

// -----

// If a command runs another program of the model, a name that is unlike all
// commands is intended.
module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.param @w : tensor<1x1xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @score frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}

// -----

// A name that contains that of a command; and a symbol that a training reads
// without a group. A state needs no group.
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  // expected-warning @+1 {{nothing trains @b, which a training reads: it is in no group; add `in @group`, or make it an nn.state, if it is to stay as it is}}
  nn.param @b : tensor<1xf32> init(#nn.zeros)
  // expected-warning @+1 {{nothing trains @rows, which a training reads: it is in no group; add `in @group`, unless its rows are to stay as they are}}
  nn.table @rows : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.state @mean : tensor<1xf32> init(#nn.zeros)
  nn.func private @score(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
    %z = nn.linear %x, @w, @b : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  // expected-warning @+1 {{no command runs program @training; commands are train, evaluate and predict; did you mean 'train'?}}
  nn.program @training reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>):
    %s = nn.call @score(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %v = nn.lookup @rows[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %v from 1 : tensor<?x1x1xf32>
    %m = nn.read @mean : tensor<1xf32>
    %a = nn.add %s, %f : tensor<?x1xf32>, tensor<?x1xf32>
    %z = nn.add %a, %m : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// A test that trains would train on the test data.
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  // expected-error @+1 {{@evaluate is not frozen, and would change the model by the data that it is given; write `nn.program @evaluate frozen`, and no nn.minimize}}
  nn.program @evaluate reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// A prediction that trains nothing would still insert its keys.
module {
  nn.record @r { nn.field @c : tensor<?x1xi64> }
  nn.table @w : i64 -> tensor<1xf32> init(#nn.zeros)
  // expected-error @+1 {{@predict is not frozen}}
  nn.program @predict reads(@r) {
  ^bb0(%c: tensor<?x1xi64>):
    %z = nn.lookup @w[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    nn.return %z : tensor<?x1x1xf32>
  }
}

// -----

module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.param @w : tensor<1x1xf32> init(#nn.zeros)
  // expected-error @+1 {{@predict has no outputs; end it with `nn.return %value`, which names what to write for each sample}}
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.param @w : tensor<1x1xf32> init(#nn.zeros)
  // expected-error @+1 {{@train has no nn.minimize, and would train nothing; end it with `nn.minimize %loss over [@group]`, which names the groups to train}}
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
  }
}

// -----

module {
  // expected-note @+1 {{the first one is here}}
  nn.record @a { nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{is the second nn.record of the model; put all fields into one and leave some out of a program with `except` (C2)}}
  nn.record @b { nn.field @x : tensor<?x1xf32> }
}
