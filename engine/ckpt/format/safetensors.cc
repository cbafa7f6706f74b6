#include "engine/ckpt/format/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/ckpt/format/safetensors_format.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/job/json_text.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 4> kDTypes = {
    {{"F32", DType::kF32},
     {"U32", DType::kU32},
     {"I64", DType::kI64},
     {"U64", DType::kU64}}};
constexpr size_t kMaxDimensions = 16;

// Returns the size of a tensor in bytes; nullopt if it exceeds 64 bits.
std::optional<uint64_t> TensorBytes(DType dtype,
                                    std::span<const uint64_t> shape) {
  uint64_t bytes = DTypeBytes(dtype);
  for (const uint64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return bytes;
}

Result<std::vector<uint64_t>> Numbers(const JsonFields& fields,
                                      std::string_view key, const Json& json,
                                      size_t limit) {
  if (!json.is_array() || json.size() > limit) {
    return DataLoss(fmt::format("{}: expected an array of at most {}",
                                fields.PathOf(key), limit));
  }
  std::vector<uint64_t> numbers;
  for (const Json& number : json) {
    if (!number.is_number_unsigned()) {
      return DataLoss(fmt::format("{}: expected integers from 0 to 2^64 - 1",
                                  fields.PathOf(key)));
    }
    numbers.push_back(number.get<uint64_t>());
  }
  return numbers;
}

// Returns the tensor that the JSON describes, with the range of its bytes in
// the data.
Result<SafetensorsEntry> ParseEntry(const std::string& name, const Json& json) {
  JsonFields fields(json, name);
  SafetensorsEntry entry;
  entry.tensor.name = name;
  entry.tensor.dtype = fields.ChoiceAmong("dtype", kDTypes);
  const Json& shape = fields.Any("shape");
  const Json& offsets = fields.Any("data_offsets");
  if (const Status status = fields.Finish(); !status.ok()) {
    return DataLoss(status.message());
  }
  ASSIGN_OR_RETURN(entry.tensor.shape,
                   Numbers(fields, "shape", shape, kMaxDimensions));
  ASSIGN_OR_RETURN(const std::vector<uint64_t> range,
                   Numbers(fields, "data_offsets", offsets, 2));
  if (range.size() != 2 || range[0] > range[1]) {
    return DataLoss(name + ".data_offsets: expected [begin, end)");
  }
  entry.begin = range[0];
  entry.end = range[1];
  const auto bytes = TensorBytes(entry.tensor.dtype, entry.tensor.shape);
  if (!bytes || *bytes != entry.end - entry.begin) {
    return DataLoss(
        fmt::format("{}: dtype and shape make {} bytes, data_offsets {}", name,
                    bytes ? std::to_string(*bytes) : "more than 2^64",
                    entry.end - entry.begin));
  }
  return entry;
}

Status CheckMetadata(const Json& json) {
  const bool strings =
      json.is_object() &&
      std::ranges::all_of(json, [](const Json& v) { return v.is_string(); });
  if (strings) return OkStatus();
  return DataLoss("__metadata__: expected an object of strings");
}

Result<std::vector<SafetensorsEntry>> ParseEntries(std::string_view text) {
  if (!text.starts_with('{')) {
    return DataLoss("header: expected JSON that starts with '{'");
  }
  const Result<Json> json = ParseStrictJson(text, "header");
  if (!json.ok()) return DataLoss(json.status().message());
  if (!json->is_object()) return DataLoss("header: expected an object");
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, value] : json->items()) {
    if (name == kSafetensorsMetadata) {
      RETURN_IF_ERROR(CheckMetadata(value));
      continue;
    }
    ASSIGN_OR_RETURN(SafetensorsEntry entry, ParseEntry(name, value));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Sorts the entries by their ranges. Returns an error unless the ranges cover
// the data exactly, without holes or overlaps.
Status CheckCoverage(std::vector<SafetensorsEntry>& entries,
                     uint64_t data_bytes) {
  std::ranges::sort(entries, {}, [](const SafetensorsEntry& entry) {
    return std::tie(entry.begin, entry.end, entry.tensor.name);
  });
  uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != covered) {
      return DataLoss(fmt::format("{}: expected to begin at {}, found {} ({})",
                                  entry.tensor.name, covered, entry.begin,
                                  entry.begin < covered ? "overlap" : "hole"));
    }
    if (entry.end > data_bytes) {
      return DataLoss(fmt::format("{}: ends at {}, the data has {} bytes",
                                  entry.tensor.name, entry.end, data_bytes));
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    return DataLoss(fmt::format("data: {} bytes belong to no tensor",
                                data_bytes - covered));
  }
  return OkStatus();
}

}  // namespace

std::string_view DTypeName(DType dtype) {
  for (const auto& [name, type] : kDTypes) {
    if (type == dtype) return name;
  }
  CHECK(false, "an unknown dtype");
}

SafetensorsLayout LayOutSafetensors(std::span<const TensorView> tensors,
                                    uint64_t step) {
  SafetensorsLayout layout{.header = {}, .order = NameOrder(tensors)};
  std::ranges::stable_sort(layout.order, std::greater<>(), [&](size_t i) {
    return DTypeBytes(tensors[i].dtype);
  });
  JsonText json;
  // Placeholder for the length, which is filled in below.
  json.Raw(std::string(kSafetensorsLengthBytes, '\0'));
  json.Raw("{").PlainString(kSafetensorsMetadata);
  json.Raw(R"(:{"producer":"gauntlet","step":")").Number(step).Raw("\"}");
  uint64_t offset = 0;
  for (const size_t i : layout.order) {
    const TensorView& tensor = tensors[i];
    const auto bytes = TensorBytes(tensor.dtype, tensor.shape);
    CHECK(tensor.name != kSafetensorsMetadata, "a reserved tensor name");
    CHECK(bytes == tensor.bytes.size(),
          fmt::format("{}: {} bytes do not fit its shape", tensor.name,
                      tensor.bytes.size()));
    json.Raw(",").String(tensor.name);
    json.Raw(":{\"dtype\":").PlainString(DTypeName(tensor.dtype));
    std::string_view before = ",\"shape\":[";
    for (const uint64_t dimension : tensor.shape) {
      json.Raw(before).Number(dimension);
      before = ",";
    }
    if (tensor.shape.empty()) json.Raw(before);
    json.Raw("],\"data_offsets\":[").Number(offset);
    json.Raw(",").Number(offset + *bytes).Raw("]}");
    offset += *bytes;
  }
  json.Raw("}");
  layout.header = json.Take();
  const size_t unpadded = layout.header.size();
  layout.header.append(
      (kSafetensorsAlignment - unpadded % kSafetensorsAlignment) %
          kSafetensorsAlignment,
      ' ');
  const uint64_t length = layout.header.size() - kSafetensorsLengthBytes;
  CHECK(length <= kSafetensorsMaxHeader, "too many tensors in a shard");
  std::memcpy(layout.header.data(), &length, sizeof length);
  return layout;
}

std::vector<std::span<const std::byte>> PartsOf(
    const SafetensorsLayout& layout, std::span<const TensorView> tensors) {
  std::vector<std::span<const std::byte>> parts;
  parts.reserve(1 + layout.order.size());
  parts.push_back(std::as_bytes(std::span(layout.header)));
  for (const size_t i : layout.order) parts.push_back(tensors[i].bytes);
  return parts;
}

Result<uint64_t> SafetensorsHeaderBytes(std::span<const std::byte> beginning,
                                        uint64_t file_bytes) {
  if (file_bytes < kSafetensorsLengthBytes) {
    return DataLoss(fmt::format("expected at least {} bytes, found {}",
                                kSafetensorsLengthBytes, file_bytes));
  }
  uint64_t length = 0;
  CHECK(beginning.size() >= sizeof length, "the length is not read yet");
  std::memcpy(&length, beginning.data(), sizeof length);
  const uint64_t room = file_bytes - kSafetensorsLengthBytes;
  const uint64_t limit = std::min<uint64_t>(room, kSafetensorsMaxHeader);
  if (length > limit) {
    return DataLoss(fmt::format("header: expected at most {} bytes, found {}",
                                limit, length));
  }
  return kSafetensorsLengthBytes + length;
}

Result<std::vector<SafetensorsEntry>> ParseSafetensorsHeader(
    std::span<const std::byte> beginning, uint64_t file_bytes) {
  ASSIGN_OR_RETURN(const uint64_t header,
                   SafetensorsHeaderBytes(beginning, file_bytes));
  CHECK(beginning.size() >= header, "the header is not read yet");
  const auto json = beginning.first(header).subspan(kSafetensorsLengthBytes);
  ASSIGN_OR_RETURN(
      std::vector<SafetensorsEntry> entries,
      ParseEntries({reinterpret_cast<const char*>(json.data()), json.size()}));
  RETURN_IF_ERROR(CheckCoverage(entries, file_bytes - header));
  for (SafetensorsEntry& entry : entries) {
    entry.begin += header;
    entry.end += header;
  }
  return entries;
}

Result<std::vector<TensorView>> ParseSafetensors(
    std::span<const std::byte> file) {
  ASSIGN_OR_RETURN(std::vector<SafetensorsEntry> entries,
                   ParseSafetensorsHeader(file, file.size()));
  std::vector<TensorView> views;
  views.reserve(entries.size());
  for (SafetensorsEntry& entry : entries) {
    entry.tensor.bytes = file.subspan(entry.begin, entry.end - entry.begin);
    views.push_back(std::move(entry.tensor));
  }
  return views;
}

}  // namespace gauntlet
