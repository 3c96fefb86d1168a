//===- two_towers.mlir - Two towers and a cosine -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two towers: layers over the items that a user has seen, and layers over the
// properties of an item. The cosine of the two vectors is the score of the
// item. Vectors of items do not depend on the user, so they can be computed
// before a request.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x16xf32>
!both = tensor<?x1x32xf32>

module @two_towers {
  // The columns are those of scripts/make_histories.py.
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @categories : !ids separator(" ") columns([4])
    nn.field @next : !id columns([5])
    nn.field @next_category : !id columns([6])
    nn.field @other : !id columns([7])
    nn.field @other_category : !id columns([8])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  nn.table @seen_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @seen_category_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @item_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @category_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @user_w1 : tensor<32x32xf32> in @dense init(#nn.xavier)
  nn.param @user_b1 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @user_w2 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @user_b2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @item_w1 : tensor<32x32xf32> in @dense init(#nn.xavier)
  nn.param @item_b1 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @item_w2 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @item_b2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @loss_mean : #nn.mean

  nn.func private @user(%items: !ids, %categories: !ids) -> !row {
    %i = nn.lookup @seen_rows[%items] pool(mean) : (!ids) -> !row
    %c = nn.lookup @seen_category_rows[%categories] pool(mean) : (!ids) -> !row
    %x = nn.concat %i, %c axis 2 : !row, !row
    %h = nn.linear %x, @user_w1, @user_b1 act(tanh) : (!both) -> !both
    %user = nn.linear %h, @user_w2, @user_b2 act(tanh) : (!both) -> !row
    nn.return %user : !row
  }

  nn.func private @item(%item: !id, %category: !id) -> !row {
    %i = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %c = nn.lookup @category_rows[%category] pool(sum) : (!id) -> !row
    %x = nn.concat %i, %c axis 2 : !row, !row
    %h = nn.linear %x, @item_w1, @item_b1 act(tanh) : (!both) -> !both
    %row = nn.linear %h, @item_w2, @item_b2 act(tanh) : (!both) -> !row
    nn.return %row : !row
  }

  // Ten times the cosine. The loss ends at a certain distance of the scores,
  // and this factor sets the distance.
  nn.func private @score(%user: !row, %item: !row) -> !one {
    %cosine = nn.cosine_similarity %user, %item : !row, !row
    %flat = nn.flatten %cosine from 1 : tensor<?x1x1xf32>
    %ten = nn.constant dense<10.0> : tensor<1xf32>
    %score = nn.mul %flat, %ten : !one, tensor<1xf32>
    nn.return %score : !one
  }

  nn.func private @scores(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id) -> (!one, !one) {
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !row
    %one = nn.call @item(%next, %next_category) : (!id, !id) -> !row
    %two = nn.call @item(%other, %other_category) : (!id, !id) -> !row
    %positive = nn.call @score(%user, %one) : (!row, !row) -> !one
    %negative = nn.call @score(%user, %two) : (!row, !row) -> !one
    nn.return %positive, %negative : !one, !one
  }

  // The metrics: of the loss, and the AUC of all scores, next items against
  // others.
  nn.func private @loss(%positive: !one, %negative: !one) -> (!one, !one, !one, !one, !one) {
    %l = nn.bpr_loss %positive, %negative : !one
    %p1 = nn.sigmoid %positive : !one
    %p2 = nn.sigmoid %negative : !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %l : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %l : (tensor<1xf32>, !one) -> !one
    nn.return %l, %p1, %yes, %p2, %no : !one, !one, !one, !one, !one
  }

  nn.program @train reads(@visit) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id):
    %s:2 = nn.call @scores(%items, %categories, %next, %next_category, %other, %other_category) : (!ids, !ids, !id, !id, !id, !id) -> (!one, !one)
    %l:5 = nn.call @loss(%s#0, %s#1) : (!one, !one) -> (!one, !one, !one, !one, !one)
    nn.observe @loss_mean(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
    nn.minimize %l#0 over [@dense, @sparse] : !one
  }

  nn.program @evaluate frozen reads(@visit) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id):
    %s:2 = nn.call @scores(%items, %categories, %next, %next_category, %other, %other_category) : (!ids, !ids, !id, !id, !id, !id) -> (!one, !one)
    %l:5 = nn.call @loss(%s#0, %s#1) : (!one, !one) -> (!one, !one, !one, !one, !one)
    nn.observe @loss_mean(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
  }

  nn.program @predict frozen reads(@visit except [@other, @other_category]) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id):
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !row
    %item = nn.call @item(%next, %next_category) : (!id, !id) -> !row
    %score = nn.call @score(%user, %item) : (!row, !row) -> !one
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }
}
