//===- gru4rec.mlir - Sessions after GRU4Rec -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gated recurrent units process a session. The state after the last item
// predicts the next item.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!rows = tensor<?x32xf32>
!row = tensor<?x1x32xf32>
!gates = tensor<?x96xf32>

module @gru4rec {
  // The columns are those of scripts/make_histories.py.
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @next : !id columns([5])
    nn.field @other : !id columns([7])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  // An item has two rows: one is read when the item occurs in a session, the
  // other when the item is scored.
  nn.table @seen_rows : i64 -> tensor<32xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @item_rows : i64 -> tensor<32xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  // Reset, update and candidate in one matrix.
  nn.param @w : tensor<32x96xf32> in @dense init(#nn.xavier)
  nn.param @wb : tensor<96xf32> in @dense init(#nn.zeros)
  nn.param @u : tensor<32x96xf32> in @dense init(#nn.xavier)
  nn.param @ub : tensor<96xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @session(%items: !ids) -> !row {
    %x = nn.lookup @seen_rows[%items] pool(none) : (!ids) -> !rows
    // One product computes the contributions of all items.
    %gates = nn.linear %x, @w, @wb : (!rows) -> !gates
    %states = nn.gru %gates of %items, @u, @ub : !gates, !ids
    %last = nn.segment_last %states of %items : !rows, !ids
    nn.return %last : !row
  }

  nn.func private @score(%session: !row, %item: !id) -> !one {
    %row = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %products = nn.mul %session, %row : !row, !row
    %score = nn.reduce sum %products axes [2] : !row
    nn.return %score : !one
  }

  // The next item should have a higher score than the other: labels 1 and 0.
  nn.func private @scores(%items: !ids, %next: !id, %other: !id) -> (!one, !one, !one, !one) {
    %session = nn.call @session(%items) : (!ids) -> !row
    %positive = nn.call @score(%session, %next) : (!row, !id) -> !one
    %negative = nn.call @score(%session, %other) : (!row, !id) -> !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %positive : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %positive : (tensor<1xf32>, !one) -> !one
    nn.return %positive, %negative, %yes, %no : !one, !one, !one, !one
  }

  nn.program @train reads(@visit) {
  ^bb0(%items: !ids, %next: !id, %other: !id):
    %s:4 = nn.call @scores(%items, %next, %other) : (!ids, !id, !id) -> (!one, !one, !one, !one)
    %l = nn.bpr_loss %s#0, %s#1 : !one
    %p1 = nn.sigmoid %s#0 : !one
    %p2 = nn.sigmoid %s#1 : !one
    nn.observe @auc(%p1, %s#2) : !one
    nn.observe @auc(%p2, %s#3) : !one
    nn.observe @log_loss(%p1, %s#2) : !one
    nn.observe @log_loss(%p2, %s#3) : !one
    nn.minimize %l over [@dense, @sparse] : !one
  }

  nn.program @evaluate frozen reads(@visit) {
  ^bb0(%items: !ids, %next: !id, %other: !id):
    %s:4 = nn.call @scores(%items, %next, %other) : (!ids, !id, !id) -> (!one, !one, !one, !one)
    %p1 = nn.sigmoid %s#0 : !one
    %p2 = nn.sigmoid %s#1 : !one
    nn.observe @auc(%p1, %s#2) : !one
    nn.observe @auc(%p2, %s#3) : !one
    nn.observe @log_loss(%p1, %s#2) : !one
    nn.observe @log_loss(%p2, %s#3) : !one
  }

  nn.program @predict frozen reads(@visit except @other) {
  ^bb0(%items: !ids, %next: !id):
    %session = nn.call @session(%items) : (!ids) -> !row
    %score = nn.call @score(%session, %next) : (!row, !id) -> !one
    nn.return %score : !one
  }
}
