// RUN: pdl-opt %s --pdl-pipeline="to=gradient" -split-input-file -verify-diagnostics

// A zero gradient changes nothing, so the clause is not needed.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(@sgd) rate(0.1)
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
  nn.group @g rule(@adagrad) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// A schedule and a clip only scale the gradient.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.clip @c : global_norm(1.0)
  nn.group @g rule(@sgd) rate(0.1) schedule(@cosine) clip(@c)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// So do other clips.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.clip @c : value(1.0)
  nn.clip @d : norm(1.0)
  nn.group @g rule(@sgd) rate(0.1) clip(@c)
  nn.group @h rule(@adagrad) rate(0.1) clip(@d)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.table @u : i64 -> tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %f = nn.lookup @u[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %s = nn.add %e, %f : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %l = nn.flatten %s from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g, @h] : tensor<?x1xf32>
  }
}

// -----

// Regularizers with coefficient 0, and known hyper-parameters.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(@sgd) rate(0.1) decay(#nn.l2<0.0>, #nn.l1<0.0>)
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
  nn.rule @chosen hyper(heavy = 1.0) slots(velocity = 0.0) once {
  ^bb0(%step: f64, %rate: f64, %heavy: f64):
    nn.yield %rate, %heavy : f64, f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %heavy: f32):
    %zero = arith.constant 0.0 : f32
    %moved = arith.addf %velocity, %gradient : f32
    %chosen = arith.cmpf one, %heavy, %zero : f32
    %direction = arith.select %chosen, %moved, %gradient : f32
    %change = arith.mulf %rate, %direction : f32
    %new = arith.subf %value, %change : f32
    %kept = arith.select %chosen, %moved, %velocity : f32
    nn.yield %new, %kept : f32, f32
  }
  nn.group @g rule(@chosen {heavy = 0.0}) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// If a zero gradient changes the value, the group must have the clause.
module {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(@adam) rate(0.1) untouched(lazy)
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
  nn.group @g rule(@adam) rate(0.1) untouched(dense)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %l = nn.flatten %e from 1 : tensor<?x1x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
