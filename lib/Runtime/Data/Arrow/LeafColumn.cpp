//===- LeafColumn.cpp - Decodes columns of Parquet files ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeafColumn.h"

#include <parquet/column_reader.h>
#include <parquet/types.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

/// Levels that are decoded at once, and rows that are skipped at once.
constexpr int64_t mostLevels = 8192;

/// A vector whose `grow` does not initialize elements.
template <typename T> class Values {
public:
  T *data() { return memory.get(); }
  int64_t size() const { return count; }
  /// Adds space for `more` elements, and returns it.
  T *grow(int64_t more) {
    if (count + more > room) {
      room = std::max(count + more, 2 * room);
      auto larger = std::make_unique_for_overwrite<T[]>(size_t(room));
      std::copy_n(memory.get(), count, larger.get());
      memory = std::move(larger);
    }
    T *const added = memory.get() + count;
    count += more;
    return added;
  }
  void shrink(int64_t newCount) { count = newCount; }
  /// Removes the first `removed` elements.
  void removeFirst(int64_t removed) {
    std::copy(memory.get() + removed, memory.get() + count, memory.get());
    count -= removed;
  }
  /// Moves the first `taken` elements into another object, and keeps the rest.
  Values takeFirst(int64_t taken) {
    Values first;
    const int64_t rest = count - taken;
    if (rest > 0)
      std::copy_n(memory.get() + taken, rest, first.grow(rest));
    count = taken;
    std::swap(*this, first);
    return first;
  }

private:
  std::unique_ptr<T[]> memory;
  int64_t count = 0, room = 0;
};

/// Values that are not null, in their order: numbers, or texts.
template <typename T> struct Dense {
  Values<T> numbers;

  int64_t size() const { return numbers.size(); }
  Dense takeFirst(int64_t count) { return {numbers.takeFirst(count)}; }
  static arrow::Status append(const T *from, int64_t count, Dense &to) {
    std::copy_n(from, count, to.numbers.grow(count));
    return arrow::Status::OK();
  }
};

template <> struct Dense<parquet::ByteArray> {
  Values<int32_t> ends; ///< Begins with a 0, unless it is empty.
  std::string bytes;

  int64_t size() const { return std::max<int64_t>(ends.size() - 1, 0); }
  Dense takeFirst(int64_t count) {
    if (count == size())
      return std::exchange(*this, {});
    Dense first;
    if (ends.size() == 0)
      return first;
    const int32_t cut = ends.data()[count];
    std::copy_n(ends.data(), count + 1, first.ends.grow(count + 1));
    first.bytes = bytes.substr(0, size_t(cut));
    bytes.erase(0, size_t(cut));
    ends.removeFirst(count);
    for (int64_t i = 0; i < ends.size(); ++i)
      ends.data()[i] -= cut;
    return first;
  }
  static arrow::Status append(const parquet::ByteArray *from, int64_t count,
                              Dense &to) {
    if (to.ends.size() == 0)
      *to.ends.grow(1) = 0;
    size_t total = to.bytes.size();
    int32_t *ends = to.ends.grow(count);
    for (int64_t i = 0; i < count; ++i) {
      total += from[i].len;
      ends[i] = int32_t(total);
    }
    if (total > size_t(std::numeric_limits<int32_t>::max()))
      return arrow::Status::Invalid("8192 rows have texts of 2 GiB or more");
    size_t at = to.bytes.size();
    to.bytes.resize(total);
    for (int64_t i = 0; i < count; at += from[i++].len)
      if (from[i].len > 0)
        std::memcpy(to.bytes.data() + at, from[i].ptr, from[i].len);
    return arrow::Status::OK();
  }
};

/// Owns the buffers of an array of the C data interface.
struct ArrayOwner {
  virtual ~ArrayOwner() = default;
  std::vector<uint8_t> validity;
  const void *buffers[3] = {};
  PdlColumnArray child = {}, dictionary = {};
  PdlColumnArray *childAddress = nullptr;
};

void releaseArray(PdlColumnArray *array) {
  auto *owner = static_cast<ArrayOwner *>(array->owner);
  for (PdlColumnArray *part : {&owner->child, &owner->dictionary})
    if (part->release)
      part->release(part);
  delete owner;
  array->release = nullptr;
}

/// Sets an array that owns `owner`.
void setArray(std::unique_ptr<ArrayOwner> owner, int64_t length, int64_t nulls,
              int64_t bufferCount, PdlColumnArray *out) {
  owner->buffers[0] =
      owner->validity.empty() ? nullptr : owner->validity.data();
  *out = {};
  out->length = length;
  out->nullCount = nulls;
  out->bufferCount = bufferCount;
  out->buffers = owner->buffers;
  if (owner->child.release) {
    owner->childAddress = &owner->child;
    out->childCount = 1;
    out->children = &owner->childAddress;
  }
  if (owner->dictionary.release)
    out->dictionary = &owner->dictionary;
  out->release = releaseArray;
  out->owner = owner.release();
}

template <typename T> struct DenseOwner final : ArrayOwner {
  Dense<T> values;
};

/// Owns an array of a dictionary, which several arrays share.
template <typename T> struct SharedOwner final : ArrayOwner {
  std::shared_ptr<Dense<T>> values;
};

template <typename T> void setBuffers(Dense<T> &values, ArrayOwner &owner) {
  owner.buffers[1] = values.numbers.data();
}
void setBuffers(Dense<parquet::ByteArray> &values, ArrayOwner &owner) {
  if (values.ends.size() == 0)
    *values.ends.grow(1) = 0;
  owner.buffers[1] = values.ends.data();
  owner.buffers[2] = values.bytes.data();
}

/// Sets the bits of the values that exist. Returns the number of nulls.
template <typename IsValid>
int64_t setValidity(int64_t count, IsValid isValid,
                    std::vector<uint8_t> &bits) {
  bits.assign(size_t(count + 7) / 8, 0);
  int64_t valid = 0;
  for (int64_t i = 0; i < count; ++i)
    if (isValid(i)) {
      bits[size_t(i) / 8] |= uint8_t(1 << (i % 8));
      ++valid;
    }
  if (valid == count)
    bits.clear();
  return count - valid;
}

/// Moves dense values to their positions among nulls, whose values are 0.
template <typename T, typename IsValid>
void spread(Dense<T> &values, int64_t count, IsValid isValid) {
  int64_t from = values.size();
  T *const numbers = (values.numbers.grow(count - from), values.numbers.data());
  for (int64_t i = count - 1; i >= 0; --i)
    numbers[i] = isValid(i) ? numbers[--from] : T();
}
template <typename IsValid>
void spread(Dense<parquet::ByteArray> &values, int64_t count, IsValid isValid) {
  if (values.ends.size() == 0)
    *values.ends.grow(1) = 0;
  int64_t from = values.size();
  values.ends.grow(count - from);
  int32_t *const ends = values.ends.data() + 1;
  for (int64_t i = count - 1; i >= 0; --i) {
    ends[i] = from > 0 ? ends[from - 1] : 0;
    from -= isValid(i);
  }
}

template <typename Type> class TypedColumn final : public LeafColumn {
public:
  using T = typename Type::c_type;

  explicit TypedColumn(const parquet::ColumnDescriptor &column, int index)
      : index(index), maxDefinition(column.max_definition_level()),
        isList(column.max_repetition_level() > 0) {
    const parquet::schema::Node *node = column.schema_node().get();
    // The level at which an element exists, although it may be null.
    elementLevel = maxDefinition;
    for (; isList && !node->is_repeated(); node = node->parent())
      elementLevel -= node->is_optional();
  }

  void begin(parquet::RowGroupReader &group) override {
    // Parquet replaces the indices of numbers faster than this class.
    const std::shared_ptr<parquet::ColumnReader> column =
        std::is_floating_point_v<T>
            ? group.Column(index)
            : group.ColumnWithExposeEncoding(
                  index, parquet::ExposedEncoding::DICTIONARY);
    hasDictionary =
        column->GetExposedEncoding() == parquet::ExposedEncoding::DICTIONARY;
    reader =
        std::dynamic_pointer_cast<parquet::TypedColumnReader<Type>>(column);
    dictionary = nullptr;
    definitions = {};
    repetitions = {};
    indices = {};
    values = {};
    rowsHeld = 0;
  }

  arrow::Status read(int64_t skipped, int64_t rows,
                     PdlColumnArray *out) override {
    if (!reader)
      return arrow::Status::Invalid(
          "a column has another type than the schema");
    while (skipped > 0) {
      const int64_t count = std::min(skipped, mostLevels);
      PdlColumnArray dropped = {};
      if (!isList && !hasDictionary) {
        if (reader->Skip(count) != count)
          return tooFew();
      } else {
        ARROW_RETURN_NOT_OK(decode(count, &dropped));
        dropped.release(&dropped);
      }
      skipped -= count;
    }
    return decode(rows, out);
  }

private:
  static arrow::Status tooFew() {
    return arrow::Status::Invalid("a column has fewer rows than its row group");
  }

  arrow::Status decode(int64_t rows, PdlColumnArray *out) {
    while (isList ? rowsHeld <= rows && reader->HasNext() : rowsHeld < rows)
      ARROW_RETURN_NOT_OK(decodeLevels(
          isList ? mostLevels : std::min(rows - rowsHeld, mostLevels)));
    if (rowsHeld < rows)
      return tooFew();
    return isList ? setLists(rows, out) : setRows(rows, out);
  }

  /// Decodes up to `count` levels of a page, and their values.
  arrow::Status decodeLevels(int64_t count) {
    int16_t *const definition =
        maxDefinition > 0 ? definitions.grow(count) : nullptr;
    int16_t *const repetition = isList ? repetitions.grow(count) : nullptr;
    int64_t valueCount = 0, levels = 0;
    if (hasDictionary) {
      const T *entries = nullptr;
      int32_t entryCount = 0;
      int32_t *const to = indices.numbers.grow(count);
      levels =
          reader->ReadBatchWithDictionary(count, definition, repetition, to,
                                          &valueCount, &entries, &entryCount);
      indices.numbers.shrink(indices.numbers.size() - count + valueCount);
      ARROW_RETURN_NOT_OK(useDictionary(entries, entryCount));
      uint32_t largest = 0;
      for (int64_t i = 0; i < valueCount; ++i)
        largest = std::max(largest, uint32_t(to[i]));
      if (valueCount > 0 && int64_t(largest) >= dictionary->size())
        return arrow::Status::Invalid("an index is not in its dictionary");
    } else if constexpr (std::is_same_v<T, parquet::ByteArray>) {
      T *const to = scratch.grow(count);
      levels =
          reader->ReadBatch(count, definition, repetition, to, &valueCount);
      // The bytes belong to the page.
      ARROW_RETURN_NOT_OK(Dense<T>::append(to, valueCount, values));
      scratch.shrink(0);
    } else {
      T *const to = values.numbers.grow(count);
      levels =
          reader->ReadBatch(count, definition, repetition, to, &valueCount);
      values.numbers.shrink(values.numbers.size() - count + valueCount);
    }
    if (definition)
      definitions.shrink(definitions.size() - count + levels);
    if (repetition)
      repetitions.shrink(repetitions.size() - count + levels);
    rowsHeld +=
        isList ? std::count(repetition, repetition + levels, 0) : levels;
    return levels > 0 ? arrow::Status::OK() : tooFew();
  }

  arrow::Status useDictionary(const T *entries, int32_t count) {
    if (dictionary)
      return arrow::Status::OK();
    dictionary = std::make_shared<Dense<T>>();
    return Dense<T>::append(entries, count, *dictionary);
  }

  /// Sets `count` elements, of which `isValid(i)` exist, from the first values.
  template <typename IsValid>
  void setElements(int64_t count, int64_t valid, IsValid isValid,
                   PdlColumnArray *out) {
    if (hasDictionary)
      setValues(indices.takeFirst(valid), count, isValid, out);
    else
      setValues(values.takeFirst(valid), count, isValid, out);
  }

  template <typename U, typename IsValid>
  void setValues(Dense<U> dense, int64_t count, IsValid isValid,
                 PdlColumnArray *out) {
    auto owner = std::make_unique<DenseOwner<U>>();
    owner->values = std::move(dense);
    int64_t nulls = 0;
    if (owner->values.size() < count) {
      nulls = setValidity(count, isValid, owner->validity);
      spread(owner->values, count, isValid);
    }
    setBuffers(owner->values, *owner);
    if (hasDictionary) {
      auto shared = std::make_unique<SharedOwner<T>>();
      shared->values = dictionary;
      setBuffers(*shared->values, *shared);
      const int64_t size = shared->values->size();
      setArray(std::move(shared), size, 0, 3, &owner->dictionary);
    }
    setArray(std::move(owner), count, nulls, 3, out);
  }

  arrow::Status setRows(int64_t rows, PdlColumnArray *out) {
    const int16_t *const levels = definitions.data();
    const auto isValid = [&](int64_t i) {
      return maxDefinition == 0 || levels[i] == maxDefinition;
    };
    const int64_t valid =
        maxDefinition == 0 ? rows
                           : std::count(levels, levels + rows, maxDefinition);
    setElements(rows, valid, isValid, out);
    definitions.shrink(0);
    rowsHeld = 0;
    return arrow::Status::OK();
  }

  arrow::Status setLists(int64_t rows, PdlColumnArray *out) {
    auto owner = std::make_unique<DenseOwner<int32_t>>();
    int32_t *const ends = owner->values.numbers.grow(rows + 1);
    std::vector<uint8_t> isElementValid, isListValid;
    int64_t row = -1, at = 0, valid = 0;
    for (; at < repetitions.size(); ++at) {
      const int16_t level = definitions.data()[at];
      if (repetitions.data()[at] == 0) {
        if (++row == rows)
          break;
        ends[row] = int32_t(isElementValid.size());
        isListValid.push_back(level >= elementLevel - 1);
      } else if (row < 0) {
        return arrow::Status::Invalid("a row group begins inside a list");
      }
      if (level < elementLevel)
        continue;
      isElementValid.push_back(level == maxDefinition);
      valid += level == maxDefinition;
    }
    const auto count = int64_t(isElementValid.size());
    ends[rows] = int32_t(count);
    setElements(
        count, valid, [&](int64_t i) { return isElementValid[size_t(i)] != 0; },
        &owner->child);
    const int64_t nulls = setValidity(
        rows, [&](int64_t i) { return isListValid[size_t(i)] != 0; },
        owner->validity);
    setBuffers(owner->values, *owner);
    setArray(std::move(owner), rows, nulls, 2, out);
    definitions.removeFirst(at);
    repetitions.removeFirst(at);
    rowsHeld -= rows;
    return arrow::Status::OK();
  }

  int index;
  int16_t maxDefinition, elementLevel = 0;
  bool isList;
  std::shared_ptr<parquet::TypedColumnReader<Type>> reader;
  bool hasDictionary = false;
  std::shared_ptr<Dense<T>> dictionary;
  /// Decoded levels and values that are not in an array yet.
  Values<int16_t> definitions, repetitions;
  Dense<int32_t> indices;
  Dense<T> values;
  Values<T> scratch;
  int64_t rowsHeld = 0; ///< Rows that begin in them.
};

/// Returns the type without a dictionary.
std::shared_ptr<arrow::DataType>
plainType(const std::shared_ptr<arrow::DataType> &type) {
  return type->id() == arrow::Type::DICTIONARY
             ? static_cast<const arrow::DictionaryType &>(*type).value_type()
             : type;
}

/// Returns true if a decoder of the physical type makes arrays of the type.
bool hasSameValues(parquet::Type::type physical, arrow::Type::type type) {
  using arrow::Type;
  switch (physical) {
  case parquet::Type::INT32:
    return type == Type::INT32 || type == Type::UINT32;
  case parquet::Type::INT64:
    return type == Type::INT64 || type == Type::UINT64;
  case parquet::Type::FLOAT:
    return type == Type::FLOAT;
  case parquet::Type::DOUBLE:
    return type == Type::DOUBLE;
  case parquet::Type::BYTE_ARRAY:
    return type == Type::STRING || type == Type::BINARY;
  default:
    return false;
  }
}

} // namespace

std::unique_ptr<LeafColumn>
LeafColumn::create(const parquet::ColumnDescriptor &column, int index,
                   std::shared_ptr<arrow::DataType> &type) {
  const bool isList = type->id() == arrow::Type::LIST;
  const auto element = plainType(isList ? type->field(0)->type() : type);
  if (column.max_repetition_level() != (isList ? 1 : 0) ||
      !hasSameValues(column.physical_type(), element->id()))
    return nullptr;
  type = isList ? arrow::list(element) : element;
  switch (column.physical_type()) {
  case parquet::Type::INT32:
    return std::make_unique<TypedColumn<parquet::Int32Type>>(column, index);
  case parquet::Type::INT64:
    return std::make_unique<TypedColumn<parquet::Int64Type>>(column, index);
  case parquet::Type::FLOAT:
    return std::make_unique<TypedColumn<parquet::FloatType>>(column, index);
  case parquet::Type::DOUBLE:
    return std::make_unique<TypedColumn<parquet::DoubleType>>(column, index);
  default:
    return std::make_unique<TypedColumn<parquet::ByteArrayType>>(column, index);
  }
}
