//===- LibraryLaunches.cpp - Launches of the device library ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces calls of the runtime by launches of kernels of pdlabi/device.h with
// the same effect. Arguments have the order of that header.
//
//===----------------------------------------------------------------------===//

#include "LibraryLaunches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;

namespace {

/// Launches that replace one op.
class Launches {
public:
  Launches(Operation *op, const LibraryBuilder &library)
      : library(library), builder(library.builder), loc(op->getLoc()),
        pointerType(LLVM::LLVMPointerType::get(op->getContext())) {}

  bool emit(rt::GemmOp op);
  bool emit(rt::BatchGemmOp op);
  bool emit(rt::PoolOp op);
  bool emit(rt::PoolGradientOp op);
  bool emit(rt::ReduceRowsOp op);
  bool emit(rt::DropoutOp op);
  bool emit(rt::InBatchLogSumExpOp op);
  bool emit(rt::InBatchGradientOp op);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  LibraryArgument number(Value value) {
    return {value, rt::DeviceArgument::number};
  }
  LibraryArgument number(int64_t value) { return number(index(value)); }
  LibraryArgument null() {
    return {LLVM::ZeroOp::create(builder, loc, pointerType),
            rt::DeviceArgument::read};
  }
  /// Returns a memref as a read argument; null for a null memref.
  LibraryArgument read(Value memref) {
    return memref ? LibraryArgument{library.address(memref),
                                    rt::DeviceArgument::read}
                  : null();
  }
  LibraryArgument written(Value memref) {
    return {library.address(memref), rt::DeviceArgument::written};
  }
  Value size(Value memref, unsigned dimension);
  static Type elementOf(Value memref) {
    return cast<MemRefType>(memref.getType()).getElementType();
  }
  /// Returns the address `elements` elements after `address`.
  Value offsetBy(Value address, Value elements, Type element) {
    Value bytes =
        multiply(elements, index(element.getIntOrFloatBitWidth() / 8));
    return rt::AddressOp::create(builder, loc, address.getType(), address,
                                 bytes);
  }
  /// Bags of a matrix, or of the rows of a tensor of rank 3.
  struct Bags {
    Value count, width, ofRow, rowStride;
  };
  Bags bagsIn(Value memref);
  /// Calls `body(first, rows)` for each block of a batch of `count` rows.
  /// `first` is the first row of the block, and `rows` its number of rows.
  void forEachBlock(Value count, function_ref<void(Value, Value)> body);
  /// Creates a product of a block's scores, or of values computed from them.
  void product(rt::Numerics numerics, Value m, Value n, Value k,
               bool transposed, Value a, Value b, Value c, Type element);

  const LibraryBuilder &library;
  OpBuilder &builder;
  Location loc;
  Type pointerType;
};

} // namespace

Value Launches::size(Value memref, unsigned dimension) {
  auto type = cast<MemRefType>(memref.getType());
  return type.isDynamicDim(dimension)
             ? memref.getDefiningOp<rt::ViewOp>().getSize()
             : index(type.getDimSize(dimension));
}

Launches::Bags Launches::bagsIn(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value rows = size(memref, 0);
  Value stride = index(type.getStridesAndOffset().first.front());
  if (type.getRank() == 2)
    return {rows, size(memref, 1), index(1), stride};
  Value ofRow = size(memref, 1);
  return {multiply(rows, ofRow), size(memref, 2), ofRow, stride};
}

bool Launches::emit(rt::GemmOp op) {
  const bool isBf16 = op.getProduct() == rt::Product::bf16 ||
                      op.getProduct() == rt::Product::bf16_fast;
  // Devices have no products of several parts.
  if (!isBf16 && op.getProduct() != rt::Product::fast &&
      op.getProduct() != rt::Product::strict)
    return false;
  Value out = op.getOut();
  Type element = elementOf(out);
  uint64_t posts = 0;
  for (auto [place, post] :
       llvm::enumerate(op.getPosts().getAsRange<rt::PostOpAttr>()))
    posts |= static_cast<uint64_t>(post.getValue()) << (4 * place);
  Value m = size(out, 0), n = size(out, 1),
        k = size(op.getLhs(), op.getTransposeLhs() ? 0 : 1);
  Value stride = index(
      cast<MemRefType>(out.getType()).getStridesAndOffset().first.front());
  if (library.multiply && element.isF32() &&
      op.getProduct() != rt::Product::strict) {
    // A vendor library does not guarantee that the other post-ops preserve NaN.
    const bool addsBias = (posts & 15) == PDL_POST_BIAS;
    library.multiply({isBf16 ? rt::Product::bf16 : op.getProduct(),
                      op.getTransposeLhs(), op.getTransposeRhs(), m, n, k,
                      read(op.getLhs()).value, read(op.getRhs()).value,
                      addsBias ? read(op.getBias()).value : Value(),
                      written(out).value, stride});
    if (addsBias)
      posts >>= 4;
    if (posts)
      library.launch("posts", element,
                     {number(m), number(n), number(int64_t(posts)),
                      read(op.getBias()), read(op.getMask()), written(out),
                      number(stride)});
    return true;
  }
  library.launch(isBf16 ? "bf16_product" : "product", element,
                 {number(op.getTransposeLhs()), number(op.getTransposeRhs()),
                  number(m), number(n), number(k), read(op.getLhs()),
                  read(op.getRhs()), number(int64_t(posts)), read(op.getBias()),
                  read(op.getMask()), written(out), number(stride)});
  return true;
}

bool Launches::emit(rt::BatchGemmOp op) {
  Value out = op.getOut();
  library.launch("batch_product", elementOf(out),
                 {number(op.getTransposeLhs()), number(op.getTransposeRhs()),
                  number(size(out, 0)), number(size(out, 1)),
                  number(size(out, 2)),
                  number(size(op.getLhs(), op.getTransposeLhs() ? 1 : 2)),
                  read(op.getLhs()), read(op.getRhs()), written(out)});
  return true;
}

bool Launches::emit(rt::PoolOp op) {
  Value out = op.getOut();
  const Bags bags = bagsIn(out);
  library.launch("pool", elementOf(out),
                 {number(static_cast<int64_t>(op.getPooling())),
                  number(bags.count), number(bags.width), read(op.getRows()),
                  read(op.getInverse()), read(op.getSplits()),
                  number(bags.ofRow), number(bags.rowStride), written(out)});
  return true;
}

bool Launches::emit(rt::PoolGradientOp op) {
  auto lookup = op.getLookup().getDefiningOp<rt::PointerOp>();
  if (op.getKinds().empty() || !lookup)
    return false;
  Value out = op.getOut();
  const int64_t place = lookup.getIndex();
  // Each input is one launch, after the previous one.
  for (auto [input, pooling] :
       llvm::enumerate(op.getKinds().getAsRange<rt::PoolingAttr>())) {
    Value cotangent = op.getCotangents()[input];
    Value first = op.getFirsts()[input];
    const Bags bags = bagsIn(cotangent);
    const auto *bagged = llvm::find(op.getWithSplits(), int64_t(input));
    LibraryArgument splits = null(), bagOf = null();
    if (bagged != op.getWithSplits().end()) {
      splits = read(op.getSplits()[bagged - op.getWithSplits().begin()]);
      bagOf = read(op.getBagOf());
      library.launch("bags_of", {},
                     {number(bags.count),
                      splits,
                      {offsetBy(bagOf.value, first, builder.getI32Type()),
                       rt::DeviceArgument::written}});
    }
    library.launch("pool_gradient", elementOf(out),
                   {number(input == 0),
                    number(size(out, 0)),
                    number(size(out, 1)),
                    {library.pointer(rt::Place::lookup_key_splits, place),
                     rt::DeviceArgument::read},
                    {library.pointer(rt::Place::lookup_occurrences, place),
                     rt::DeviceArgument::read},
                    number(static_cast<int64_t>(pooling.getValue())),
                    number(first),
                    number(bags.count),
                    read(cotangent),
                    number(bags.ofRow),
                    number(bags.rowStride),
                    splits,
                    bagOf,
                    written(out)});
  }
  return true;
}

bool Launches::emit(rt::ReduceRowsOp op) {
  library.launch("reduce_rows", elementOf(op.getOut()),
                 {number(static_cast<int64_t>(op.getKind())),
                  number(op.getRows()), number(op.getWidth()),
                  read(op.getValues()), written(op.getOut())});
  return true;
}

bool Launches::emit(rt::DropoutOp op) {
  Value out = op.getOut(), splits = op.getSplits();
  // The splits have one more entry than there are bags.
  Value bags = splits ? add(size(splits, 0), index(-1)) : index(0);
  Value rate = arith::ConstantFloatOp::create(
      builder, loc, builder.getF64Type(), op.getRate());
  library.launch(
      "dropout", elementOf(out),
      {number(library.count(rt::Quantity::draws_seed, 0)),
       number(library.count(rt::Quantity::draws_epoch, 0)),
       number(library.count(rt::Quantity::batch, 0)),
       {library.pointer(rt::Place::draws_samples, 0), rt::DeviceArgument::read},
       number(static_cast<int64_t>(op.getStream())),
       number(rate),
       number(size(out, 1)),
       number(bags),
       read(splits),
       read(op.getValues()),
       written(out)});
  return true;
}

void Launches::forEachBlock(Value count,
                            function_ref<void(Value, Value)> body) {
  Value rows = index(PDL_IN_BATCH_ROWS);
  auto loop = scf::ForOp::create(builder, loc, index(0), count, rows);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value rest = arith::SubIOp::create(builder, loc, count, first);
  body(first, arith::MinUIOp::create(builder, loc, rows, rest));
}

void Launches::product(rt::Numerics numerics, Value m, Value n, Value k,
                       bool transposed, Value a, Value b, Value c,
                       Type element) {
  if (library.multiply && numerics == rt::Numerics::fast)
    return library.multiply(
        {rt::Product::fast, false, transposed, m, n, k, a, b, Value(), c, n});
  library.launch("product", element,
                 {number(0),
                  number(transposed),
                  number(m),
                  number(n),
                  number(k),
                  {a, rt::DeviceArgument::read},
                  {b, rt::DeviceArgument::read},
                  number(0),
                  null(),
                  null(),
                  {c, rt::DeviceArgument::written},
                  number(n)});
}

bool Launches::emit(rt::InBatchLogSumExpOp op) {
  Type element = elementOf(op.getOut());
  // For f64, the CPU uses functions of the C library.
  if (!element.isF32())
    return false;
  Value count = size(op.getUsers(), 0), width = size(op.getUsers(), 1);
  Value users = library.address(op.getUsers()),
        items = library.address(op.getItems()),
        out = library.address(op.getOut()),
        scores = library.address(op.getScratch());
  const LibraryArgument correction = read(op.getCorrection()),
                        ids = read(op.getIds());
  // After the scores, the scratch memory contains the maxima and the sums.
  const auto written = [](Value value) {
    return LibraryArgument{value, rt::DeviceArgument::written};
  };
  const auto read = [](Value value) {
    return LibraryArgument{value, rt::DeviceArgument::read};
  };
  Value maxima =
      offsetBy(scores, multiply(count, index(PDL_IN_BATCH_ROWS)), element);
  Value sums =
      offsetBy(maxima, index(PDL_IN_BATCH_ROWS * PDL_DEVICE_LANES), element);
  forEachBlock(count, [&](Value first, Value rows) {
    product(op.getNumerics(), rows, count, width, /*transposed=*/true,
            offsetBy(users, multiply(first, width), element), items, scores,
            element);
    library.launch("in_batch_maxima", element,
                   {number(first), number(rows), number(count), correction, ids,
                    written(scores), written(maxima)});
    library.launch("in_batch_exponentials", element,
                   {number(rows), number(count), read(scores), read(maxima),
                    written(sums)});
    library.launch("in_batch_logarithms", element,
                   {number(rows), number(count), read(maxima), read(sums),
                    written(offsetBy(out, first, element))});
  });
  return true;
}

bool Launches::emit(rt::InBatchGradientOp op) {
  Type element = elementOf(op.getOut());
  if (!element.isF32())
    return false;
  const bool ofUsers = op.getSide() == rt::BatchSide::users;
  Value count = size(op.getUsers(), 0), width = size(op.getUsers(), 1);
  Value own = library.address(ofUsers ? op.getUsers() : op.getItems()),
        others = library.address(ofUsers ? op.getItems() : op.getUsers()),
        out = library.address(op.getOut()),
        scores = library.address(op.getScratch());
  const LibraryArgument correction = read(op.getCorrection()),
                        ids = read(op.getIds()), sums = read(op.getSums()),
                        cotangent = read(op.getCotangent());
  forEachBlock(count, [&](Value first, Value rows) {
    product(op.getNumerics(), rows, count, width, /*transposed=*/true,
            offsetBy(own, multiply(first, width), element), others, scores,
            element);
    library.launch("in_batch_weights", element,
                   {number(static_cast<int64_t>(op.getSide())),
                    number(first),
                    number(rows),
                    number(count),
                    correction,
                    ids,
                    sums,
                    cotangent,
                    {scores, rt::DeviceArgument::written}});
    product(op.getNumerics(), rows, width, count, /*transposed=*/false, scores,
            others, offsetBy(out, multiply(first, width), element), element);
  });
  return true;
}

bool pdlc::launchFromLibrary(Operation *op, const LibraryBuilder &library) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<rt::GemmOp, rt::BatchGemmOp, rt::PoolOp, rt::PoolGradientOp,
            rt::ReduceRowsOp, rt::DropoutOp, rt::InBatchLogSumExpOp,
            rt::InBatchGradientOp>(
          [&](auto each) { return Launches(op, library).emit(each); })
      .Default(false);
}

FlatSymbolRefAttr pdlc::declareInLibrary(ModuleOp module, StringRef name,
                                         ArrayRef<Type> arguments,
                                         TypeRange results) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  if (!module.lookupSymbol(name)) {
    auto function =
        func::FuncOp::create(builder, module.getLoc(), name,
                             builder.getFunctionType(arguments, results));
    function.setPrivate();
  }
  return FlatSymbolRefAttr::get(builder.getStringAttr(name));
}
