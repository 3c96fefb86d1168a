// RUN: pdl-opt %s --nn-link-std --nn-lower-model --nn-split-tables -split-input-file | FileCheck %s
// RUN: pdl-opt %s --nn-link-std --nn-lower-model --nn-split-tables -split-input-file --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATISTICS
// RUN: pdl-opt %s --pdl-pipeline="to=merged" -split-input-file | FileCheck %s --check-prefix=MERGED
// RUN: pdl-opt %s --pdl-pipeline="to=gradient" -split-input-file | FileCheck %s --check-prefix=GRADIENT

// STATISTICS: nn-split-tables | {{.*}}tables-split=2
// STATISTICS: nn-split-tables | {{.*}}tables-split=0

// The clauses of each part. Both parts use the keys of one nn.unique. If
// columns are requested after the dimensions of samples, the parts are joined
// there.
// CHECK-LABEL: module @two
// CHECK: nn.table @t : i64 -> tensor<1xf32> in @clicks init(#nn.zeros) unknown({{ ?}}zero) admit(count = 3) shrink(every = 10, unseen = 2){{$}}
// CHECK-NEXT: nn.table @t.vector : i64 -> tensor<4xf32> in @clicks init(#nn.uniform<{{.*}}>) unknown({{ ?}}zero) admit(score = 2.000000e+00) shrink(every = 10, unseen = 2) score(show = 5.000000e-01) {nn.widens = @t}
// CHECK-NEXT: nn.table @scored : i64 -> tensor<2xf32> in @clicks init(#nn.zeros) stored({{ ?}}bf16) admit(score = 1.000000e+00) shrink(every = 10, unseen = 2, decay = 5.000000e-01, least = 2.500000e-01) score(show = 5.000000e-01){{$}}
// CHECK-NEXT: nn.table @scored.vector : i64 -> tensor<1xf32> in @clicks init(#nn.zeros) stored({{ ?}}bf16) admit(score = 2.000000e+00) shrink(every = 10, unseen = 2, decay = 5.000000e-01, least = 2.500000e-01) score(show = 5.000000e-01) {nn.widens = @scored}
// CHECK-NEXT: nn.table @plain : i64 -> tensor<2xf32> in @clicks init(#nn.zeros){{$}}
// CHECK: nn.program @train
// CHECK: %[[KEYS:keys[_0-9]*]], %{{.+}}, %{{.+}}, %{{.+}} = nn.unique %[[IDS:.+]]
// CHECK-NEXT: %[[R0:.+]] = nn.pull @t[%[[KEYS]]] : tensor<?x1xf32>
// CHECK-NEXT: %[[R1:.+]] = nn.pull @t.vector[%[[KEYS]]] : tensor<?x4xf32>
// CHECK-NEXT: %[[P0:.+]] = nn.pool %[[R0]]{{.*}} of (%[[IDS]] bags(%{{.+}}) mean)
// CHECK-NEXT: %[[P1:.+]] = nn.pool %[[R1]]{{.*}} of (%[[IDS]] bags(%{{.+}}) mean)
// CHECK-NEXT: %[[S0:.+]] = nn.reshape %[[P0]] : (tensor<?x1xf32>) -> tensor<?x3x1xf32>
// CHECK-NEXT: %[[S1:.+]] = nn.reshape %[[P1]] : (tensor<?x4xf32>) -> tensor<?x3x4xf32>
// CHECK-NEXT: %[[JOINED:.+]] = nn.concat %[[S0]], %[[S1]] axis 2
// CHECK-NEXT: nn.reduce sum %[[JOINED]]
// CHECK: %[[C0:.+]] = nn.pool %{{.+}} sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
// CHECK-NEXT: %[[C1:.+]] = nn.pool %{{.+}} sum) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: nn.count_pooled @t of %[[C0]] by %[[VALUES:.+]] :
// CHECK-NEXT: nn.count_pooled @t.vector of %[[C1]] by %[[VALUES]] :
// Columns of the weight are those of its table. A training program looks up
// weights together with vectors.
// CHECK: %[[Q0:.+]] = nn.pool %{{.+}} sum) : (tensor<?x2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT: %[[Q1:.+]] = nn.pool %{{.+}} sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
// CHECK-NEXT: %[[W0:.+]] = nn.reshape %[[Q0]] : (tensor<?x2xf32>) -> tensor<?x1x2xf32>
// CHECK-NEXT: %[[W1:.+]] = nn.reshape %[[Q1]] : (tensor<?x1xf32>) -> tensor<?x1x1xf32>
// CHECK-NEXT: %[[BOTH:.+]] = nn.concat %[[W0]], %[[W1]] axis 2
// CHECK: nn.slice %[[W0]] axis 2 offset 1 size 1
// CHECK: nn.slice %[[BOTH]] axis 2 offset 2 size 1
// With one row per id, its columns are adjacent.
// CHECK: nn.program @predict
// CHECK: nn.concat %{{.+}}, %{{.+}} axis 1 : tensor<?x1xf32>, tensor<?x4xf32>
// CHECK: nn.slice %{{.+}} axis 2 offset 2 size 2 : tensor<?x3x4xf32>
// CHECK-NOT: nn.concat

// Lookups of both parts are joined in the same way, so ids are deduplicated
// once. A clip's norm of a symbol is one norm of both parts. A training that is
// resumed must have split the same table.
// MERGED: "admission of @t.vector" = "by score 2 of show * 0.5"
// MERGED: "columns of @t.vector" = "behind those of @t"

// GRADIENT-LABEL: module @two
// GRADIENT: nn.group @clicks.t {{.*}} clip(@each.t)
// GRADIENT: nn.group @clicks.scored {{.*}} clip(@each.scored)
// GRADIENT-NOT: nn.widens
// GRADIENT: nn.table @t : i64 -> tensor<1xf32> in @clicks.t init
// GRADIENT-NEXT: nn.table @t.vector : i64 -> tensor<4xf32> in @clicks.t init
// GRADIENT-NEXT: nn.table @scored : i64 -> tensor<2xf32> in @clicks.scored init
// GRADIENT-NEXT: nn.table @scored.vector : i64 -> tensor<1xf32> in @clicks.scored init
// GRADIENT-NEXT: nn.table @plain : i64 -> tensor<2xf32> in @clicks.plain init
// GRADIENT: %[[KEYS:keys[_0-9]*]], %{{.+}} = nn.unique
// GRADIENT: nn.pull @t[%[[KEYS]]]
// GRADIENT: nn.pull @t.vector[%[[KEYS]]]
// GRADIENT: nn.squared_norm {@t[%[[KEYS]]] = %{{.+}}, @t.vector[%[[KEYS]]] = %{{.+}}}
// GRADIENT: nn.update @t keys(%[[KEYS]]) gradient(%{{.+}}) counts 2 admitting scalars
// GRADIENT: nn.update @t.vector keys(%[[KEYS]]) gradient(%{{.+}}) counts 2 scalars
module @two {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x3x*xi64>
    nn.field @d : tensor<?x1xi64>
  }
  nn.clip @each : norm(1.0)
  nn.group @clicks rule(@click_adagrad) rate(0.1) clip(@each) untouched(lazy)
  nn.table @t : i64 -> tensor<5xf32> in @clicks init(#nn.zeros) unknown(zero) admit(count = 3) shrink(every = 10, unseen = 2) score(show = 0.5) widen(from = 1, score = 2.0, init = #nn.uniform<-0.5, 0.5>)
  nn.table @scored : i64 -> tensor<3xf32> in @clicks init(#nn.zeros) stored(bf16) admit(score = 1.0) shrink(every = 10, unseen = 2, decay = 0.5, least = 0.25) score(show = 0.5) widen(from = 2, score = 2.0)
  nn.table @plain : i64 -> tensor<2xf32> in @clicks init(#nn.zeros)
  nn.func private @sums(%c: !nn.ragged<?x3x*xi64>) with(@rows: i64 -> tensor<5xf32>) -> tensor<?xf32> {
    %e = nn.lookup @rows[%c] pool(mean) : (!nn.ragged<?x3x*xi64>) -> tensor<?x3x5xf32>
    %s = nn.reduce sum %e axes [1, 2] : tensor<?x3x5xf32>
    nn.return %s : tensor<?xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x3x*xi64>, %d: tensor<?x1xi64>):
    %s = nn.call @sums(%c) with(@t) : (!nn.ragged<?x3x*xi64>) -> tensor<?xf32>
    nn.count @t[%c] show(%y) click(%y) : !nn.ragged<?x3x*xi64>, tensor<?x1xf32>
    %f = nn.lookup @scored[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    nn.count @scored[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
    %f0 = nn.slice %f axis 2 offset 1 size 1 : tensor<?x1x3xf32>
    %f1 = nn.slice %f axis 2 offset 2 size 1 : tensor<?x1x3xf32>
    %f2 = nn.add %f0, %f1 : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %u = nn.reduce sum %f2 axes [1, 2] : tensor<?x1x1xf32>
    %g = nn.lookup @plain[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    nn.count @plain[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
    %v = nn.reduce sum %g axes [1, 2] : tensor<?x1x2xf32>
    %a = nn.add %s, %u : tensor<?xf32>, tensor<?xf32>
    %b = nn.add %a, %v : tensor<?xf32>, tensor<?xf32>
    %z = nn.reshape %b : (tensor<?xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@clicks] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except [@y, @d]) {
  ^bb0(%c: !nn.ragged<?x3x*xi64>):
    %e = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x3x*xi64>) -> tensor<?x5xf32>
    %s = nn.segment_sum %e of %c : (tensor<?x5xf32>, !nn.ragged<?x3x*xi64>) -> tensor<?x3x5xf32>
    %m = nn.lookup @t[%c] pool(mean) : (!nn.ragged<?x3x*xi64>) -> tensor<?x3x5xf32>
    %o = nn.slice %m axis 2 offset 3 size 2 : tensor<?x3x5xf32>
    nn.return %s, %o : tensor<?x3x5xf32>, tensor<?x3x2xf32>
  }
}

// -----

// Updates count vectors, so they need the rows of both parts.
// CHECK-LABEL: module @counted
// CHECK: %[[KEYS:keys[_0-9]*]], %{{.+}} = nn.unique
// CHECK: nn.pull @t[%[[KEYS]]]
// CHECK: nn.pull @t.vector[%[[KEYS]]]
// CHECK: nn.concat
// CHECK: nn.slice
// A program that comes after one of these is another program.
// CHECK: nn.program @again
// CHECK: nn.pull @t.vector
// GRADIENT-LABEL: module @counted
// GRADIENT: nn.update @t.vector keys(%{{.+}}) gradient(%{{.+}}) counts 2 scalars
module @counted {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @d : tensor<?x1xi64>
  }
  nn.group @clicks rule(@click_adagrad) rate(0.1) untouched(lazy)
  nn.table @t : i64 -> tensor<5xf32> in @clicks init(#nn.zeros) score(show = 0.5) widen(from = 1, score = 2.0)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
    %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x5xf32>
    %w = nn.slice %e axis 2 offset 0 size 1 : tensor<?x1x5xf32>
    nn.count @t[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
    %z = nn.reshape %w : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@clicks] : tensor<?x1xf32>
  }
  nn.program @again reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x1xi64>):
    %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x5xf32>
    %w = nn.slice %e axis 2 offset 0 size 1 : tensor<?x1x5xf32>
    nn.count @t[%d] show(%y) click(%y) : tensor<?x1xi64>, tensor<?x1xf32>
    %z = nn.reshape %w : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@clicks] : tensor<?x1xf32>
  }
}

// -----

// CHECK-LABEL: module @none
// CHECK: nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros){{$}}
// CHECK-NEXT: nn.program
// GRADIENT-LABEL: module @none
module @none {
  nn.record @r {
    nn.field @d : tensor<?x1xi64>
  }
  nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%d: tensor<?x1xi64>):
    %e = nn.lookup @t[%d] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    nn.return %e : tensor<?x1x2xf32>
  }
}
