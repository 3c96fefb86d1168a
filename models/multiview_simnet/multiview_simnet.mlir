//===- multiview_simnet.mlir - Users and items seen from several sides -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A user has two views, items and their categories, each with an encoder of its
// own; so has an item. The views of each side are joined to one vector, and the
// cosine of the two vectors is the score.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!rows = tensor<?x16xf32>
!row = tensor<?x1x16xf32>
!gates = tensor<?x48xf32>
!both = tensor<?x1x32xf32>
!vector = tensor<?x16xf32>

module @multiview_simnet {
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

  // Each view has one table for both sides.
  nn.table @item_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @category_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  // Reset, update and candidate in one matrix.
  nn.param @w : tensor<16x48xf32> in @dense init(#nn.xavier)
  nn.param @wb : tensor<48xf32> in @dense init(#nn.zeros)
  nn.param @u : tensor<16x48xf32> in @dense init(#nn.xavier)
  nn.param @ub : tensor<48xf32> in @dense init(#nn.zeros)
  nn.param @user_w : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @user_b : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @item_w : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @item_b : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @mean_loss : #nn.mean

  // Items are a bag without order, categories are a sequence. A vector that is
  // nearly 0 would have enormous gradients if it were normalized to length 1.
  // An example is a user without history in the first steps.
  nn.func private @user(%items: !ids, %categories: !ids) -> !vector {
    %bag = nn.lookup @item_rows[%items] pool(sum) : (!ids) -> !row
    %tamed = nn.tanh %bag : !row
    %x = nn.lookup @category_rows[%categories] pool(none) : (!ids) -> !rows
    %gates = nn.linear %x, @w, @wb : (!rows) -> !gates
    %states = nn.gru %gates of %categories, @u, @ub : !gates, !ids
    %last = nn.segment_last %states of %categories : !rows, !ids
    %views = nn.concat %tamed, %last axis 2 : !row, !row
    %y = nn.linear %views, @user_w, @user_b act(tanh) : (!both) -> !row
    %flat = nn.flatten %y from 1 : !row
    %u = nn.l2_normalize %flat epsilon 1.0e-4 : !vector
    nn.return %u : !vector
  }

  nn.func private @item(%item: !id, %category: !id) -> !vector {
    %i = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %tamed = nn.tanh %i : !row
    %c = nn.lookup @category_rows[%category] pool(sum) : (!id) -> !row
    %views = nn.concat %tamed, %c axis 2 : !row, !row
    %y = nn.linear %views, @item_w, @item_b act(tanh) : (!both) -> !row
    %flat = nn.flatten %y from 1 : !row
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
  nn.func private @loss(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id) -> (!one, !one, !one, !one, !one) {
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !vector
    %chosen = nn.call @item(%next, %next_category) : (!id, !id) -> !vector
    %rejected = nn.call @item(%other, %other_category) : (!id, !id) -> !vector
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
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id):
    %l:5 = nn.call @loss(%items, %categories, %next, %next_category, %other, %other_category) : (!ids, !ids, !id, !id, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
    nn.minimize %l#0 over [@dense, @sparse] : !one
  }

  nn.program @evaluate frozen reads(@visit) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id):
    %l:5 = nn.call @loss(%items, %categories, %next, %next_category, %other, %other_category) : (!ids, !ids, !id, !id, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
  }

  nn.program @predict frozen reads(@visit except [@other, @other_category]) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id):
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !vector
    %item = nn.call @item(%next, %next_category) : (!id, !id) -> !vector
    %score = nn.call @score(%user, %item) : (!vector, !vector) -> !one
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }
}
