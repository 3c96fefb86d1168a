//===- dssm.mlir - Two towers, and the batch as negatives -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two towers: layers over the items that a user has seen, and layers over the
// properties of an item. The user's vector is compared with those of all items
// of the batch, of which one is the user's next item. So a row of the data
// needs no negative item.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x16xf32>
!vector = tensor<?x16xf32>
!both = tensor<?x1x32xf32>

module @dssm {
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

  // A vector that is nearly 0 would have enormous gradients if it were
  // normalized to length 1. An example is a user without history in the first
  // steps.
  nn.func private @user(%items: !ids, %categories: !ids) -> !vector {
    %i = nn.lookup @seen_rows[%items] pool(mean) : (!ids) -> !row
    %c = nn.lookup @seen_category_rows[%categories] pool(mean) : (!ids) -> !row
    %x = nn.concat %i, %c axis 2 : !row, !row
    %h = nn.linear %x, @user_w1, @user_b1 act(tanh) : (!both) -> !both
    %y = nn.linear %h, @user_w2, @user_b2 : (!both) -> !row
    %flat = nn.flatten %y from 1 : !row
    %u = nn.l2_normalize %flat epsilon 1.0e-4 : !vector
    nn.return %u : !vector
  }

  nn.func private @item(%item: !id, %category: !id) -> !vector {
    %i = nn.lookup @item_rows[%item] pool(sum) : (!id) -> !row
    %c = nn.lookup @category_rows[%category] pool(sum) : (!id) -> !row
    %x = nn.concat %i, %c axis 2 : !row, !row
    %h = nn.linear %x, @item_w1, @item_b1 act(tanh) : (!both) -> !both
    %y = nn.linear %h, @item_w2, @item_b2 : (!both) -> !row
    %flat = nn.flatten %y from 1 : !row
    %v = nn.l2_normalize %flat epsilon 1.0e-4 : !vector
    nn.return %v : !vector
  }

  // The scores are ten times the cosines. Otherwise the softmax could not
  // distinguish them.
  nn.func private @sharpen(%user: !vector) -> !vector {
    %ten = nn.constant dense<10.0> : tensor<1xf32>
    %sharp = nn.mul %user, %ten : !vector, tensor<1xf32>
    nn.return %sharp : !vector
  }

  // The same item in another row of the batch is not a negative.
  nn.func private @loss(%user: !vector, %item: !vector, %next: !id) -> !one {
    %sharp = nn.call @sharpen(%user) : (!vector) -> !vector
    %l = nn.in_batch_softmax %sharp, %item ids %next : !vector, !vector, !id
    nn.return %l : !one
  }

  nn.func private @probability(%user: !vector, %item: !vector) -> !one {
    %sharp = nn.call @sharpen(%user) : (!vector) -> !vector
    %product = nn.mul %sharp, %item : !vector, !vector
    %score = nn.reduce sum %product axes [1] keep : !vector
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }

  nn.program @train reads(@visit except [@other, @other_category]) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id):
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !vector
    %item = nn.call @item(%next, %next_category) : (!id, !id) -> !vector
    %l = nn.call @loss(%user, %item, %next) : (!vector, !vector, !id) -> !one
    nn.observe @loss_mean(%l) : !one
    nn.minimize %l over [@dense, @sparse] : !one
  }

  // The AUC of next items against the other items, which training has not seen.
  nn.program @evaluate frozen reads(@visit) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id, %other: !id, %other_category: !id):
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !vector
    %one = nn.call @item(%next, %next_category) : (!id, !id) -> !vector
    %two = nn.call @item(%other, %other_category) : (!id, !id) -> !vector
    %l = nn.call @loss(%user, %one, %next) : (!vector, !vector, !id) -> !one
    %p1 = nn.call @probability(%user, %one) : (!vector, !vector) -> !one
    %p2 = nn.call @probability(%user, %two) : (!vector, !vector) -> !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %l : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %l : (tensor<1xf32>, !one) -> !one
    nn.observe @loss_mean(%l) : !one
    nn.observe @auc(%p1, %yes) : !one
    nn.observe @auc(%p2, %no) : !one
  }

  nn.program @predict frozen reads(@visit except [@other, @other_category]) {
  ^bb0(%items: !ids, %categories: !ids, %next: !id, %next_category: !id):
    %user = nn.call @user(%items, %categories) : (!ids, !ids) -> !vector
    %item = nn.call @item(%next, %next_category) : (!id, !id) -> !vector
    %p = nn.call @probability(%user, %item) : (!vector, !vector) -> !one
    nn.return %p : !one
  }
}
