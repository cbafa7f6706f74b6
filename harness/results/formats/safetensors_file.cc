#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/results/formats/formats.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // limit of the format
constexpr int kMaxHeaderDepth = 3;
constexpr std::string_view kMetadata = "__metadata__";

// Type names of the format, and our names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17>
    kSafetensorsTypes = {{{"F64", "float64"},
                          {"F32", "float32"},
                          {"F16", "float16"},
                          {"BF16", "bfloat16"},
                          {"F8_E4M3", "float8_e4m3fn"},
                          {"F8_E5M2", "float8_e5m2"},
                          {"F8_E8M0", "float8_e8m0fnu"},
                          {"C64", "complex64"},
                          {"I64", "int64"},
                          {"I32", "int32"},
                          {"I16", "int16"},
                          {"I8", "int8"},
                          {"U64", "uint64"},
                          {"U32", "uint32"},
                          {"U16", "uint16"},
                          {"U8", "uint8"},
                          {"BOOL", "bool"}}};

Result<std::string> ReadHeader(ByteSource& file) {
  if (file.size() < kLengthBytes)
    return DataLoss("expected the length of a header, found fewer bytes");
  std::array<std::byte, kLengthBytes> bytes{};
  RETURN_IF_ERROR(file.Read(0, bytes));
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<uint64_t>(bytes[i]);
  const uint64_t most =
      std::min(file.size() - kLengthBytes, kMaxSafetensorsHeader);
  if (length > most) {
    return DataLoss(
        fmt::format("expected a header of at most {} bytes, found "
                    "a length of {}",
                    most, length));
  }
  std::string text(length, '\0');
  RETURN_IF_ERROR(
      file.Read(kLengthBytes, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<Json> ParseHeader(std::string_view text) {
  std::set<std::string> names;
  bool repeats = false;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 1 && event == Json::parse_event_t::key)
      repeats = !names.insert(parsed.get<std::string>()).second || repeats;
    too_deep = too_deep || depth > kMaxHeaderDepth;
    return depth <= kMaxHeaderDepth;
  };
  Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (!json.is_object()) return DataLoss("expected a header in JSON");
  if (repeats) return DataLoss("header: a name appears twice");
  if (too_deep) return DataLoss("header: nested too deep");
  return json;
}

std::optional<std::vector<uint64_t>> Numbers(const Json& object,
                                             const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return std::nullopt;
  std::vector<uint64_t> numbers;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned()) return std::nullopt;
    numbers.push_back(number.get<uint64_t>());
  }
  return numbers;
}

// Returns nullopt for a sub-byte or unknown type: its values stay bytes.
std::optional<ElementType> SafetensorsTypeOf(const Json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) return std::nullopt;
  const auto name = found->get<std::string>();
  const auto* const known = std::ranges::find(
      kSafetensorsTypes, name, [](const auto& type) { return type.first; });
  if (known != kSafetensorsTypes.end()) return ElementTypeOf(known->second);
  return std::nullopt;
}

Status AddEntry(const std::string& name, const Json& entry, const Bytes& data,
                TensorList& list) {
  if (!entry.is_object()) return DataLoss(name + ": expected an object");
  auto shape = Numbers(entry, "shape");
  const auto offsets = Numbers(entry, "data_offsets");
  if (!shape || !offsets || offsets->size() != 2 ||
      (*offsets)[0] > (*offsets)[1] || (*offsets)[1] > data->size()) {
    return DataLoss(
        fmt::format("{}: expected a shape, and data_offsets within {} bytes",
                    name, data->size()));
  }
  const uint64_t size = (*offsets)[1] - (*offsets)[0];
  Bytes bytes = PartOf(data, (*offsets)[0], size);
  const std::optional<ElementType> type = SafetensorsTypeOf(entry);
  if (!type) {
    RETURN_IF_ERROR(list.AddText(name + " (type)", entry.dump()));
    return list.AddBytes(name, std::move(bytes));
  }
  ASSIGN_OR_RETURN(const uint64_t expected, ByteCount(*shape, type->bytes));
  if (expected != size) {
    return DataLoss(
        fmt::format("{}: type and shape make {} bytes, data_offsets {}", name,
                    expected, size));
  }
  return list.Add({.name = name,
                   .type = *type,
                   .shape = *std::move(shape),
                   .bytes = std::move(bytes)});
}

}  // namespace

Status AddSafetensorsFile(const Bytes& file, TensorList& list) {
  ASSIGN_OR_RETURN(const std::string text, ReadHeader(*file));
  ASSIGN_OR_RETURN(const Json header, ParseHeader(text));
  const uint64_t begin = kLengthBytes + text.size();
  const Bytes data = PartOf(file, begin, file->size() - begin);
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) continue;
    RETURN_IF_ERROR(AddEntry(NameOfKey("", name), entry, data, list));
  }
  return OkStatus();
}

}  // namespace gauntlet
