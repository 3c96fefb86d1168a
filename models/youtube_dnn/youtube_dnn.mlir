//===- youtube_dnn.mlir - Candidates after YouTube -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers over the mean of a history compute the user's vector. Its inner
// product with an item's row is the score of that item as the next one.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x16xf32>

module @youtube_dnn {
  // The columns are those of scripts/make_histories.py.
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @next : !id columns([5])
    nn.field @other : !id columns([7])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  // An item has two rows: one is read when the item occurs in a history, the
  // other when the item is scored.
  nn.table @seen_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @item_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @w1 : tensor<16x64xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @user(%items: !ids) -> !row {
    %history = nn.lookup @seen_rows[%items] pool(mean) : (!ids) -> !row
    %h1 = nn.linear %history, @w1, @b1 act(relu) : (!row) -> tensor<?x1x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x1x64xf32>) -> tensor<?x1x32xf32>
    %user = nn.linear %h2, @w3, @b3 act(relu) : (tensor<?x1x32xf32>) -> !row
    nn.return %user : !row
  }

  nn.func private @score(%user: !row, %item: !id) -> !one {
    %row = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %products = nn.mul %user, %row : !row, !row
    %score = nn.reduce sum %products axes [2] : !row
    nn.return %score : !one
  }

  // The next item should have a higher score than the other: labels 1 and 0.
  nn.func private @scores(%items: !ids, %next: !id, %other: !id) -> (!one, !one, !one, !one) {
    %user = nn.call @user(%items) : (!ids) -> !row
    %positive = nn.call @score(%user, %next) : (!row, !id) -> !one
    %negative = nn.call @score(%user, %other) : (!row, !id) -> !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %positive : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %positive : (tensor<1xf32>, !one) -> !one
    nn.return %positive, %negative, %yes, %no : !one, !one, !one, !one
  }

  nn.program @train reads(@visit) {
  ^bb0(%items: !ids, %next: !id, %other: !id):
    %s:4 = nn.call @scores(%items, %next, %other) : (!ids, !id, !id) -> (!one, !one, !one, !one)
    %l1 = nn.sigmoid_cross_entropy %s#0, %s#2 : !one
    %l2 = nn.sigmoid_cross_entropy %s#1, %s#3 : !one
    %l = nn.add %l1, %l2 : !one, !one
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
    %user = nn.call @user(%items) : (!ids) -> !row
    %score = nn.call @score(%user, %next) : (!row, !id) -> !one
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }
}
