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

// expected-error @+1 {{compensates delays and updates rows that no sample looked up, so no worker has seen them; write untouched(lazy), or leave compensate out (C10)}}
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

// A file of batches stores a ragged field as two tensors.
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

// If no ragged field has the beginning of the name, the name is valid.
nn.record @r {
  nn.field @x : tensor<?x1xi64>
  nn.field @"x.values" : tensor<?x1xi64>
  nn.field @".splits" : tensor<?x1xi64>
}

// -----

// expected-error @+1 {{uses #nn.constant<9.9999999999999994E+38>, which gives numbers beyond f32, in which all programs draw initial values (C3)}}
nn.param @w : tensor<1xf32> init(#nn.constant<1.0e39>)

// -----

// Numbers of f64 give the same errors.
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

// Numbers of an interval as wide as all of f32 are drawn without overflow,
// because they are computed in f64.
nn.param @w : tensor<1xf32> init(#nn.uniform<-3.4e38, 3.4e38>)
nn.param @v : tensor<1xf32> init(#nn.normal<1.0e38, 4.0e37>)
nn.param @u : tensor<1xf32> init(#nn.truncated_normal<0.0, 1.0e38>)

// -----

// expected-error @+1 {{is of kind 3 : i64; expected #nn.auc<buckets = N>, #nn.grouped_auc, #nn.log_loss, #nn.copc, #nn.mean, #nn.mae, #nn.rmse, #nn.accuracy<threshold = X>, #nn.bucket_error<buckets = N>, #nn.accuracy_at<k = N>, #nn.recall_at<k = N>, #nn.ndcg_at<k = N> or #nn.mrr (C1)}}
nn.metric @m : 3

// -----

// A symbol of the model with this name hides the rule of the standard library.

// expected-error @+2 {{names @adam, which is not an nn.rule (C1)}}
// expected-note @+1 {{'nn.group' has this name here, and hides the nn.rule of the standard library, if there is one; rename it}}
nn.group @adam rule(@adam) rate(0.1)

// -----

// expected-note @+1 {{'nn.metric' has this name here, and hides the nn.schedule of the standard library, if there is one; rename it}}
nn.metric @cosine : #nn.log_loss
// expected-error @+1 {{names @cosine, which is not an nn.schedule (C1)}}
nn.group @weights rule(@adam) rate(0.1) schedule(@cosine)

// -----

nn.group @deep rule(@sgd) rate(0.1)
// expected-error @+1 {{names @depe, which is not an nn.group (C2); did you mean 'deep'?}}
nn.param @w : tensor<3xf32> in @depe init(#nn.zeros)

// -----

nn.table @items : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @rows(%ids: tensor<?x2xi64>) -> tensor<?x2x2xf32> {
  // expected-error @+1 {{looks up in @item, which is not an nn.table (C1); did you mean 'items'?}}
  %rows = nn.lookup @item[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
  nn.return %rows : tensor<?x2x2xf32>
}
