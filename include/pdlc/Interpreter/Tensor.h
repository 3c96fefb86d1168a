//===- Tensor.h - Values of the interpreter ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_TENSOR_H
#define PDLC_INTERPRETER_TENSOR_H

#include "pdlc/Support/NamedTensors.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cassert>
#include <cstdint>
#include <variant>
#include <vector>

namespace pdlc::interpreter {

/// Elements of one of the types that programs compute with.
using Elements = std::variant<std::vector<float>, std::vector<double>,
                              std::vector<int32_t>, std::vector<int64_t>>;

/// Returns `count` zeros of an MLIR type: f32, f64, i32 or i64.
Elements makeElements(mlir::Type type, int64_t count);

/// A dense row-major tensor with a static shape.
class Tensor {
public:
  using Shape = llvm::SmallVector<int64_t, 4>;

  /// Creates an empty float tensor, to be assigned to later.
  Tensor() = default;
  Tensor(llvm::ArrayRef<int64_t> shape, Elements elements);
  /// Creates a tensor of zeros of element type `type`.
  Tensor(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// Moves the elements of `other` into a tensor of another shape with the same
  /// number of elements.
  Tensor(Tensor &&other, llvm::ArrayRef<int64_t> shape);

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
  int64_t dim(int64_t axis) const { return extents[axis]; }
  /// Returns the product of the shape.
  int64_t count() const;
  /// Returns the product of the dimensions `begin` to `end` - 1.
  int64_t count(int64_t begin, int64_t end) const;

  template <typename T> bool holds() const {
    return std::holds_alternative<std::vector<T>>(elements);
  }
  /// Returns the elements, which must be of type T.
  template <typename T> std::vector<T> &get() {
    assert(holds<T>());
    return *std::get_if<std::vector<T>>(&elements);
  }
  template <typename T> const std::vector<T> &get() const {
    assert(holds<T>());
    return *std::get_if<std::vector<T>>(&elements);
  }

  /// Calls `function` with the vector of elements, whatever its type.
  template <typename Function> decltype(auto) visit(Function &&function) {
    return std::visit(function, elements);
  }
  template <typename Function> decltype(auto) visit(Function &&function) const {
    return std::visit(function, elements);
  }

  pdlabi::TensorType fileType() const;
  /// Returns the elements as row-major, little-endian bytes.
  const void *bytes() const;
  /// Returns true if all elements are finite. Integers always are.
  bool isFinite() const;

private:
  Shape extents;
  Elements elements;
};

/// Bags of ids. Bag i of sample b holds the ids from splits[b * slots + i] to
/// splits[b * slots + i + 1].
struct Ragged {
  int64_t slots = 0;
  std::vector<int64_t> ids;
  std::vector<int32_t> splits;
  /// Elements if the bags contain floats; `ids` is empty then. A double
  /// represents each float exactly.
  std::vector<double> numbers = {};
};

/// Run-time value of an SSA value of a program.
using RuntimeValue = std::variant<Tensor, Ragged>;

/// Calls `function` with a value of type float or double, according to `type`.
template <typename Function>
decltype(auto) dispatchFloat(mlir::Type type, Function &&function) {
  if (mlir::getElementTypeOrSelf(type).isF64())
    return function(double());
  return function(float());
}

/// Iterates over the positions of a tensor in row-major order.
class Odometer {
public:
  explicit Odometer(llvm::ArrayRef<int64_t> shape)
      : shape(shape), position(shape.size(), 0) {}
  int64_t operator[](int64_t axis) const { return position[axis]; }
  void advance() {
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis])
        return;
      position[axis] = 0;
    }
  }

private:
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<int64_t, 4> position;
};

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_TENSOR_H
