// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// Invalid forms of rules and updates that reduce over rows.

// expected-error @+1 {{needs both regions 'sum' and 'row' if it has one of them, row slots or counts; one that sums nothing yields nothing from 'sum' (C4)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{in region 'sum'; expected ('f32', 'f32', 'f32') (C1)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield %a, %rate : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{yields from 'sum' a value that is not f64 (C4)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield %a, %rate : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{in region 'row'; expected ('f64', 'f64', 'f32', 'f32') (C1)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %a: f32, %rate: f32):
  nn.yield %a, %rate : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{yields from 'row' 'f64', 'f32'; expected 1 row slots and what 'each' gets, all 'f32' (C4)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield %width, %rate : f64, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{yields from 'row' ; expected 1 row slots and what 'each' gets, all 'f32' (C4)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{in region 'each'; expected ('f32', 'f32', 'f32', 'f32') (C1)}}
nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield %a, %rate : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

nn.rule @wrong hyper() slots() row_slots(a = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  // expected-error @+1 {{has no settled scalar numerics; it may not stand in region 'sum' of nn.rule (C2)}}
  %0 = math.sin %gradient : f32
  %1 = arith.extf %0 : f32 to f64
  nn.yield %1 : f64
} row {
^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
  nn.yield %a, %rate : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{names 'm' twice}}
nn.rule @wrong hyper() slots(m = 0.0) row_slots(m = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} sum {
^bb0(%value: f32, %gradient: f32, %m: f32):
  nn.yield
} row {
^bb0(%width: f64, %m: f32):
  nn.yield %m : f32
} each {
^bb0(%value: f32, %gradient: f32, %m: f32):
  nn.yield %value, %m : f32, f32
}

// -----

// expected-error @+1 {{gives 'a' a default that is not finite (C3)}}
"nn.rule"() <{sym_name = "r", hyper_names = [], hyper_values = array<f64>, slot_names = [], slot_values = array<f64>, row_slot_names = ["a"], row_slot_values = array<f64: 0x7FF8000000000000>}> ({
^bb0(%step: f64, %rate: f64):
  nn.yield
}, {
^bb0(%value: f32, %gradient: f32):
  nn.yield %value : f32
}, {
^bb0(%value: f32, %gradient: f32):
  nn.yield
}, {
^bb0(%width: f64, %a: f32):
  nn.yield %a : f32
}) : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>) {
  // expected-error @+1 {{yields from 'sum' a value that is not f64 (C5)}}
  nn.update @p gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %sum : f32
  } row {
  ^bb0(%width: f64, %total: f64):
    %0 = arith.truncf %total : f64 to f32
    nn.yield %0 : f32
  } each {
  ^bb0(%value: f32, %sum: f32, %pace: f32):
    nn.yield %value : f32
  } : tensor<4x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>) {
  // expected-error @+1 {{in region 'row'; expected ('f64', 'f64') (C1)}}
  nn.update @p gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    %0 = arith.extf %sum : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %total: f32):
    nn.yield %total : f32
  } each {
  ^bb0(%value: f32, %sum: f32, %pace: f32):
    nn.yield %value : f32
  } : tensor<4x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>) {
  // expected-error @+1 {{yields 0 values from 'row'; expected 1 row slots and what 'each' gets, all 'f32' (C5)}}
  nn.update @p gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    %0 = arith.extf %sum : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %total: f64, %a: f32):
    nn.yield
  } each {
  ^bb0(%value: f32, %sum: f32, %pace: f32):
    nn.yield %value : f32
  } : tensor<4x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>) {
  // expected-error @+1 {{has 3 arguments in region 'sum'; expected value, gradient, 0 slots and 0 scalars (C5)}}
  nn.update @p gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32, %m: f32):
    %0 = arith.extf %sum : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %total: f64):
    %0 = arith.truncf %total : f64 to f32
    nn.yield %0 : f32
  } each {
  ^bb0(%value: f32, %sum: f32, %pace: f32):
    nn.yield %value : f32
  } : tensor<4x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>) {
  // expected-error @+1 {{needs both regions 'sum' and 'row', or none (C5)}}
  "nn.update"(%g) <{symbol = @p, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%value: f32, %sum: f32):
    nn.yield %value : f32
  }, {
  ^bb0(%value: f32, %sum: f32):
    nn.yield
  }, {
  }) : (tensor<2xf32>) -> ()
  nn.return
}

// -----

// expected-error @+1 {{has row slots or counts, and a region 'param', which knows no rows; write region 'row' (C4)}}
nn.rule @r hyper() slots() row_slots(length = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
} param {
^bb0(%width: f64, %length: f32, %rate: f32):
  nn.yield %length : f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
}

// -----

nn.rule @r hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
// expected-error @+1 {{expected region 'row' or 'param' after region 'sum'}}
} line {
^bb0(%width: f64, %rate: f32):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<2xf32>) {
  // expected-error @+1 {{has row slots or counts, and a region 'param' (C5)}}
  nn.update @p gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    nn.yield
  } param {
  ^bb0(%width: f64, %length: f32):
    nn.yield %length : f32
  } each {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %value : f32
  } : tensor<2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%k: tensor<?xi64>, %g: tensor<?x2xf32>) {
  // expected-error @+1 {{reduces over a whole parameter, and has keys of a table (C5)}}
  nn.update @t keys(%k) gradient(%g) scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    nn.yield
  } param {
  ^bb0(%width: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %value : f32
  } : tensor<?x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%k: tensor<?xi64>, %g: tensor<?x3xf32>) {
  // expected-error @+1 {{has counts, which no region 'row' takes (C5)}}
  nn.update @t keys(%k) gradient(%g) counts 1 scalars() {
  ^bb0(%value: f32, %sum: f32):
    nn.yield %value : f32
  } : tensor<?x3xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
nn.func private @f(%k: tensor<?xi64>, %g: tensor<?x2xf32>) {
  // expected-error @+1 {{updates @t with 'tensor<?x2xf32>'; expected 'tensor<?x3xf32>' (C2)}}
  nn.update @t keys(%k) gradient(%g) counts 1 scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    nn.yield
  } row {
  ^bb0(%width: f64, %count: f32):
    nn.yield %count : f32
  } each {
  ^bb0(%value: f32, %sum: f32, %count: f32):
    nn.yield %count : f32
  } : tensor<?x2xf32>
  nn.return
}

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>) {
  // expected-error @+1 {{has counts, which only rows of tables have (C2)}}
  nn.update @p gradient(%g) counts 1 scalars() sum {
  ^bb0(%value: f32, %sum: f32):
    nn.yield
  } row {
  ^bb0(%width: f64, %count: f32):
    nn.yield %count : f32
  } each {
  ^bb0(%value: f32, %sum: f32, %count: f32):
    nn.yield %count : f32
  } : tensor<4x2xf32>
  nn.return
}
