//===- ForeignNames.cpp - Op names of other frameworks --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignNames.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

StringRef pdlc::nn::sayInsteadOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"fc", "dense", "addmm", "mlp"}, "nn.linear")
      .Cases({"bmm", "einsum", "dot"}, "nn.matmul")
      .Cases({"embedding", "embedding_bag", "lookup_table", "sparse_embedding"},
             "nn.lookup")
      .Cases({"add_n", "elementwise_add", "plus"}, "nn.add")
      .Cases({"subtract", "elementwise_sub", "minus"}, "nn.sub")
      .Cases({"multiply", "elementwise_mul", "square"}, "nn.mul")
      .Cases({"divide", "elementwise_div"}, "nn.div")
      .Case("maximum", "nn.max")
      .Case("minimum", "nn.min")
      .Cases({"eq", "equal_to"}, "nn.equal")
      .Cases({"gt", "greater_than"}, "nn.greater")
      .Cases({"ge", "greater_than_equal"}, "nn.greater_equal")
      .Cases({"lt", "less_than"}, "nn.less")
      .Cases({"le", "less_than_equal"}, "nn.less_equal")
      .Cases({"ne", "not_equal_to"}, "nn.not_equal")
      .Cases({"where", "cond"}, "nn.select")
      .Case("clip", "nn.clamp, or nn.clip for gradients")
      .Cases({"relu6", "hardtanh"}, "nn.clamp")
      .Case("silu", "nn.swish")
      .Case("hardsigmoid", "nn.hard_sigmoid")
      .Cases({"cat", "concatenate", "stack"}, "nn.concat")
      .Cases({"view", "squeeze", "unsqueeze", "expand_dims"}, "nn.reshape")
      .Cases({"permute", "swapaxes"}, "nn.transpose")
      .Cases({"split", "narrow", "chunk"}, "nn.slice")
      .Case("index_select", "nn.take")
      .Cases({"gather_nd", "take_along_axis", "take_along_dim"}, "nn.gather")
      .Case("cumsum", "nn.cumulative_sum")
      .Cases({"topk", "argmax", "argsort"}, "nn.top_k, and nn.gather")
      .Cases({"sine", "cosine"}, "nn.sin, nn.cos")
      .Cases({"expand", "tile", "repeat"}, "nn.broadcast")
      .Cases({"sum", "mean", "reduce_sum", "reduce_mean", "reduce_max"},
             "nn.reduce sum, mean or max")
      .Cases({"detach", "no_grad"}, "nn.stop_gradient")
      .Cases({"layernorm", "LayerNorm"}, "nn.layer_norm")
      .Cases({"normalize", "l2_norm"}, "nn.l2_normalize")
      .Case("cos_sim", "nn.cosine_similarity")
      .Cases({"fm", "factorization_machine"}, "nn.factorization")
      .Cases({"digitize", "bucket"}, "nn.bucketize")
      .Cases({"hash", "crossed_column"}, "nn.cross")
      .Cases({"binary_cross_entropy_with_logits", "bce_with_logits",
              "sigmoid_cross_entropy_with_logits"},
             "nn.sigmoid_cross_entropy")
      .Cases({"binary_cross_entropy", "bce_loss"}, "nn.log_loss")
      .Cases({"sparse_softmax_cross_entropy", "onehot"},
             "nn.one_hot and nn.softmax_cross_entropy")
      .Cases({"cross_entropy", "softmax_with_cross_entropy"},
             "nn.softmax_cross_entropy")
      .Cases({"mse_loss", "square_error_cost", "mean_squared_error"},
             "nn.squared_error")
      .Case("smooth_l1_loss", "nn.huber_loss")
      .Case("pairwise_loss", "nn.rank_loss or nn.bpr_loss")
      .Case("roll", "nn.rotate")
      .Cases({"alpha_dropout", "drop"}, "nn.dropout")
      .Cases({"sampled_softmax_loss", "sampled_softmax_with_cross_entropy"},
             "nn.sampled_softmax, with nn.sample and nn.log_probability")
      .Cases({"log_uniform_candidate_sampler",
              "fixed_unigram_candidate_sampler", "uniform_random",
              "multinomial"},
             "nn.sample")
      .Case("nce", "nn.nce_loss, with nn.sample and nn.log_probability")
      .Cases({"segment_mean_pool", "sequence_pool"},
             "nn.segment_sum, mean, max, first or last")
      .Cases({"sequence_expand", "repeat_interleave"}, "nn.segment_repeat")
      .Case("sequence_softmax", "nn.segment_softmax")
      .Cases({"sequence_pad", "pad_sequence"}, "nn.segment_pad")
      .Case("sequence_reverse", "nn.segment_reverse")
      .Case("sequence_conv", "nn.segment_window and nn.linear")
      .Cases({"max_pool", "max_pool1d"}, "nn.segment_window and nn.reduce max")
      .Cases({"continuous_value_model", "show_click"}, "nn.cvm")
      .Cases({"to", "astype", "convert"}, "nn.cast")
      .Cases({"mod", "modulo", "floordiv"}, "nn.id_arithmetic of ids")
      .Default("");
}
