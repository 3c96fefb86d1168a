// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.record @r {
  // expected-error @+1 {{has type 'tensor<4xf32>'; a field is tensor<?xNxf32>}}
  nn.field @x : tensor<4xf32>
}

// -----

nn.record @r {
  // expected-error @+1 {{hashes a numeric field; hash(...) needs ids (C2)}}
  nn.field @x : tensor<?x1xf32> hash(#nn.hash<xxh64>)
}

// -----

nn.record @r {
  // expected-error @+1 {{maps texts to numbers in a field of ids}}
  nn.field @x : tensor<?x1xi64> values({yes = 1.0})
}

// -----

nn.record @r {
  // expected-error @+1 {{separator(...) needs a ragged type (C2)}}
  nn.field @x : tensor<?x1xi64> separator("|")
}

// -----

nn.record @r {
  // expected-error @+1 {{has a separator that is not one ASCII character (C2)}}
  nn.field @x : !nn.ragged<?x1x*xi64> separator("ab")
}

// -----

nn.record @r {
  // expected-error @+1 {{has missing(...) that is not a finite number (C3)}}
  nn.field @x : tensor<?x1xf32> missing("none")
}

// -----

nn.record @r {
  // expected-error @+1 {{holds one value a cell; missing_element(...) needs a ragged type (C3)}}
  nn.field @x : tensor<?x1xf32> missing_element(0.0)
}

// -----

nn.record @r {
  // expected-error @+1 {{has missing_element(...) that is not a finite number (C3)}}
  nn.field @x : !nn.ragged<?x1x*xf32> missing_element("none")
}

// -----

nn.record @r {
  // expected-error @+1 {{is hashed; its missing_element(...) is the text that stands for a missing one}}
  nn.field @x : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64>) missing_element(0)
}

// -----

// expected-error @+1 {{has the missing text ' NA', which begins or ends with a blank}}
nn.record @r missing_texts([" NA"]) {
}

// -----

// expected-error @+1 {{has the missing text '', which is missing anyway; leave it out (C3)}}
nn.record @r missing_texts(["NA", ""]) {
}

// -----

nn.record @r {
  // expected-error @+1 {{is hashed; its missing(...) is the text that stands for a missing one}}
  nn.field @x : tensor<?x1xi64> hash(#nn.hash<xxh64>) missing(0)
}

// -----

nn.record @r {
  // expected-error @+1 {{names 2 columns for 1 slots (C4)}}
  nn.field @x : tensor<?x1xf32> columns([0, 1])
}

// -----

nn.record @r {
  // expected-error @+1 {{neither all positions nor all header names (C4)}}
  nn.field @x : tensor<?x2xf32> columns([0, "age"])
}

// -----

nn.record @r {
  // expected-error @+1 {{a ragged type has a dynamic batch and a static, positive number of slots before '*'}}
  nn.field @x : !nn.ragged<26x*xi64>
}

// -----

nn.record @r {
  // expected-error @+1 {{unknown hash 'md5'; expected xxh64 or none}}
  nn.field @x : tensor<?x1xi64> hash(#nn.hash<md5>)
}

// -----

nn.record @r {
  // expected-error @+1 {{stands in a record, which holds nn.field only (C1)}}
  nn.metric @auc : #nn.auc<buckets = 16>
}

// -----

// expected-error @+1 {{has type 'tensor<?x4xf32>'; expected a static, non-empty tensor of f32 or f64 (C1)}}
nn.param @w : tensor<?x4xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{uses #nn.xavier, which needs rank 2 (C3)}}
nn.param @w : tensor<4xf32> init(#nn.xavier)

// -----

// expected-error @+1 {{uses #nn.xavier_normal, which needs rank 2 (C3)}}
nn.param @w : tensor<4xf32> init(#nn.xavier_normal)

// -----

// expected-error @+1 {{uses #nn.msra_uniform<fan_in>, which needs rank 2 (C3)}}
nn.param @w : tensor<4xf32> init(#nn.msra_uniform<fan_in>)

// -----

// expected-error @+1 {{uses #nn.msra_normal<fan_out>, which needs rank 2 (C3)}}
nn.param @w : tensor<2x3x4xf32> init(#nn.msra_normal<fan_out>)

// -----

// expected-error @+1 {{#nn.uniform needs two finite bounds, the lower first}}
nn.param @w : tensor<4xf32> init(#nn.uniform<1.0, -1.0>)

// -----

// expected-error @+1 {{#nn.normal needs a finite mean and a deviation >= 0}}
nn.param @w : tensor<4xf32> init(#nn.normal<1.0, -1.0>)

// -----

// expected-error @+1 {{#nn.truncated_normal needs a finite mean and a deviation >= 0}}
nn.param @w : tensor<4xf32> init(#nn.truncated_normal<1.0, -1.0>)

// -----

// expected-error @+1 {{names @nobody, which is not an nn.group (C2)}}
nn.param @w : tensor<4xf32> in @nobody init(#nn.zeros)

// -----

// expected-error @+1 {{has keys of type 'i32'; the key type is i64 (C1)}}
nn.table @t : i32 -> tensor<4xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{a row is a static float tensor of rank 1 (C1)}}
nn.table @t : i64 -> tensor<2x4xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{#nn.auc needs between 2 and 16777216 buckets, got 1}}
nn.metric @auc : #nn.auc<buckets = 1>

// -----

// expected-error @+1 {{#nn.bucket_error needs between 2 and 16777216 buckets, got 16777217}}
nn.metric @error : #nn.bucket_error<buckets = 16777217>

// -----

// expected-error @+1 {{#nn.accuracy needs a finite threshold, got inf}}
nn.metric @accuracy : #nn.accuracy<threshold = 0x7FF0000000000000>

// -----

// expected-error @+1 {{#nn.recall_at needs a k between 1 and 16777216, got 0}}
nn.metric @recall : #nn.recall_at<k = 0>

// -----

// expected-error @+1 {{#nn.accuracy_at needs a k between 1 and 16777216, got -1}}
nn.metric @accuracy : #nn.accuracy_at<k = -1>

// -----

// expected-error @+1 {{#nn.ndcg_at needs a k between 1 and 16777216, got 0}}
nn.metric @ndcg : #nn.ndcg_at<k = 0>

// -----

// expected-error @+1 {{needs a finite limit > 0 (C1)}}
nn.clip @c : global_norm(0.0)

// -----

// expected-error @+1 {{needs a finite limit > 0 (C1)}}
nn.clip @c : norm(0x7FF0000000000000)

// -----

// expected-error @+1 {{needs a finite limit > 0 (C1)}}
nn.clip @c : value(-1.0)

// -----

// expected-error @+2 {{to be one of: global_norm, norm, value}}
// expected-error @+1 {{failed to parse NN_ClipKindAttr}}
nn.clip @c : local_norm(1.0)

// -----

// expected-error @+1 {{names @nobody, which is not an nn.clip (C1)}}
nn.group @g rule(@sgd) rate(0.1) clip(@nobody)

// -----

// expected-error @+1 {{has decay term 3.000000e+00 : f64; expected #nn.l1<c> or #nn.l2<c> (C4)}}
nn.group @g rule(@sgd) rate(0.1) decay(3.0)

// -----

nn.clip @joint : global_norm(1.0)
nn.group @g rule(@sgd) rate(0.1) clip(@joint)
// expected-error @+1 {{merges steps otherwise than group @g, which has the same clip; give each a clip of its own (C9)}}
nn.group @h rule(@sgd) rate(0.1) clip(@joint) merge(sum)

// -----

nn.rule @kept of states hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%w: f32, %g: f32, %rate: f32):
  nn.yield %g : f32
}
// expected-error @+1 {{merges steps by sum, but its rule @kept is for states, which accumulate means; leave merge(sum) out (C8)}}
nn.group @g rule(@kept) rate(0.1) merge(sum)

// -----

// expected-error @+2 {{expected ::pdlc::nn::RateOver to be one of: pushers}}
// expected-error @+1 {{failed to parse NN_RateOverAttr parameter 'value'}}
nn.group @g rule(@sgd) rate(0.1) rate_over(trainers)

// -----

nn.rule @plain hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32):
  nn.yield %w : f32
}
// expected-error @+1 {{compensates delays by @plain, which is not a rule `of delays`; name one that is, such as @delay_compensation (C1)}}
nn.group @g rule(@sgd) rate(0.1) compensate(@plain)

// -----

nn.rule @late of delays hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32, %seen: f32):
  nn.yield %g : f32
}
// expected-error @+1 {{trains by @late, which is a rule `of delays`; name it in the clause `compensate` (C1)}}
nn.group @g rule(@late) rate(0.1)

// -----

nn.rule @late of delays hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32, %seen: f32):
  nn.yield %g : f32
}
// expected-error @+1 {{gives 'strength' to @late, which has no hyper-parameters; leave it out (C2)}}
nn.group @g rule(@sgd) rate(0.1) compensate(@late {strength = 0.5})

// -----

nn.rule @plain of states hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32):
  nn.yield %w : f32
}
// expected-error @+1 {{compensates delays, but its rule @plain is for states, which have no gradients; leave compensate out (C10)}}
nn.group @g rule(@plain) rate(0.1) compensate(@delay_compensation)

// -----

nn.group @g rule(@sgd) rate(0.1) compensate(@delay_compensation)
// expected-error @+1 {{is stored in 16 bits, and its group @g compensates delays, for which rows travel as they are; leave one of the two out (nn.group, C10)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) stored(bf16)

// -----

// expected-error @+1 {{compensates delays and updates rows that nobody asked for, which nobody has seen; write untouched(lazy), or leave compensate out (C10)}}
nn.group @g rule(@sgd) rate(0.1) untouched(dense) compensate(@delay_compensation)
// expected-note @+1 {{the group trains this table}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros)

// -----

// expected-error @+1 {{is of delays, and has slots, counts, regions 'sum' and 'row', or is undivided; it makes a gradient of one element alone (C8)}}
nn.rule @late of delays hyper() slots(m = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32, %seen: f32):
  nn.yield %g : f32
}

// -----

// expected-error @+1 {{is of delays, and yields from 'each' 2 values; expected the gradient, of 'f32' (C8)}}
nn.rule @late of delays hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%w: f32, %g: f32, %seen: f32):
  nn.yield %w, %g : f32, f32
}

// -----

nn.rule @plain hyper(scale = 1.0) slots() once {
^bb0(%step: f64, %rate: f64, %scale: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}
// expected-error @+1 {{gives 'speed' to @plain, whose hyper-parameters are ["scale"]; name one of these, or leave it out (C2)}}
nn.group @g rule(@plain {speed = 2.0}) rate(0.1)

// -----

nn.schedule @always hyper() {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
}
// expected-error @+1 {{gives 'steps' to @always, which has no hyper-parameters; leave it out (C2)}}
nn.group @g rule(@sgd) rate(0.1) schedule(@always {steps = 2.0})

// -----

// expected-error @+1 {{in region 'once'; expected ('f64', 'f64', 'f64') (C1)}}
nn.rule @wrong hyper(scale = 1.0) slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{yields from 'each' 1 values; expected the new value and 1 slots}}
nn.rule @wrong hyper() slots(m = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

nn.rule @wrong hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  // expected-error @+1 {{has no settled scalar numerics}}
  %0 = math.tanh %rate : f64
  nn.yield %0 : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

nn.rule @wrong hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  // expected-error @+1 {{is defined on f64 only (C2)}}
  %0 = math.powf %value, %rate : f32
  nn.yield %0 : f32
}

// -----

nn.rule @wrong hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  // expected-error @+1 {{carries fast-math flags, which settled numerics forbid (C2)}}
  %0 = arith.mulf %value, %rate fastmath<fast> : f32
  nn.yield %0 : f32
}

// -----

// expected-error @+1 {{yields the rate, one f64 (C1)}}
nn.schedule @wrong hyper() {
^bb0(%step: f64, %rate: f64):
  nn.yield %step, %rate : f64, f64
}

// -----

nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
// expected-error @+1 {{has arguments ('tensor<?x3xf32>'), but the fields that it reads are ('tensor<?x2xf32>') (C2)}}
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x3xf32>):
}

// -----

// expected-error @+1 {{reads @nobody, which is not an nn.record (C1)}}
nn.program @p frozen reads(@nobody) {
}

// -----

nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
// expected-error @+1 {{excepts @y, which is not a field of @r (C1)}}
nn.program @p frozen reads(@r except @y) {
^bb0(%x: tensor<?x2xf32>):
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.group @g rule(@sgd) rate(0.1)
nn.program @p frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{stands in frozen program @p, which only reads (C3)}}
  nn.minimize %x over @g : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.group @g rule(@sgd) rate(0.1)
nn.program @p reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-note @+1 {{that one is here}}
  nn.minimize %x over @g : tensor<?x1xf32>
  // expected-error @+1 {{trains group @g, which another nn.minimize of @p trains; add the losses up, or give each its own groups (C4)}}
  nn.minimize %x over @g : tensor<?x1xf32>
}

// -----

nn.func private @f(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{calls @nobody, which is not an nn.func (C1)}}
  %0 = nn.call @nobody(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.return %0 : tensor<?x1xf32>
}

// -----

nn.record @r {
  // expected-error @+1 {{has 1048577 columns; a field has at most 1048576 (C1)}}
  nn.field @x : !nn.ragged<?x1048577x*xi64>
}

// -----

nn.record @r {
  // expected-error @+1 {{maps 'a' to something that is not a finite number (C2)}}
  nn.field @x : tensor<?x1xf32> values({a = 0x7FF8000000000000 : f64})
}

// -----

nn.record @r {
  // expected-error @+1 {{its missing(...) is a 64-bit integer (C3)}}
  nn.field @x : tensor<?x1xi64> missing(99999999999999999999999 : i128)
}

// -----

nn.record @r {
  // expected-error @+1 {{has a column position that is negative or not below 2147483648 (C4)}}
  nn.field @x : tensor<?x1xi64> columns([99999999999999999999999 : i128])
}

// -----

// The number of elements of 2^66 overflows.
// expected-error @+1 {{of more than 1099511627776 elements (C1)}}
nn.param @w : tensor<4611686018427387904x16xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{has rows of 1048577 elements; a row has at most 1048576 (C1)}}
nn.table @t : i64 -> tensor<1048577xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{#nn.l2 needs a finite coefficient >= 0}}
nn.group @g rule(@sgd) rate(0.1) decay(#nn.l2<0x7FF8000000000000>)

// -----

// expected-error @+1 {{#nn.l1 needs a finite coefficient >= 0}}
nn.group @g rule(@sgd) rate(0.1) decay(#nn.l1<-0.1>)

// -----

// expected-error @+1 {{needs nn.return at the end of its body (C1)}}
nn.func private @f(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  llvm.unreachable
}

// -----

nn.schedule @s hyper() {
^bb0(%step: f64, %rate: f64):
  // expected-error @+1 {{computes 'vector<4xf64>'; region 'body' of nn.schedule holds scalars of f32, f64 and i1 (C2)}}
  %0 = arith.constant dense<1.0> : vector<4xf64>
  nn.yield %rate : f64
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{attribute 'groups' failed to satisfy constraint: flat symbol ref array attribute}}
  "nn.minimize"(%x) <{groups = [1, "a"], operandSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1xf32>) -> ()
}

// -----

// expected-error @+1 {{has name 'emb.keys', which dumps give to a part of another symbol; use a name that does not end in .keys or .values and has no .slot. in it (C4)}}
nn.param @"emb.keys" : tensor<4xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{has name 'w.slot.m', which dumps give to a part of another symbol}}
nn.state @"w.slot.m" : tensor<4xf32> init(#nn.zeros)

// -----

// expected-error @+1 {{has name 'emb.values', which dumps give to a part of another symbol}}
nn.table @"emb.values" : i64 -> tensor<4xf32> init(#nn.zeros)

// -----

nn.group @g rule(@sgd) rate(0.1)
nn.param @w : tensor<4xf32> in @g init(#nn.zeros)
nn.param @other : tensor<4xf64> init(#nn.zeros)
// expected-error @+1 {{has elements of 'f64' in group @g, whose other symbols have 'f32'; use two groups (nn.group, C6)}}
nn.table @t : i64 -> tensor<4xf64> in @g init(#nn.zeros)

// -----

// expected-error @+1 {{gives 'beta' a default that is not finite (C3)}}
"nn.schedule"() <{sym_name = "s", hyper_names = ["beta"], hyper_values = array<f64: 0x7FF0000000000000>}> ({
^bb0(%step: f64, %rate: f64, %beta: f64):
  nn.yield %rate : f64
}) : () -> ()

// -----

// expected-error @+1 {{gives 'm' a default that is not finite (C3)}}
"nn.rule"() <{sym_name = "r", hyper_names = [], hyper_values = array<f64>, slot_names = ["m"], slot_values = array<f64: 0x7FF8000000000000>}> ({
^bb0(%step: f64, %rate: f64):
  nn.yield
}, {
^bb0(%value: f32, %gradient: f32, %m: f32):
  nn.yield %value, %m : f32, f32
}, {
}, {
}) : () -> ()

// -----

nn.rule @r hyper(beta = 0.5) slots() once {
^bb0(%step: f64, %rate: f64, %beta: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32):
  nn.yield %value : f32
}
// expected-error @+1 {{gives 'beta' of @r a value that is not a finite number (C2)}}
nn.group @g rule(@r {beta = 0x7FF8000000000000 : f64}) rate(0.1)

// -----

// expected-error @+1 {{has attribute 'nn.phase' with value 3 : i64, which is not a string}}
module attributes {nn.phase = 3} {
}

// -----

nn.record @r {
  // expected-error @+1 {{has a column position that is negative or not below 2147483648 (C4)}}
  nn.field @x : tensor<?x2xi64> columns([1, 9223372036854775807])
}

// -----

nn.record @r {
  // expected-error @+1 {{has a column position that is negative or not below 2147483648 (C4)}}
  nn.field @x : tensor<?x1xi64> columns([2147483648])
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xi64> columns([2147483647])
}

// -----

// A file of batches holds a ragged field in two tensors.
nn.record @r {
  // expected-error @+1 {{has name 'bag.values', which files of batches give to a part of ragged field @bag; give it another one (nn.field, C5)}}
  nn.field @"bag.values" : tensor<?x1xi64>
  // expected-note @+1 {{the ragged field is here}}
  nn.field @bag : !nn.ragged<?x1x*xi64>
}

// -----

nn.record @r {
  // expected-note @+1 {{the ragged field is here}}
  nn.field @bag : !nn.ragged<?x1x*xi64>
  // expected-error @+1 {{has name 'bag.splits', which files of batches give to a part of ragged field @bag}}
  nn.field @"bag.splits" : !nn.ragged<?x1x*xi64>
}

// -----

// Where no ragged field has the rest of the name, it is one as any other.
nn.record @r {
  nn.field @x : tensor<?x1xi64>
  nn.field @"x.values" : tensor<?x1xi64>
  nn.field @".splits" : tensor<?x1xi64>
}

// -----

// expected-error @+1 {{uses #nn.constant<9.9999999999999994E+38>, which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.param @w : tensor<1xf32> init(#nn.constant<1.0e39>)

// -----

// So they do where numbers are of f64.
// expected-error @+1 {{which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.state @w : tensor<1xf64> init(#nn.constant<-1.0e39>)

// -----

// expected-error @+1 {{which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.table @t : i64 -> tensor<1xf32> init(#nn.uniform<-1.0e39, 0.0>)

// -----

// expected-error @+1 {{which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.param @w : tensor<1xf32> init(#nn.normal<0.0, 1.0e38>)

// -----

// expected-error @+1 {{which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.param @w : tensor<1xf32> init(#nn.truncated_normal<0.0, 1.8e38>)

// -----

// An interval as wide as all of f32 is drawn from without overflow: in f64.
nn.param @w : tensor<1xf32> init(#nn.uniform<-3.4e38, 3.4e38>)
nn.param @v : tensor<1xf32> init(#nn.normal<1.0e38, 4.0e37>)
nn.param @u : tensor<1xf32> init(#nn.truncated_normal<0.0, 1.0e38>)

// -----

// expected-error @+1 {{is of kind 3 : i64; expected #nn.auc<buckets = N>, #nn.grouped_auc, #nn.log_loss, #nn.copc, #nn.mean, #nn.mae, #nn.rmse, #nn.accuracy<threshold = X>, #nn.bucket_error<buckets = N>, #nn.accuracy_at<k = N>, #nn.recall_at<k = N>, #nn.ndcg_at<k = N> or #nn.mrr (C1)}}
nn.metric @m : 3

// -----

// expected-error @+1 {{stores rows of 'f64' in bf16; rows that are stored in 16 bits are of f32 (C5)}}
nn.table @t : i64 -> tensor<4xf64> init(#nn.zeros) stored(bf16)

// -----

// Nearest to 65519 is 65504, the largest number.
nn.table @t : i64 -> tensor<4xf32> init(#nn.uniform<-65519.0, 65519.0>) stored(f16)

// -----

// expected-error @+1 {{which gives numbers beyond f16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.uniform<0.0, 65520.0>) stored(f16)

// -----

// expected-error @+1 {{which gives numbers beyond bf16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.constant<3.4e38>) stored(bf16)

// -----

// expected-error @+1 {{has rows stored in 'f8'; expected bf16 or f16}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) stored(f8)

// -----

// expected-error @+1 {{admits or shrinks, and is in no group, so that nothing trains it; give it one, or leave that out (C6)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) admit(count = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of 0; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of 16384; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 16384)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a probability of 1.5}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 1.5)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has more than one of a count, a probability and a score; expected one of them}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 0.5, count = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has 'often'}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(often = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has no name of a number here; expected count = ..., probability = ..., score = ...}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has a count that is too large; expected such as count = 10}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 9223372036854775808)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of -9223372036854775808; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = -9223372036854775808)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has a count that is no whole number; expected such as count = 10}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 1.5)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+2 {{unexpected decimal integer literal for a floating point value}}
// expected-note @+1 {{add a trailing dot to make the literal a float}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 1)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{score has no name of a row slot here; expected such as show = 0.1, click = 0.9}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{shrink needs every = ..., the updates of a period, and unseen = ..., how many periods a row may go without update}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{shrinks every 0 updates; expected at least 1 (C7)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 0, unseen = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{takes rows that are unseen for 16385 periods; expected 1 to 16384 (C7)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 16385)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{multiplies scores by 2.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, decay = 2.0) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, decay = 0.5)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{has a score whose weights are all 0, so that every key scores 0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 0.0, click = -0.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{score has 'show' twice}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 1.0, show = 2.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by more than one of a count, a probability and a score; expected one of them (C6)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, admit_count = 4 : i64, admit_probability = 0.5 : f64} : () -> ()

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{has a score of no slots; name some, such as score(show = 0.1, click = 0.9) (C8)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, shrink_every = 1 : i64, shrink_unseen = 1 : i64, shrink_least = 0.5 : f64, score = {}} : () -> ()

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{admits keys by a score of 0.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 0.0) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least, or admits or widens by one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{admits keys by more than one of a count, a probability and a score; expected one of them (C6)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, admit_count = 4 : i64, admit_score = 0.5 : f64, score = {show = 1.0}} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens from column 0 of 4; expected 1 to 3, so that weight and vector have columns (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 0, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens from column 4 of 4; expected 1 to 3}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 4, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens by a score of 0.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 0.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and is in no group, so that nothing trains it; give it one, or leave `widen` out (C9)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least, or admits or widens by one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and admits keys by probability: most vectors would stand without a weight; admit by count or score, or leave one of the two out (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 0.5) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{vectors would come before weights; let it widen by at least what admits (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 2.0) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and takes rows by a score with click = -1.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 1.0, click = -1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{which gives numbers beyond f16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) stored(f16) score(show = 1.0) widen(from = 1, score = 1.0, init = #nn.constant<1.0e5>)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{has initial value 1 : i64; expected #nn.zeros}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0, init = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widen needs from = ..., the first column of the vector, and score = ..., what a key scores before it has one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widen has 'at'; expected from = ..., score = ..., init = ...}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(at = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs both widen_from and widen_score, or none, and widen_init only beside them (C9)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, widen_from = 1 : i64} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs both widen_from and widen_score, or none, and widen_init only beside them (C9)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, widen_init = #nn.zeros} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens to a vector that is called @t.vector, as another symbol is; rename that (C10)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0)
// expected-note @+1 {{the other one is here}}
nn.param @t.vector : tensor<4xf32> in @g init(#nn.zeros)

// -----

// expected-error @+1 {{has attribute 'nn.widens' with value "t", which is not the name of a table}}
nn.table @u : i64 -> tensor<4xf32> init(#nn.zeros) {nn.widens = "t"}
