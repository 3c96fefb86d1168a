// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// The ids of bags change, but their splits do not. A lookup with weights
// becomes a lookup of single rows, their products and sums.

nn.record @r {
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.record @n {
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @v : !nn.ragged<?x2x*xf32> separator("|")
}
nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: nn.program @parts
// CHECK-SAME: reads(@r)
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<?xi64>, %[[S:.*]]: tensor<?xi32>, %{{.*}}: tensor<?xi64>, %{{.*}}: tensor<?xi32>):
// CHECK: %[[Q:.*]] = nn.id_arithmetic quotient %[[C]] with 16 : tensor<?xi64>
// CHECK: nn.unique %[[Q]]
// CHECK: nn.pool {{.*}} of (%[[Q]] bags(%[[S]]) sum)
nn.program @parts frozen reads(@r) {
^bb0(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x2x*xi64>):
  %q = nn.id_arithmetic quotient %c with 16 : !nn.ragged<?x2x*xi64>
  %0 = nn.lookup @t[%q] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: nn.program @weighted
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<?xi64>, %[[S:.*]]: tensor<?xi32>, %[[D:.*]]: tensor<?xi64>, %[[E:.*]]: tensor<?xi32>):
// CHECK: nn.check_bags %[[E]], %[[S]]
// CHECK: %[[I:.*]] = nn.reshape %[[D]] : (tensor<?xi64>) -> tensor<?x1xi64>
// CHECK: %[[W:.*]] = nn.cast %[[I]] : (tensor<?x1xi64>) -> tensor<?x1xf32>
// CHECK: %[[ROWS:.*]] = nn.pool
// CHECK: %[[PRODUCT:.*]] = nn.mul %[[ROWS]], %[[W]]
// CHECK: %[[SUM:.*]] = nn.segment_sum %[[PRODUCT]] of %[[S]]
// CHECK: %[[WEIGHT:.*]] = nn.segment_sum %[[W]] of %[[S]] : (tensor<?x1xf32>, tensor<?xi32>) -> tensor<?x2x1xf32>
// CHECK: %[[DIVISOR:.*]] = nn.select %[[WEIGHT]], %[[WEIGHT]], %{{.*}}
// CHECK: nn.div %[[SUM]], %[[DIVISOR]]
nn.program @weighted frozen reads(@r) {
^bb0(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x2x*xi64>):
  %same = nn.same_bags %d like %c : !nn.ragged<?x2x*xi64>
  %w = nn.cast %same : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  %0 = nn.lookup @t[%c] weights(%w) pool(mean) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// Numbers of bags are already rows.

// CHECK-LABEL: nn.program @numbers
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<?xi64>, %[[S:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?xf32>, %[[E:.*]]: tensor<?xi32>):
// CHECK: nn.check_bags %[[E]], %[[S]]
// CHECK: %[[W:.*]] = nn.reshape %[[V]] : (tensor<?xf32>) -> tensor<?x1xf32>
// CHECK-NOT: nn.cast
// CHECK: nn.mul %{{.*}}, %[[W]]
nn.program @numbers frozen reads(@n) {
^bb0(%c: !nn.ragged<?x2x*xi64>, %v: !nn.ragged<?x2x*xf32>):
  %same = nn.same_bags %v like %c : !nn.ragged<?x2x*xf32>, !nn.ragged<?x2x*xi64>
  %w = nn.cast %same : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xf32>
  %0 = nn.lookup @t[%c] weights(%w) pool(sum) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: nn.program @window
// CHECK: %[[BEFORE:.*]] = nn.segment_shift %[[ROWS:.*]] of %{{.*}} by 1 :
// CHECK: %[[BEHIND:.*]] = nn.segment_shift %[[ROWS]] of %{{.*}} by -1 :
// CHECK: nn.concat %[[BEFORE]], %[[ROWS]], %[[BEHIND]] axis 1
nn.program @window frozen reads(@r) {
^bb0(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x2x*xi64>):
  %h = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
  %0 = nn.segment_window %h of %c from -1 to 1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %1 = nn.segment_max %0 of %c : (tensor<?x9xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x9xf32>
  nn.return %1 : tensor<?x2x9xf32>
}
