// RUN: pdl-opt %s --pdl-pipeline="to=merged" > %t.whole
// RUN: FileCheck %s < %t.whole

// The pass does not change its own result.
// RUN: pdl-opt %t.whole --nn-fingerprint | diff %t.whole -

// Names of the model, of values, of fields and of functions do not affect state
// or training, so they are in no part. Neither are comments, metrics and ops
// that only they need, frozen programs, and fields after the trained ones.
// RUN: sed -n -e 's/,$//' -e '/nn.fingerprint/,$p' %t.whole > %t.parts
// RUN: sed -e 's/@small/@renamed/; s/%h/%hidden/g; s/@score/@logit/g; s/@auc/@area/g; s/buckets = 16/buckets = 32/' \
// RUN:     -e 's|// more|nn.metric @copc : #nn.copc|; s|// seen|nn.observe @copc(%z, %y) : tensor<?x1xf32>|' \
// RUN:     -e 's/nn.return %q/%qq = nn.mul %q, %q : tensor<?x1xf32>, tensor<?x1xf32> nn.return %qq/' \
// RUN:     -e 's|// field|nn.field @weight : tensor<?x1xf32>|; s/reads(@clicks)/reads(@clicks except @weight)/' \
// RUN:     -e 's/except @y)/except [@y, @weight])/' \
// RUN:     %s | pdl-opt --pdl-pipeline="to=merged" > %t.other
// RUN: not diff %t.whole %t.other > %t.difference
// RUN: sed -n -e 's/,$//' -e '/nn.fingerprint/,$p' %t.other | diff %t.parts -

// An edit changes only the part that it concerns.
// DEFINE: %{edit} =
// DEFINE: %{changed} = sed -e %{edit} %s | pdl-opt --pdl-pipeline="to=merged" | sed -n -e 's/,$//' -e '/nn.fingerprint/,$p' \
// DEFINE:   | not diff %t.parts - | FileCheck %s --implicit-check-not='{{^[<>]}}'

// REDEFINE: %{edit} = 's/rate(0.5)/rate(0.25)/'
// RUN: %{changed} --check-prefix=RATE
// RATE: < {{ *}}"rate of group @dense" = "0.5"
// RATE: > {{ *}}"rate of group @dense" = "0.25"

// REDEFINE: %{edit} = 's/rate(0.5)/rate(0.5) merge(mean)/'
// RUN: sed -e %{edit} %s | pdl-opt --pdl-pipeline="to=merged" | sed -n -e 's/,$//' -e '/nn.fingerprint/,$p' | diff %t.parts -

// REDEFINE: %{edit} = 's/rate(0.5)/rate(0.5) merge(sum)/'
// RUN: %{changed} --check-prefix=MERGE
// MERGE: > {{ *}}"merged steps of group @dense" = "sum"

// REDEFINE: %{edit} = 's/rate(0.5)/rate(0.5) rate_over(pushers)/'
// RUN: %{changed} --check-prefix=OVER
// OVER: > {{ *}}"rate over of group @dense" = "pushers"

// REDEFINE: %{edit} = 's/rate(0.5)/rate(0.5) compensate(@delay_compensation)/'
// RUN: %{changed} --check-prefix=COMPENSATE
// COMPENSATE: > {{ *}}"compensation of group @dense" = "{strength = 0.04},

// REDEFINE: %{edit} = '/nn.table/s/$/ stored(f16)/'
// RUN: %{changed} --check-prefix=STORED
// STORED: < {{ *}}"rows of @emb" = "f32 [4]"
// STORED: > {{ *}}"rows of @emb" = "f32 [4] stored in f16"

// REDEFINE: %{edit} = 's/beta1 = 0.75/beta1 = 0.625/'
// RUN: %{changed} --check-prefix=HYPER
// HYPER: < {{ *}}"rule of group @dense" = "{beta1 = 0.75,
// HYPER: > {{ *}}"rule of group @dense" = "{beta1 = 0.625,

// REDEFINE: %{edit} = 's/arith.mulf %%rate, %%gradient/arith.divf %%rate, %%gradient/'
// RUN: %{changed} --check-prefix=RULE
// RULE: < {{ *}}"rule of group @sparse" = "{} slots {},
// RULE: > {{ *}}"rule of group @sparse" = "{} slots {},

// REDEFINE: %{edit} = 's/global_norm(10.0)/global_norm(9.0)/'
// RUN: %{changed} --check-prefix=CLIP
// CLIP: < {{ *}}"clip of group @dense" = "global norm 10 of @w, @b"
// CLIP: > {{ *}}"clip of group @dense" = "global norm 9 of @w, @b"

// Each symbol of a group that is clipped by norm counts its own steps.
// REDEFINE: %{edit} = 's/global_norm(10.0)/norm(10.0)/'
// RUN: %{changed} --check-prefix=NORM
// NORM: < {{ *}}"groups with steps" = "@dense, @sparse"
// NORM: > {{ *}}"groups with steps" = "@dense by symbol, @sparse"
// NORM: < {{ *}}"clip of group @dense" = "global norm 10 of @w, @b"
// NORM: > {{ *}}"clip of group @dense" = "norm 10 of each symbol"

// REDEFINE: %{edit} = 's/global_norm(10.0)/value(10.0)/'
// RUN: %{changed} --check-prefix=ELEMENTS
// ELEMENTS: < {{ *}}"clip of group @dense" = "global norm 10 of @w, @b"
// ELEMENTS: > {{ *}}"clip of group @dense" = "value 10"

// REDEFINE: %{edit} = 's/ decay(#nn.l2<0.125>)//'
// RUN: %{changed} --check-prefix=DECAY
// DECAY: < {{ *}}"regularizer of group @dense" = "#nn.l2<1.250000e-01>"

// REDEFINE: %{edit} = 's/rate(1.0)/rate(1.0) schedule(@exponential {steps = 10.0})/'
// RUN: %{changed} --check-prefix=SCHEDULE
// SCHEDULE: > {{ *}}"schedule of group @sparse" = "{{.*}}steps = 10

// REDEFINE: %{edit} = 's/%%h = nn.relu/%%h = nn.tanh/'
// RUN: %{changed} --check-prefix=LOSS
// LOSS: < {{ *}}"losses of @train" =
// LOSS: > {{ *}}"losses of @train" =

// Another hash changes the meaning of keys.
// REDEFINE: %{edit} = 's/salt = slot/salt = 7/'
// RUN: %{changed} --check-prefix=HASH
// HASH: < {{ *}}"keys of @emb" = "cross_bags(text by xxh64 salt slot, bags, salt = 5) result 0"
// HASH: > {{ *}}"keys of @emb" = "cross_bags(text by xxh64 salt 7, bags, salt = 5) result 0"
// HASH: < {{ *}}"field 2" = "!nn.ragged<?x2x*xi64> hash(<xxh64, salt = slot>) from column 2"
// HASH: > {{ *}}"field 2" = "!nn.ragged<?x2x*xi64> hash(<xxh64, salt = 7>) from column 2"

// So do other ops between a field and a table.
// REDEFINE: %{edit} = 's/salt(5)/salt(6)/'
// RUN: %{changed} --check-prefix=KEYS
// KEYS: < {{ *}}"keys of @emb" = "cross_bags({{.*}}, salt = 5) result 0"
// KEYS: > {{ *}}"keys of @emb" = "cross_bags({{.*}}, salt = 6) result 0"
// KEYS: < {{ *}}"losses of @train" =
// KEYS: > {{ *}}"losses of @train" =

// The name of a field, its columns and its separator do not.
// REDEFINE: %{edit} = 's/@ids/@words/; s/@y/@clicked/'
// RUN: sed -e %{edit} %s | pdl-opt --pdl-pipeline="to=merged" | sed -n -e 's/,$//' -e '/nn.fingerprint/,$p' | diff %t.parts -
// REDEFINE: %{edit} = '/nn.field @ids/s/$/ separator("|") columns([7, 4])/'
// RUN: %{changed} --check-prefix=COLUMNS
// COLUMNS: < {{ *}}"field 2" =
// COLUMNS: > {{ *}}"field 2" =

// Rows that do not exist yet will be created. All parameters are in a
// checkpoint.
// REDEFINE: %{edit} = 's/init(#nn.xavier)/init(#nn.zeros)/; s/-0.5, 0.5/-0.25, 0.25/'
// RUN: %{changed} --check-prefix=INITIAL
// INITIAL: < {{ *}}"initial rows of @emb" = "#nn.uniform<-5.000000e-01, 5.000000e-01>"
// INITIAL: > {{ *}}"initial rows of @emb" = "#nn.uniform<-2.500000e-01, 2.500000e-01>"

// CHECK:      nn.fingerprint state {
// CHECK-NEXT:   "keys of @emb" = "cross_bags(text by xxh64 salt slot, bags, salt = 5) result 0",
// CHECK-NEXT:   "rows of @emb" = "f32 [4]",
// CHECK-NEXT:   "shape of @b" = "f32 [1]",
// CHECK-NEXT:   "shape of @idle" = "f32 [3]",
// CHECK-NEXT:   "shape of @w" = "f32 [8, 1]"
// CHECK-NEXT: } optimizer {
// CHECK-NEXT:   "groups with steps" = "@dense, @sparse",
// CHECK-NEXT:   "slots of @b" = "m, v",
// CHECK-NEXT:   "slots of @w" = "m, v"
// CHECK-NEXT: } training {
// CHECK-NEXT:   "clip of group @dense" = "global norm 10 of @w, @b",
// CHECK-NEXT:   "field 1" = "tensor<?x1xf32> from column 0",
// CHECK-NEXT:   "field 2" = "!nn.ragged<?x2x*xi64> hash(<xxh64, salt = slot>) from column 2",
// CHECK-NEXT:   "group of @b" = "@dense",
// CHECK-NEXT:   "group of @emb" = "@sparse",
// CHECK-NEXT:   "group of @w" = "@dense",
// CHECK-NEXT:   "initial rows of @emb" = "#nn.uniform<-5.000000e-01, 5.000000e-01>",
// CHECK-NEXT:   "losses of @train" = "{{([0-9a-f]{16})}}",
// CHECK-NEXT:   "rate of group @dense" = "0.5",
// CHECK-NEXT:   "rate of group @sparse" = "1",
// CHECK-NEXT:   "regularizer of group @dense" = "#nn.l2<1.250000e-01>",
// CHECK-NEXT:   "rule of group @dense" = "{beta1 = 0.75, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, {{([0-9a-f]{32})}}",
// CHECK-NEXT:   "rule of group @sparse" = "{} slots {}, {{([0-9a-f]{32})}}"
// CHECK-NEXT: }
module @small {
  nn.record @clicks {
    nn.field @y : tensor<?x1xf32>
    nn.field @tag : tensor<?x1xf32>
    nn.field @ids : !nn.ragged<?x2x*xi64> hash(#nn.hash<xxh64, salt = slot>)
    // field
  }
  nn.rule @step hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %change = arith.mulf %rate, %gradient : f32
    %new = arith.subf %value, %change : f32
    nn.yield %new : f32
  }
  nn.clip @joint : global_norm(10.0)
  nn.group @dense rule(@adam {beta1 = 0.75}) rate(0.5) decay(#nn.l2<0.125>) clip(@joint)
  nn.group @sparse rule(@step) rate(1.0)
  nn.table @emb : i64 -> tensor<4xf32> in @sparse init(#nn.uniform<-0.5, 0.5>)
  nn.param @w : tensor<8x1xf32> in @dense init(#nn.xavier)
  nn.param @b : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @idle : tensor<3xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16>
  // more
  nn.func private @score(%ids: !nn.ragged<?x2x*xi64>) -> tensor<?x1xf32> {
    %k = nn.cross %ids salt(5) : !nn.ragged<?x2x*xi64>
    %e = nn.lookup @emb[%k] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
    %f = nn.flatten %e from 1 : tensor<?x2x4xf32>
    %h = nn.relu %f : tensor<?x8xf32>
    %z = nn.linear %h, @w, @b : (tensor<?x8xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@clicks) {
  ^bb0(%y: tensor<?x1xf32>, %tag: tensor<?x1xf32>, %ids: !nn.ragged<?x2x*xi64>):
    %z = nn.call @score(%ids) : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %tag) : tensor<?x1xf32>
    // seen
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@clicks except @y) {
  ^bb0(%tag: tensor<?x1xf32>, %ids: !nn.ragged<?x2x*xi64>):
    %z = nn.call @score(%ids) : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %q = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %q : tensor<?x1xf32>
  }
}
