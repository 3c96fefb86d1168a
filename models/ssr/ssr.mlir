//===- ssr.mlir - Sessions and items in one space -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gated recurrent units process a session. The state after the last item and
// the next item are vectors of one space, and their cosine is the score.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!rows = tensor<?x32xf32>
!row = tensor<?x1x32xf32>
!gates = tensor<?x96xf32>
!small = tensor<?x1x16xf32>
!vector = tensor<?x16xf32>

module @ssr {
  // The columns are those of scripts/make_histories.py.
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @next : !id columns([5])
    nn.field @other : !id columns([7])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  // Items that were seen and items that are scored share their rows.
  nn.table @item_rows : i64 -> tensor<32xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  // Reset, update and candidate in one matrix.
  nn.param @w : tensor<32x96xf32> in @dense init(#nn.xavier)
  nn.param @wb : tensor<96xf32> in @dense init(#nn.zeros)
  nn.param @u : tensor<32x96xf32> in @dense init(#nn.xavier)
  nn.param @ub : tensor<96xf32> in @dense init(#nn.zeros)
  nn.param @user_w : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @user_b : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @item_w : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @item_b : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @mean_loss : #nn.mean

  // A vector that is nearly 0 would have enormous gradients if it were
  // normalized to length 1. An example is a user without history in the first
  // steps.
  nn.func private @user(%items: !ids) -> !vector {
    %x = nn.lookup @item_rows[%items] pool(none) : (!ids) -> !rows
    // One product computes the contributions of all items.
    %gates = nn.linear %x, @w, @wb : (!rows) -> !gates
    %states = nn.gru %gates of %items, @u, @ub : !gates, !ids
    %last = nn.segment_last %states of %items : !rows, !ids
    %y = nn.linear %last, @user_w, @user_b act(tanh) : (!row) -> !small
    %flat = nn.flatten %y from 1 : !small
    %u = nn.l2_normalize %flat epsilon 1.0e-4 : !vector
    nn.return %u : !vector
  }

  nn.func private @item(%item: !id) -> !vector {
    %x = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %y = nn.linear %x, @item_w, @item_b act(tanh) : (!row) -> !small
    %flat = nn.flatten %y from 1 : !small
    %v = nn.l2_normalize %flat epsilon 1.0e-4 : !vector
    nn.return %v : !vector
  }

  // Three times the cosine: the margin of the loss is 1, which is a third in
  // cosines.
  nn.func private @score(%user: !vector, %item: !vector) -> !one {
    %products = nn.mul %user, %item : !vector, !vector
    %cosine = nn.reduce sum %products axes [1] keep : !vector
    %three = nn.constant dense<3.0> : tensor<1xf32>
    %score = nn.mul %cosine, %three : !one, tensor<1xf32>
    nn.return %score : !one
  }

  // Returns the loss, and the probabilities of both items with their labels.
  nn.func private @loss(%items: !ids, %next: !id, %other: !id) -> (!one, !one, !one, !one, !one) {
    %user = nn.call @user(%items) : (!ids) -> !vector
    %chosen = nn.call @item(%next) : (!id) -> !vector
    %rejected = nn.call @item(%other) : (!id) -> !vector
    %positive = nn.call @score(%user, %chosen) : (!vector, !vector) -> !one
    %negative = nn.call @score(%user, %rejected) : (!vector, !vector) -> !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %positive : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %positive : (tensor<1xf32>, !one) -> !one
    %ahead = nn.sub %positive, %negative : !one, !one
    %l = nn.hinge_loss %ahead, %yes : !one
    %p1 = nn.sigmoid %positive : !one
    %p2 = nn.sigmoid %negative : !one
    nn.return %l, %p1, %yes, %p2, %no : !one, !one, !one, !one, !one
  }

  nn.program @train reads(@visit) {
  ^bb0(%items: !ids, %next: !id, %other: !id):
    %l:5 = nn.call @loss(%items, %next, %other) : (!ids, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
    nn.minimize %l#0 over [@dense, @sparse] : !one
  }

  nn.program @evaluate frozen reads(@visit) {
  ^bb0(%items: !ids, %next: !id, %other: !id):
    %l:5 = nn.call @loss(%items, %next, %other) : (!ids, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
  }

  nn.program @predict frozen reads(@visit except [@other]) {
  ^bb0(%items: !ids, %next: !id):
    %user = nn.call @user(%items) : (!ids) -> !vector
    %item = nn.call @item(%next) : (!id) -> !vector
    %score = nn.call @score(%user, %item) : (!vector, !vector) -> !one
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }
}
