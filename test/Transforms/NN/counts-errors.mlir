// RUN: pdl-opt %s --nn-link-std --nn-lower-model --cse --nn-merge-lookups --nn-autodiff --nn-expand-updates -split-input-file -verify-diagnostics

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  // expected-error @+1 {{gives the counts ["show", "clicks"]; the rule of the group of @t takes each of ["show", "click"] once (C4)}}
  nn.count @t[%d] show(%y) clicks(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  // expected-error @+1 {{counts rows of @t, whose group has no rule that takes counts; take one that does, such as rule(@click_adagrad), or leave the counts out (C4)}}
  nn.count @t[%d] show(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
nn.group @h rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
nn.param @w : tensor<1xf32> in @h init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %w = nn.read @w : tensor<1xf32>
  %z = nn.mul %y, %w : tensor<?x1xf32>, tensor<1xf32>
  // expected-error @+1 {{counts rows of @t, which no nn.minimize of @train trains; counts are applied with the update of their rows (nn.count, C1)}}
  nn.count @t[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  nn.minimize %z over [@h] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
// expected-error @+1 {{trains table @t by rule @click_adagrad, which takes the counts ["show", "click"] of each row; add them by an nn.count in the program that trains}}
nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r { nn.field @y : tensor<?x1xf32> }
// expected-error @+1 {{trains parameter @w by rule @click_adagrad, which takes the counts ["show", "click"] of each row; rows of tables alone have some: give parameters a group with another rule}}
nn.group @g rule(@click_adagrad) rate(0.1)
nn.param @w : tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>):
  %w = nn.read @w : tensor<1xf32>
  %z = nn.mul %y, %w : tensor<?x1xf32>, tensor<1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  // expected-note @+1 {{the ids depend on this}}
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  %b = nn.bucketize %z boundaries [0.0] : tensor<?x1xf32>
  // expected-error @+1 {{counts ids that depend on values of the model; they derive from fields and constants alone, so that they are known before a step begins (C3)}}
  nn.count @t[%b] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{has a score with "show", and rule @sgd of its group has the row slots []; take some of these, or a rule that counts, such as @click_adagrad (C8)}}
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 1.0)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @d : tensor<?x1xi64>
}
nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
// expected-error @+1 {{admits keys by a score with "sale", and rule @click_adagrad of its group has the counts ["show", "click"]; take some of these, or a rule that counts, such as @click_adagrad (C8)}}
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros) admit(score = 2.0) score(sale = 1.0)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
  %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
  %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
  nn.count @t[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}
