// RUN: pdl-opt %s --pdl-pipeline="to=gradient" -split-input-file -verify-diagnostics

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@adam) rate(0.1)
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

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@momentum) rate(0.1)
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

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@nesterov) rate(0.1)
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

// The value follows from z and n, which may not match its initial value.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@ftrl) rate(0.1)
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

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@sgd) rate(0.1) decay(#nn.l2<0.5>)
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

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@adagrad) rate(0.1) decay(#nn.l1<0.5>)
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

module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.rule @counting hyper() slots(count = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %count: f32, %rate: f32):
    %one = arith.constant 1.0 : f32
    %more = arith.addf %count, %one : f32
    %change = arith.mulf %rate, %gradient : f32
    %new = arith.subf %value, %change : f32
    nn.yield %new, %more : f32, f32
  }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the slot "count" of a row (C5)}}
  nn.group @g rule(@counting) rate(0.1)
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

// Zero divided by zero is NaN, which is not equal to any value, nor zero.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.rule @own hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %known = arith.addf %one, %two : f32
    %direction = arith.divf %gradient, %gradient : f32
    %new = arith.addf %value, %direction : f32
    nn.yield %new : f32
  }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@own) rate(0.1)
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

// NaN is not equal to itself either.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.rule @own hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %zero = arith.constant 0.0 : f32
    %direction = arith.divf %gradient, %gradient : f32
    %equal = arith.cmpf oeq, %direction, %direction : f32
    %new = arith.select %equal, %value, %zero : f32
    nn.yield %new : f32
  }
  // expected-error @+1 {{has to say untouched(lazy), which leaves rows that a batch does not touch as they are, or untouched(dense), which updates every row at each step: a zero gradient changes the value of a row (C5)}}
  nn.group @g rule(@own) rate(0.1)
  // expected-note @+1 {{the group trains this table}}
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
