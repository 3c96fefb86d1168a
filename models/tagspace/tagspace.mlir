//===- tagspace.mlir - Tags of texts -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution over the words of a text, the maximum of each of its outputs,
// and a layer. The cosine of the result with the vector of a tag is the score.
//
//===----------------------------------------------------------------------===//

!words = !nn.ragged<?x1x*xi64>
!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x16xf32>

module @tagspace {
  // The columns are those of scripts/make_texts.py.
  nn.record @tagged {
    nn.field @words : !words separator(" ") columns([0])
    nn.field @tag : !id columns([1])
    nn.field @other : !id columns([2])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  nn.table @word_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @tag_rows : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  // The weights of the previous word, of the word, and of the next word.
  nn.param @window_w : tensor<48x32xf32> in @dense init(#nn.xavier)
  nn.param @window_b : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @b : tensor<16xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @mean_loss : #nn.mean

  nn.func private @text(%words: !words) -> !row {
    %rows = nn.lookup @word_rows[%words] pool(none) : (!words) -> tensor<?x16xf32>
    %before = nn.segment_shift %rows of %words by 1 : tensor<?x16xf32>, !words
    %behind = nn.segment_shift %rows of %words by -1 : tensor<?x16xf32>, !words
    %window = nn.concat %before, %rows, %behind axis 1 : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
    %h = nn.linear %window, @window_w, @window_b act(tanh) : (tensor<?x48xf32>) -> tensor<?x32xf32>
    %largest = nn.segment_max %h of %words : (tensor<?x32xf32>, !words) -> tensor<?x1x32xf32>
    %text = nn.linear %largest, @w, @b : (tensor<?x1x32xf32>) -> !row
    nn.return %text : !row
  }

  // Ten times the cosine: the margin of the loss is 1, which is a tenth in
  // cosines.
  nn.func private @score(%text: !row, %tag: !id) -> !one {
    %row = nn.lookup @tag_rows[%tag] pool(sum) : (!id) -> !row
    %cosine = nn.cosine_similarity %text, %row : !row, !row
    %flat = nn.flatten %cosine from 1 : tensor<?x1x1xf32>
    %ten = nn.constant dense<10.0> : tensor<1xf32>
    %score = nn.mul %flat, %ten : !one, tensor<1xf32>
    nn.return %score : !one
  }

  // Returns the loss, and both scores with their labels for the metrics.
  nn.func private @loss(%words: !words, %tag: !id, %other: !id) -> (!one, !one, !one, !one, !one) {
    %text = nn.call @text(%words) : (!words) -> !row
    %positive = nn.call @score(%text, %tag) : (!row, !id) -> !one
    %negative = nn.call @score(%text, %other) : (!row, !id) -> !one
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

  nn.program @train reads(@tagged) {
  ^bb0(%words: !words, %tag: !id, %other: !id):
    %l:5 = nn.call @loss(%words, %tag, %other) : (!words, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
    nn.minimize %l#0 over [@dense, @sparse] : !one
  }

  nn.program @evaluate frozen reads(@tagged) {
  ^bb0(%words: !words, %tag: !id, %other: !id):
    %l:5 = nn.call @loss(%words, %tag, %other) : (!words, !id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @mean_loss(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
  }

  nn.program @predict frozen reads(@tagged except @other) {
  ^bb0(%words: !words, %tag: !id):
    %text = nn.call @text(%words) : (!words) -> !row
    %score = nn.call @score(%text, %tag) : (!row, !id) -> !one
    %p = nn.sigmoid %score : !one
    nn.return %p : !one
  }
}
