// RUN: pdl-opt %s --nn-lower-model -split-input-file -verify-diagnostics

// First dimensions that count different things cannot be combined.

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @d : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    // expected-error @+1 {{takes, as operand #1, a tensor that counts samples where it counts ids of bags; nn.segment_repeat leads from samples to the rows of their bags, nn.segment_sum and others back}}
    %0 = nn.mul %h, %y : tensor<?x4xf32>, tensor<?x1xf32>
    nn.return %y : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @d : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %g = nn.lookup @t[%d] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    // expected-error @+1 {{takes, as operand #1, rows of other bags than the rest; nn.same_bags says of two fields that they describe the same positions}}
    %0 = nn.mul %h, %g : tensor<?x4xf32>, tensor<?x4xf32>
    nn.return %y : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @d : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    // expected-error @+1 {{takes, as operand #0, a tensor that counts ids of bags where it counts samples}}
    nn.return %h : tensor<?x4xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @d : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    // expected-error @+1 {{takes, as operand #0, rows of other bags than the rest}}
    %0 = nn.segment_sum %h of %d : (tensor<?x4xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    nn.return %y : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @d : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %e = nn.segment_sum %h of %c : (tensor<?x4xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    %r = nn.reshape %e : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    // expected-error @+1 {{takes, as operand #1, a tensor that counts samples where it counts ids of bags}}
    %0 = nn.sub %h, %r : tensor<?x4xf32>, tensor<?x4xf32>
    nn.return %y : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %x = nn.cross %c, %c : !nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>
    // expected-error @+1 {{looks up ids one by one that the program makes, whose number is known only while a step is prepared; pool them, without weights, or look up those of a field (C4)}}
    %h = nn.lookup @t[%x] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %0 = nn.segment_sum %h of %x : (tensor<?x4xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    nn.return %0 : tensor<?x1x4xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %p = nn.segment_positions %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %b = nn.bucketize %p boundaries [1.0, 2.0] : tensor<?x1xf32>
    // expected-error @+1 {{takes, as operand #1, a tensor that counts samples where it counts ids of bags}}
    %k = nn.cross %b, %c : tensor<?x1xi64>, !nn.ragged<?x1x*xi64>
    %e = nn.lookup @t[%k] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    nn.return %e : tensor<?x1x4xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  // expected-note @+1 {{the bags are these}}
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %p = nn.segment_positions %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %b = nn.bucketize %p boundaries [1.0, 2.0] : tensor<?x1xf32>
    // expected-error @+1 {{takes, as operand #1, a tensor that counts ids of bags where it counts samples}}
    %k = nn.cross %c, %b : !nn.ragged<?x1x*xi64>, tensor<?x1xi64>
    %e = nn.lookup @t[%k] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    nn.return %e : tensor<?x1x4xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %x = nn.cross %c, %c : !nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>
    %q = nn.lookup @t[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    // expected-error @+1 {{makes rows of bags of ids that the program makes, whose number is known only while a step is prepared; name those of a field (C3)}}
    %0 = nn.segment_repeat %q over %x : tensor<?x1x4xf32>, !nn.ragged<?x1x*xi64>
    %z = nn.segment_sizes %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    nn.return %z : tensor<?x1x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %x = nn.cross %c, %c : !nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>
    %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %u = nn.segment_pad %h of %c : (tensor<?x4xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x5x4xf32>
    // expected-error @+1 {{makes rows of bags of ids that the program makes, whose number is known only while a step is prepared; name those of a field (C3)}}
    %0 = nn.segment_unpad %u over %x : tensor<?x1x5x4xf32>, !nn.ragged<?x1x*xi64>
    %z = nn.segment_sizes %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    nn.return %z : tensor<?x1x1xf32>
  }
}

// -----

module {
  nn.record @r {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: !nn.ragged<?x1x*xi64>):
    %x = nn.cross %c, %c : !nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>
    // expected-error @+1 {{makes rows of bags of ids that the program makes, whose number is known only while a step is prepared; name those of a field (C3)}}
    %0 = nn.segment_positions %x : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %z = nn.segment_sizes %c : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    nn.return %z : tensor<?x1x1xf32>
  }
}
