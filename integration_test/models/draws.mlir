//===- draws.mlir - Dropout and sampled ids in one model -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model with random draws, for draws_test.py. It reads histories of
// scripts/make_histories.py.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!five = tensor<?x5xf32>
!row = tensor<?x1x8xf32>
#seen = dense<[120, 55, 0, 31, 8, 8, 2, 1]> : tensor<8xi64>

module @draws {
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @next : !id columns([5])
  }
  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adagrad) rate(0.05) untouched(lazy)
  nn.table @seen_rows : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.5, 0.5>)
  nn.table @item_rows : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.5, 0.5>)
  nn.param @w : tensor<8x8xf32> in @dense init(#nn.xavier)
  nn.param @b : tensor<8xf32> in @dense init(#nn.zeros)

  nn.func private @user(%items: !ids) -> !row {
    %rows = nn.lookup @seen_rows[%items] pool(none) : (!ids) -> tensor<?x8xf32>
    %kept = nn.dropout %rows of %items rate(0.2) : tensor<?x8xf32>, !ids
    %mean = nn.segment_mean %kept of %items : tensor<?x8xf32>, !ids
    %h = nn.linear %mean, @w, @b act(tanh) : (!row) -> !row
    %user = nn.dropout %h rate(0.5) : !row
    nn.return %user : !row
  }

  nn.func private @loss(%items: !ids, %next: !id) -> (!one, !one) {
    %user = nn.call @user(%items) : (!ids) -> !row
    %drawn = nn.sample 3 from 0 below 300 uniform : tensor<?x3xi64>
    %hits = nn.accidental_hits %next, %drawn : (!id, tensor<?x3xi64>) -> tensor<?x3xf32>
    %q = nn.log_probability %next from 0 below 300 uniform : (!id) -> !one
    %qn = nn.log_probability %drawn from 0 below 300 uniform : (tensor<?x3xi64>) -> tensor<?x3xf32>
    %one = nn.lookup @item_rows[%next] pool(sum) : (!id) -> !row
    %others = nn.lookup @item_rows[%drawn] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x8xf32>
    %z3 = nn.matmul %user, %one transposed : !row, !row
    %zn3 = nn.matmul %user, %others transposed : !row, tensor<?x3x8xf32>
    %z = nn.flatten %z3 from 1 : tensor<?x1x1xf32>
    %zn = nn.flatten %zn3 from 1 : tensor<?x1x3xf32>
    // Draws two more ids, of the frequent ones.
    %frequent = nn.sample 2 from 0 below 8 counts(#seen) power(0.75) : tensor<?x2xi64>
    %hit = nn.accidental_hits %next, %frequent : (!id, tensor<?x2xi64>) -> tensor<?x2xf32>
    %qf = nn.log_probability %frequent from 0 below 8 counts(#seen) power(0.75) : (tensor<?x2xi64>) -> tensor<?x2xf32>
    %two = nn.lookup @item_rows[%frequent] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x8xf32>
    %zf3 = nn.matmul %user, %two transposed : !row, tensor<?x2x8xf32>
    %zf = nn.flatten %zf3 from 1 : tensor<?x1x2xf32>
    %z5 = nn.concat %zn, %zf axis 1 : tensor<?x3xf32>, tensor<?x2xf32>
    %q5 = nn.concat %qn, %qf axis 1 : tensor<?x3xf32>, tensor<?x2xf32>
    %hits5 = nn.concat %hits, %hit axis 1 : tensor<?x3xf32>, tensor<?x2xf32>
    %l = nn.sampled_softmax %z, %z5 correction %q, %q5 hits %hits5 : !one, !five, !one, !five, !five
    nn.return %l, %z : !one, !one
  }

  nn.program @train reads(@visit) {
  ^bb0(%items: !ids, %next: !id):
    %l:2 = nn.call @loss(%items, %next) : (!ids, !id) -> (!one, !one)
    nn.minimize %l#0 over [@dense, @sparse] : !one
  }

  // This program has no dropout, so a sample's score does not depend on its
  // position in the data. The loss does, because it draws ids by this position.
  nn.program @predict frozen reads(@visit) {
  ^bb0(%items: !ids, %next: !id):
    %l:2 = nn.call @loss(%items, %next) : (!ids, !id) -> (!one, !one)
    nn.return %l#0, %l#1 : !one, !one
  }
}
