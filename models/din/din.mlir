//===- din.mlir - Deep interest network -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shown item decides which items of a user's history matter. A small
// network gets each item of the history with the shown item, and returns the
// weight of the former. The weighted sum represents the user. Histories are
// rows of bags, without padding.
//
// Zhou et al., Deep Interest Network for Click-Through Rate Prediction, KDD
// 2018.
//
//===----------------------------------------------------------------------===//

!ids = !nn.ragged<?x1x*xi64>
!rows = tensor<?x32xf32>

module @din {
  // The columns are those of scripts/make_histories.py.
  nn.record @impression {
    nn.field @label : tensor<?x1xf32> columns([0])
    nn.field @item : tensor<?x1xi64> columns([1])
    nn.field @category : tensor<?x1xi64> columns([2])
    nn.field @items : !ids separator(" ") columns([3])
    nn.field @categories : !ids separator(" ") columns([4])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adagrad) rate(0.05) untouched(lazy)

  nn.table @item_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @category_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @aw1 : tensor<128x36xf32> in @dense init(#nn.xavier)
  nn.param @ab1 : tensor<36xf32> in @dense init(#nn.zeros)
  nn.param @aw2 : tensor<36x1xf32> in @dense init(#nn.xavier)
  nn.param @ab2 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @w1 : tensor<96x80xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<80xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<80x40xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<40xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<40x1xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  // Returns the weight of each row. The network reads the row, the shown item,
  // their difference and their product.
  nn.func private @attention(%rows: !rows, %shown: !rows) -> tensor<?x1xf32> {
    %difference = nn.sub %rows, %shown : !rows, !rows
    %product = nn.mul %rows, %shown : !rows, !rows
    %x = nn.concat %rows, %shown, %difference, %product axis 1 : !rows, !rows, !rows, !rows
    %h = nn.linear %x, @aw1, @ab1 act(sigmoid) : (tensor<?x128xf32>) -> tensor<?x36xf32>
    %score = nn.linear %h, @aw2, @ab2 : (tensor<?x36xf32>) -> tensor<?x1xf32>
    nn.return %score : tensor<?x1xf32>
  }

  nn.func private @logit(%item: tensor<?x1xi64>, %category: tensor<?x1xi64>, %items: !ids, %categories: !ids) -> tensor<?x1xf32> {
    %i = nn.lookup @item_rows[%item] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x16xf32>
    %c = nn.lookup @category_rows[%category] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x16xf32>
    %shown = nn.concat %i, %c axis 2 : tensor<?x1x16xf32>, tensor<?x1x16xf32>

    // Repeats the shown item once for each item of the history.
    %same = nn.same_bags %categories like %items : !ids
    %hi = nn.lookup @item_rows[%items] pool(none) : (!ids) -> tensor<?x16xf32>
    %hc = nn.lookup @category_rows[%same] pool(none) : (!ids) -> tensor<?x16xf32>
    %rows = nn.concat %hi, %hc axis 1 : tensor<?x16xf32>, tensor<?x16xf32>
    %repeated = nn.segment_repeat %shown over %items : tensor<?x1x32xf32>, !ids
    %score = nn.call @attention(%rows, %repeated) : (!rows, !rows) -> tensor<?x1xf32>
    %weight = nn.segment_softmax %score of %items : tensor<?x1xf32>, !ids
    %weighted = nn.mul %rows, %weight : !rows, tensor<?x1xf32>
    %interest = nn.segment_sum %weighted of %items : (!rows, !ids) -> tensor<?x1x32xf32>

    %both = nn.mul %interest, %shown : tensor<?x1x32xf32>, tensor<?x1x32xf32>
    %joined = nn.concat %interest, %shown, %both axis 2 : tensor<?x1x32xf32>, tensor<?x1x32xf32>, tensor<?x1x32xf32>
    %x = nn.flatten %joined from 1 : tensor<?x1x96xf32>
    %h1 = nn.linear %x, @w1, @b1 act(sigmoid) : (tensor<?x96xf32>) -> tensor<?x80xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(sigmoid) : (tensor<?x80xf32>) -> tensor<?x40xf32>
    %z = nn.linear %h2, @w3, @b3 : (tensor<?x40xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@impression) {
  ^bb0(%label: tensor<?x1xf32>, %item: tensor<?x1xi64>, %category: tensor<?x1xi64>, %items: !ids, %categories: !ids):
    %z = nn.call @logit(%item, %category, %items, %categories) : (tensor<?x1xi64>, tensor<?x1xi64>, !ids, !ids) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@impression) {
  ^bb0(%label: tensor<?x1xf32>, %item: tensor<?x1xi64>, %category: tensor<?x1xi64>, %items: !ids, %categories: !ids):
    %z = nn.call @logit(%item, %category, %items, %categories) : (tensor<?x1xi64>, tensor<?x1xi64>, !ids, !ids) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@impression except @label) {
  ^bb0(%item: tensor<?x1xi64>, %category: tensor<?x1xi64>, %items: !ids, %categories: !ids):
    %z = nn.call @logit(%item, %category, %items, %categories) : (tensor<?x1xi64>, tensor<?x1xi64>, !ids, !ids) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
