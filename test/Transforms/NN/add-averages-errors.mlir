// RUN: pdl-opt %s --nn-link-std --nn-add-averages -split-input-file -verify-diagnostics

// expected-error @+1 {{names @emma, which neither the module nor the standard library defines; did you mean 'ema'? The library has}}
nn.group @g rule(@sgd) rate(0.1) average(@emma)

// -----

// expected-error @+1 {{keeps its average by @rowwise_adagrad, which is not a rule `of averages`; name one that is, such as @ema (C1)}}
nn.group @g rule(@sgd) rate(0.1) average(@rowwise_adagrad)

// -----

// expected-error @+1 {{keeps its average by @running_sum, which is not a rule `of averages`; name one that is, such as @ema (C1)}}
nn.group @g rule(@sgd) rate(0.1) average(@running_sum)

// -----

// expected-error @+1 {{gives 'window' to @ema, whose hyper-parameters are ["decay"]; name one of these, or leave it out (C2)}}
nn.group @g rule(@sgd) rate(0.1) average(@ema {window = 3.0})

// -----

nn.rule @own hyper() slots(average_of = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32, %of: f32):
  nn.yield %value, %of : f32, f32
}
// expected-error @+1 {{has an average, but its rule @own has a slot 'average_of'; give that slot another name, which does not begin with 'average'}}
nn.group @g rule(@own) rate(0.1) average(@ema)

// -----

nn.rule @own hyper(average_rate = 0.5) slots() once {
^bb0(%step: f64, %rate: f64, %other: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32):
  nn.yield %value : f32
}
// expected-error @+1 {{has an average, but its rule @own has a hyper-parameter 'average_rate'; give it another name, which does not begin with 'average_'}}
nn.group @g rule(@own) rate(0.1) average(@ema)

// -----

nn.rule @own hyper() slots(mean = 0.0) frozen("mean") once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32, %mean: f32):
  nn.yield %value, %value : f32, f32
}
// expected-error @+1 {{has an average, but of its rule @own frozen programs read slot 'mean' already; remove one of them}}
nn.group @g rule(@own) rate(0.1) average(@ema)

// -----

nn.rule @own hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%value: f64, %gradient: f64):
  nn.yield %value : f64
}
// expected-error @+1 {{has an average @ema, whose region 'each' is written for 'f32', unlike that of rule @own; write both for one type}}
nn.group @g rule(@own) rate(0.1) average(@ema)

// -----

// expected-error @+1 {{has frozen programs read 'mean', which is none of its slots ["m"]; name one of them (C5)}}
nn.rule @own hyper() slots(m = 0.0) frozen("mean") once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32, %m: f32):
  nn.yield %value, %value : f32, f32
}

// -----

nn.rule @own of averages hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} sum {
^bb0(%average: f32, %value: f32):
  nn.yield
} row {
^bb0(%width: f64):
  nn.yield
} each {
^bb0(%average: f32, %value: f32):
  nn.yield %value : f32
}
// expected-error @+1 {{keeps its average by @own, which reduces over rows or parameters; name a rule of `once` and `each` alone, such as @ema (C1)}}
nn.group @g rule(@sgd) rate(0.1) average(@own)

// -----

// expected-error @+1 {{trains by @ema, which is a rule `of averages`; name it in the clause `average` (C1)}}
nn.group @g rule(@ema) rate(0.1)

// -----

// expected-error @+1 {{gives 'decay' of @ema a number out of its bounds; expected one from 0 below 1 (C2)}}
nn.group @g rule(@sgd) rate(0.1) average(@ema {decay = 1.5})
