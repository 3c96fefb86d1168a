//===- KeyTexts.cpp - Texts that describe how keys are computed -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyTexts.h"

#include "pdlc/Dialect/NN/IR/FormerNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

std::string pdlc::textOfNumber(double number) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, std::end(digits), number);
  return std::string(digits, end);
}

//===----------------------------------------------------------------------===//
// Fields and attributes
//===----------------------------------------------------------------------===//

/// Prints an attribute. For an enumeration, prints only the member.
static void printAttribute(llvm::raw_ostream &stream, Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  StringRef member = text;
  if (member.consume_front("#nn<") && member.consume_back(">"))
    stream << member.split(' ').second;
  else
    attribute.print(stream, /*elideType=*/true);
}

static void print(llvm::raw_ostream &stream, Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    stream << textOfNumber(number.getValueAsDouble());
  else if (auto whole = dyn_cast<IntegerAttr>(attribute))
    stream << whole.getValue();
  else if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attribute))
    stream << '['
           << llvm::interleaved(
                  llvm::map_range(numbers.asArrayRef(), textOfNumber))
           << ']';
  else if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
    stream << '[' << llvm::interleaved(numbers.asArrayRef()) << ']';
  else
    printAttribute(stream, attribute);
}

void pdlc::printMissingTexts(llvm::raw_ostream &stream, RecordOp record,
                             bool onlyNumbers) {
  ArrayAttr attribute = record.getMissingTextsAttr();
  if (!attribute)
    return;
  SmallVector<StringAttr> texts(attribute.getAsRange<StringAttr>());
  llvm::sort(texts, [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  });
  texts.erase(llvm::unique(texts), texts.end());
  // A text without a digit is no number, and an error where it is not missing.
  if (onlyNumbers)
    llvm::erase_if(texts, [](StringAttr text) {
      return llvm::none_of(text.getValue(), llvm::isDigit);
    });
  else if (texts.size() == 1 && texts.front().getValue() == "?")
    texts.clear();
  if (!texts.empty())
    stream << " missing texts [" << llvm::interleaved(texts) << ']';
}

/// Prints the clauses of a field that affect its raw values.
static void print(llvm::raw_ostream &stream, FieldOp field) {
  const HashAttr hash = field.getHashAttr();
  if (field.isFloat())
    stream << getElementTypeOrSelf(field.getType());
  else if (!hash || !hash.getXxh64())
    stream << "integer";
  else if (hash.getSaltBySlot())
    stream << "text by xxh64 salt slot";
  else
    stream << "text by xxh64 salt " << hash.getSalt();
  if (Attribute missing = field.getMissingAttr()) {
    stream << " missing ";
    print(stream, missing);
  }
  if (Attribute missing = field.getMissingElementAttr()) {
    stream << " missing element ";
    print(stream, missing);
  }
  // Texts that are missing are no keys.
  printMissingTexts(stream, cast<RecordOp>(field->getParentOp()),
                    /*onlyNumbers=*/field.isFloat() || !hash ||
                        !hash.getXxh64());
  if (DictionaryAttr values = field.getValuesAttr())
    for (NamedAttribute value : values) {
      stream << " \"" << value.getName().strref() << "\" ";
      print(stream, value.getValue());
    }
}

//===----------------------------------------------------------------------===//
// Ways from fields to keys
//===----------------------------------------------------------------------===//

namespace {

/// Text of one way from fields to keys.
class KeyWay {
public:
  KeyWay(Value ids, Block &program, ArrayRef<FieldOp> fields);

  std::string text();

private:
  void visit(Value value);
  std::string nameOf(FieldOp field) const;
  void print(Value value);
  void print(Operation &op);
  void print(Region &region);

  const Value ids;
  Block &program;
  const ArrayRef<FieldOp> fields;
  /// Number of uses of each op as an operand.
  llvm::MapVector<Operation *, unsigned> uses;
  /// Ops with several uses, operands first.
  SmallVector<Operation *> shared;
  DenseSet<unsigned> arguments;
  /// The text of a field, and its number among the fields with this text. The
  /// number is needed only if several fields have the same text.
  struct NamedField {
    std::string text;
    unsigned number = 0;
  };
  DenseMap<Operation *, NamedField> namedFields;
  /// Number of fields of the way, by text.
  llvm::StringMap<unsigned> alike;
  /// Numbers of shared ops, and of values in regions.
  DenseMap<Operation *, unsigned> opNames;
  DenseMap<Value, unsigned> valueNames;
  std::string written;
  llvm::raw_string_ostream stream{written};
};

} // namespace

KeyWay::KeyWay(Value ids, Block &program, ArrayRef<FieldOp> fields)
    : ids(ids), program(program), fields(fields) {
  visit(ids);
  for (auto [number, field] : llvm::enumerate(fields)) {
    if (!arguments.contains(number) || namedFields.contains(field))
      continue;
    NamedField &named = namedFields[field];
    llvm::raw_string_ostream text(named.text);
    ::print(text, field);
    named.number = ++alike[named.text];
  }
}

/// Fields that are printed alike are numbered in the order of the record.
std::string KeyWay::nameOf(FieldOp field) const {
  const NamedField named = namedFields.lookup(field);
  return alike.lookup(named.text) > 1
             ? "#" + std::to_string(named.number) + " " + named.text
             : named.text;
}

void KeyWay::visit(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    arguments.insert(argument.getArgNumber());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (++uses[op] > 1)
    return;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == &program)
        visit(operand);
  });
  shared.push_back(op);
}

void KeyWay::print(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &program) {
    const unsigned number = argument.getArgNumber();
    FieldOp field = fields[number];
    // The second argument of a field of bags contains the splits.
    const bool areBags = number > 0 && fields[number - 1] == field;
    if (!areBags)
      stream << nameOf(field);
    else if (namedFields.size() > 1)
      stream << "bags of " << nameOf(field);
    else
      stream << "bags";
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto found = valueNames.find(value); found != valueNames.end())
    stream << "%v" << found->second;
  else if (auto found = opNames.find(op); found != opNames.end())
    stream << '%' << found->second;
  else
    print(*op);
  if (op && op->getNumResults() > 1)
    stream << " result " << cast<OpResult>(value).getResultNumber();
}

void KeyWay::print(Operation &op) {
  StringRef name = firstNameOf(op.getName().getStringRef());
  name.consume_front("nn.");
  stream << name << '(';
  llvm::ListSeparator comma;
  for (Value operand : op.getOperands()) {
    stream << comma;
    print(operand);
  }
  for (NamedAttribute attribute : op.getAttrDictionary()) {
    // Skip attributes that do not change the key of a raw value: the segment
    // sizes follow from the operands, and the stream only selects other random
    // ids.
    if (attribute.getName() == "operandSegmentSizes" ||
        (isa<DrawingOpInterface>(op) && attribute.getName() == "stream"))
      continue;
    stream << comma << attribute.getName().strref() << " = ";
    ::print(stream, attribute.getValue());
  }
  for (Region &region : op.getRegions()) {
    stream << comma;
    print(region);
  }
  // Float types change numbers; shapes do not.
  if (op.getNumResults() > 0)
    if (Type type = getElementTypeOrSelf(op.getResult(0).getType());
        isa<FloatType>(type) &&
        (op.getNumOperands() == 0 ||
         getElementTypeOrSelf(op.getOperand(0).getType()) != type))
      stream << " : " << type;
  stream << ')';
}

void KeyWay::print(Region &region) {
  stream << '{';
  for (Block &block : region) {
    for (BlockArgument argument : block.getArguments()) {
      valueNames.try_emplace(argument, valueNames.size());
      stream << "%v" << valueNames.lookup(argument) << "; ";
    }
    for (Operation &op : block) {
      for (Value result : op.getResults()) {
        valueNames.try_emplace(result, valueNames.size());
        stream << "%v" << valueNames.lookup(result) << " = ";
      }
      print(op);
      stream << "; ";
    }
  }
  stream << '}';
}

std::string KeyWay::text() {
  for (Operation *op : shared)
    if (uses.lookup(op) > 1) {
      const unsigned name = opNames.size();
      stream << '%' << name << " = ";
      print(*op);
      stream << "; ";
      opNames[op] = name;
    }
  print(ids);
  return written;
}

/// Adds the text of each way from fields to `ids`. An op that only concatenates
/// or reshapes ids has several ways, one for each operand.
static void addWays(Value ids, Block &program, ArrayRef<FieldOp> fields,
                    DenseSet<Value> &seen, std::set<std::string> &texts) {
  if (!seen.insert(ids).second)
    return;
  Operation *op = ids.getDefiningOp();
  if (op && isa<ConcatOp, ReshapeOp, FlattenOp>(op)) {
    for (Value operand : op->getOperands())
      addWays(operand, program, fields, seen, texts);
    return;
  }
  texts.insert(KeyWay(ids, program, fields).text());
}

void pdlc::addKeyTexts(PullOp pull, ArrayRef<FieldOp> fields,
                       std::set<std::string> &texts) {
  DenseSet<Value> seen;
  auto unique = pull.getKeys().getDefiningOp<UniqueOp>();
  if (!unique)
    return;
  for (Value ids : unique.getIds())
    addWays(ids, *pull->getBlock(), fields, seen, texts);
}
