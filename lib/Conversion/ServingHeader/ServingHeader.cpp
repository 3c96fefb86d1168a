//===- ServingHeader.cpp - C header of a serving library ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Conversion/ServingHeader.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pdlc;

/// Returns true for reserved words of C and C++.
static bool isKeyword(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",  "alignof",  "and",       "asm",       "auto",   "bool",
      "break",    "case",     "catch",     "char",      "class",  "const",
      "continue", "default",  "delete",    "do",        "double", "else",
      "enum",     "explicit", "export",    "extern",    "false",  "float",
      "for",      "friend",   "goto",      "if",        "inline", "int",
      "long",     "mutable",  "namespace", "new",       "not",    "nullptr",
      "operator", "or",       "private",   "protected", "public", "register",
      "restrict", "return",   "short",     "signed",    "sizeof", "static",
      "struct",   "switch",   "template",  "this",      "throw",  "true",
      "try",      "typedef",  "typeid",    "typename",  "union",  "unsigned",
      "using",    "virtual",  "void",      "volatile",  "while",  "xor"};
  return words.contains(name);
}

static std::string identifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  if (isKeyword(text))
    text += "_";
  return text;
}

namespace {
/// Unique names for the members of one struct.
class Names {
public:
  std::string add(StringRef name) {
    const std::string wanted = identifier(name);
    std::string text = wanted;
    for (int number = 2; !taken.insert(text).second; ++number)
      text = wanted + "_" + std::to_string(number);
    return text;
  }

private:
  llvm::StringSet<> taken;
};
} // namespace

std::string pdlc::servingNameOf(ModuleOp module) {
  return identifier(module.getSymName().value_or("model"));
}

std::string pdlc::servingAccessorOf(ModuleOp module) {
  return servingNameOf(module) + "_serving";
}

static StringRef typeInC(Type type) {
  return type.isF32() ? "float" : type.isF64() ? "double" : "int64_t";
}

/// Returns `name` for use in a C comment. Changes it if it would end the
/// comment.
static std::string quoted(StringRef name) {
  std::string text = name.str();
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;)
    text.replace(at, 2, "* /");
  return text;
}

static void writeInput(nn::FieldOp field, StringRef member,
                       llvm::raw_ostream &out) {
  const int64_t width = field.getWidth();
  const StringRef what = field.isFloat() ? "number" : "id";
  const StringRef plural = width == 1 ? "" : "s";
  if (field.isRagged()) {
    out << "  /* " << quoted(field.getSymName()) << ": " << width << " bag"
        << plural << " of " << what << "s a sample";
  } else {
    out << "  /* " << quoted(field.getSymName()) << ": " << width << " " << what
        << plural << " a sample";
  }
  if (nn::HashAttr hash = field.getHashAttr(); hash && hash.getXxh64())
    out << ", texts that the model hashes";
  out << ". */\n";
  if (field.isFloat() && !field.isRagged())
    out << "  const " << typeInC(nn::elementTypeOf(field.getType())) << " *"
        << member << ";\n";
  else
    out << "  pdl_serving_input " << member << ";\n";
}

static void writeProgram(rt::ProgramOp program, int index, StringRef model,
                         llvm::raw_ostream &out) {
  const std::string name = model.str() + "_" + identifier(program.getSymName());
  auto record = SymbolTable::lookupNearestSymbolFrom<nn::RecordOp>(
      program, program.getRecordAttr());
  SmallVector<nn::FieldOp> fields;
  for (auto field : program.getFields().getAsRange<FlatSymbolRefAttr>())
    fields.push_back(cast<nn::FieldOp>(
        SymbolTable::lookupSymbolIn(record, field.getAttr())));
  out << "\n/* Program @" << quoted(program.getSymName()) << ". */\n";
  SmallVector<std::string> inputs, outputs;
  if (!fields.empty()) {
    Names names;
    out << "typedef struct " << name << "_inputs {\n";
    for (nn::FieldOp field : fields) {
      inputs.push_back(names.add(field.getSymName()));
      writeInput(field, inputs.back(), out);
    }
    out << "} " << name << "_inputs;\n\n";
  }
  Names names;
  out << "typedef struct " << name << "_outputs {\n";
  for (auto [output, width, type] :
       llvm::zip_equal(program.getOutputNames().getAsValueRange<StringAttr>(),
                       program.getOutputWidths(),
                       program.getOutputTypes().getAsValueRange<TypeAttr>())) {
    outputs.push_back(names.add(output));
    out << "  /* " << quoted(output) << ": room for " << width
        << (width == 1 ? " number" : " numbers") << " a sample. */\n"
        << "  " << typeInC(type) << " *" << outputs.back() << ";\n";
  }
  out << "} " << name << "_outputs;\n\n"
      << "/* Scores `batch` samples; 0, or a failure: see last_error. */\n"
      << "static inline int32_t " << name
      << "(pdl_serving_model *model, int64_t batch,\n    "
      << (fields.empty() ? "" : "const " + name + "_inputs *inputs, ")
      << "const " << name << "_outputs *outputs) {\n";
  if (fields.empty()) {
    out << "  const pdl_serving_input *all = 0;\n";
  } else {
    out << "  const pdl_serving_input all[] = {\n";
    for (auto [field, input] : llvm::zip_equal(fields, inputs))
      if (field.isFloat() && !field.isRagged())
        out << "      {inputs->" << input << ", 0, 0, 0},\n";
      else
        out << "      inputs->" << input << ",\n";
    out << "  };\n";
  }
  out << "  void *const results[] = {";
  llvm::interleaveComma(outputs, out, [&](const std::string &output) {
    out << "outputs->" << output;
  });
  out << "};\n  return " << model << "_serving()->run(model, " << index
      << ", batch, all, results);\n}\n";
}

void pdlc::writeServingHeader(ModuleOp module, llvm::raw_ostream &out) {
  const std::string model = servingNameOf(module);
  std::string guard = StringRef(model + "_H").upper();
  out << "/* Made by PDL of model "
      << quoted(module.getSymName().value_or("model"))
      << ": how C and C++ call lib" << model << ".so.\n"
      << " *\n"
      << " * pdl_serving_model *model = " << model
      << "_serving()->open(\"checkpoints\");\n"
      << " *\n"
      << " * All functions are described in pdl/serving.h. */\n\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n"
      << "#include \"pdl/serving.h\"\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "/* The functions of this library; null where the CPU lacks what it "
         "was compiled for. */\n"
      << "const pdl_serving *" << model << "_serving(void);\n";
  for (auto [index, program] : llvm::enumerate(module.getOps<rt::ProgramOp>()))
    writeProgram(program, int(index), model, out);
  out << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

void pdlc::writePackageConfig(ModuleOp module, llvm::raw_ostream &out) {
  const std::string model = servingNameOf(module);
  out << "prefix=${pcfiledir}\n\n"
      << "Name: " << model << "\n"
      << "Description: Model " << model << ", compiled by PDL to be served\n"
      << "Version: 1\n"
      << "Cflags: -I${prefix}\n"
      << "Libs: -L${prefix} -l" << model << " -Wl,-rpath,${prefix}\n";
}
