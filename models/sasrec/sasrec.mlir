//===- sasrec.mlir - Self-attentive sequential recommendation -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transformer block over the last ten items of a history. Its output at the
// last position, and the row of an item, give the score of that item as the
// next one.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x16xf32>
!places = tensor<?x10x16xf32>
!mask = tensor<?x10x1xf32>
!pairs = tensor<?x10x10xf32>

module @sasrec {
  // The columns are those of scripts/make_histories.py.
  nn.record @visit {
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @next : !id columns([5])
    nn.field @other : !id columns([7])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  nn.table @item_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @places : tensor<10x16xf32> in @dense init(#nn.uniform<-0.05, 0.05>)
  nn.param @scale1 : tensor<16xf32> in @dense init(#nn.constant<1.0>)
  nn.param @shift1 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @query : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @key : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @value : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @scale2 : tensor<16xf32> in @dense init(#nn.constant<1.0>)
  nn.param @shift2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @w1 : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @scale3 : tensor<16xf32> in @dense init(#nn.constant<1.0>)
  nn.param @shift3 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  // Each position attends to itself and to earlier positions with an item. Two
  // layers for each position follow. The mask is 1 at positions with an item.
  nn.func private @block(%x: !places, %mask: !mask) -> !places {
    %scale1 = nn.read @scale1 : tensor<16xf32>
    %shift1 = nn.read @shift1 : tensor<16xf32>
    %n1 = nn.layer_norm %x scale %scale1 shift %shift1 : !places, tensor<16xf32>, tensor<16xf32>
    %q = nn.linear %n1, @query : (!places) -> !places
    %k = nn.linear %n1, @key : (!places) -> !places
    %v = nn.linear %n1, @value : (!places) -> !places
    %products = nn.matmul %q, %k transposed : !places, !places
    %root = nn.constant dense<0.25> : tensor<1xf32>
    %scaled = nn.mul %products, %root : !pairs, tensor<1xf32>

    %seen = nn.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
      [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]> : tensor<10x10xf32>
    %there = nn.reshape %mask : (!mask) -> tensor<?x1x10xf32>
    %allowed = nn.mul %there, %seen : tensor<?x1x10xf32>, tensor<10x10xf32>
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %far = nn.constant dense<1.0e9> : tensor<1xf32>
    %barred = nn.sub %allowed, %unit : !pairs, tensor<1xf32>
    %depth = nn.mul %barred, %far : !pairs, tensor<1xf32>
    %scores = nn.add %scaled, %depth : !pairs, !pairs
    %weights = nn.softmax %scores axis 2 : !pairs
    %attended = nn.matmul %weights, %v : !pairs, !places
    %y = nn.add %x, %attended : !places, !places

    %scale2 = nn.read @scale2 : tensor<16xf32>
    %shift2 = nn.read @shift2 : tensor<16xf32>
    %n2 = nn.layer_norm %y scale %scale2 shift %shift2 : !places, tensor<16xf32>, tensor<16xf32>
    %h = nn.linear %n2, @w1, @b1 act(relu) : (!places) -> !places
    %f = nn.linear %h, @w2, @b2 : (!places) -> !places
    %z = nn.add %y, %f : !places, !places
    nn.return %z : !places
  }

  // Returns the vector of the user: the output at the last position, after the
  // last item.
  nn.func private @user(%items: !ids) -> !row {
    %rows = nn.lookup @item_rows[%items] pool(none) : (!ids) -> tensor<?x16xf32>
    %filled = nn.segment_pad %rows of %items from_end : (tensor<?x16xf32>, !ids) -> tensor<?x1x10x16xf32>
    %sequence = nn.reshape %filled : (tensor<?x1x10x16xf32>) -> !places
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %ones = nn.broadcast %unit like %rows : (tensor<1xf32>, tensor<?x16xf32>) -> !one
    %held = nn.segment_pad %ones of %items from_end : (!one, !ids) -> tensor<?x1x10x1xf32>
    %mask = nn.reshape %held : (tensor<?x1x10x1xf32>) -> !mask

    %four = nn.constant dense<4.0> : tensor<1xf32>
    %scaled = nn.mul %sequence, %four : !places, tensor<1xf32>
    %places = nn.read @places : tensor<10x16xf32>
    %placed = nn.add %scaled, %places : !places, tensor<10x16xf32>
    %x = nn.mul %placed, %mask : !places, !mask
    %z = nn.call @block(%x, %mask) : (!places, !mask) -> !places
    %last = nn.slice %z axis 1 offset 9 size 1 : !places
    %scale3 = nn.read @scale3 : tensor<16xf32>
    %shift3 = nn.read @shift3 : tensor<16xf32>
    %user = nn.layer_norm %last scale %scale3 shift %shift3 : !row, tensor<16xf32>, tensor<16xf32>
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
