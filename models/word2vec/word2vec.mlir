//===- word2vec.mlir - Skip-gram with negative sampling -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vectors of a word and of a neighboring word get a large inner product.
// Those of a word and of randomly drawn words, more often frequent ones, get a
// small one.
//
//===----------------------------------------------------------------------===//

!id = tensor<?x1xi64>
!one = tensor<?x1xf32>
!row = tensor<?x1x32xf32>
!drawn_ids = tensor<?x5xi64>
!drawn_rows = tensor<?x5x32xf32>
!five = tensor<?x5xf32>

module @word2vec {
  // The columns are those of scripts/make_pairs.py. Words are numbers by
  // falling frequency.
  nn.record @pair {
    nn.field @word : !id columns([0])
    nn.field @neighbor : !id columns([1])
  }

  nn.group @sparse rule(@adagrad) rate(0.05) untouched(lazy)

  nn.table @word_rows : i64 -> tensor<32xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @neighbour_rows : i64 -> tensor<32xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @loss_mean : #nn.mean

  // Returns the logits of the neighbor and of five drawn words, and which of
  // these are equal to the neighbor.
  nn.func private @logits(%word: !id, %neighbor: !id) -> (!one, !five, !five) {
    %drawn = nn.sample 5 from 0 below 400 log_uniform : !drawn_ids
    %hits = nn.accidental_hits %neighbor, %drawn : (!id, !drawn_ids) -> !five
    %w = nn.lookup @word_rows[%word] pool(sum) : (!id) -> !row
    %n = nn.lookup @neighbour_rows[%neighbor] pool(sum) : (!id) -> !row
    %d = nn.lookup @neighbour_rows[%drawn] pool(sum) : (!drawn_ids) -> !drawn_rows
    %z3 = nn.matmul %w, %n transposed : !row, !row
    %zd3 = nn.matmul %w, %d transposed : !row, !drawn_rows
    %z = nn.flatten %z3 from 1 : tensor<?x1x1xf32>
    %zd = nn.flatten %zd3 from 1 : tensor<?x1x5xf32>
    nn.return %z, %zd, %hits : !one, !five, !five
  }

  // The metrics: of the loss, and the AUC of neighbors against the first drawn
  // word.
  nn.func private @loss(%word: !id, %neighbor: !id) -> (!one, !one, !one, !one, !one) {
    %z, %zd, %hits = nn.call @logits(%word, %neighbor) : (!id, !id) -> (!one, !five, !five)
    %l = nn.negative_sampling %z, %zd hits %hits : !one, !five, !five
    %first = nn.slice %zd axis 1 offset 0 size 1 : !five
    %p1 = nn.sigmoid %z : !one
    %p2 = nn.sigmoid %first : !one
    %unit = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %unit like %l : (tensor<1xf32>, !one) -> !one
    %no = nn.broadcast %zero like %l : (tensor<1xf32>, !one) -> !one
    nn.return %l, %p1, %yes, %p2, %no : !one, !one, !one, !one, !one
  }

  nn.program @train reads(@pair) {
  ^bb0(%word: !id, %neighbor: !id):
    %l:5 = nn.call @loss(%word, %neighbor) : (!id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @loss_mean(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
    nn.minimize %l#0 over [@sparse] : !one
  }

  nn.program @evaluate frozen reads(@pair) {
  ^bb0(%word: !id, %neighbor: !id):
    %l:5 = nn.call @loss(%word, %neighbor) : (!id, !id) -> (!one, !one, !one, !one, !one)
    nn.observe @loss_mean(%l#0) : !one
    nn.observe @auc(%l#1, %l#2) : !one
    nn.observe @auc(%l#3, %l#4) : !one
  }

  // Returns the vector of a word.
  nn.program @predict frozen reads(@pair except [@neighbor]) {
  ^bb0(%word: !id):
    %w = nn.lookup @word_rows[%word] pool(sum) : (!id) -> !row
    %v = nn.flatten %w from 1 : !row
    nn.return %v : tensor<?x32xf32>
  }
}
