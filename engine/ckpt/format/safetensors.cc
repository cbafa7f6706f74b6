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

// A tensor's entry in the JSON, parsed, with `view.bytes` still empty.
struct Entry {
  TensorView view;
  uint64_t begin = 0;
  uint64_t end = 0;
};

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

Result<Entry> ParseEntry(const std::string& name, const Json& json) {
  JsonFields fields(json, name);
  Entry entry;
  entry.view.name = name;
  entry.view.dtype = fields.ChoiceAmong("dtype", kDTypes);
  const Json& shape = fields.Any("shape");
  const Json& offsets = fields.Any("data_offsets");
  if (const Status status = fields.Finish(); !status.ok()) {
    return DataLoss(status.message());
  }
  ASSIGN_OR_RETURN(entry.view.shape,
                   Numbers(fields, "shape", shape, kMaxDimensions));
  ASSIGN_OR_RETURN(const std::vector<uint64_t> range,
                   Numbers(fields, "data_offsets", offsets, 2));
  if (range.size() != 2 || range[0] > range[1]) {
    return DataLoss(name + ".data_offsets: expected [begin, end)");
  }
  entry.begin = range[0];
  entry.end = range[1];
  const auto bytes = TensorBytes(entry.view.dtype, entry.view.shape);
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

Result<std::vector<Entry>> ParseHeader(std::string_view text) {
  if (!text.starts_with('{')) {
    return DataLoss("header: expected JSON that starts with '{'");
  }
  const Result<Json> json = ParseStrictJson(text, "header");
  if (!json.ok()) return DataLoss(json.status().message());
  if (!json->is_object()) return DataLoss("header: expected an object");
  std::vector<Entry> entries;
  for (const auto& [name, value] : json->items()) {
    if (name == kSafetensorsMetadata) {
      RETURN_IF_ERROR(CheckMetadata(value));
      continue;
    }
    ASSIGN_OR_RETURN(Entry entry, ParseEntry(name, value));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Assigns each tensor its bytes. The tensors must cover the data without a gap.
Status AddPlaced(std::vector<Entry> entries, std::span<const std::byte> data,
                 std::vector<TensorView>& out) {
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    return std::tie(entry.begin, entry.end, entry.view.name);
  });
  uint64_t covered = 0;
  for (Entry& entry : entries) {
    if (entry.begin != covered) {
      return DataLoss(fmt::format("{}: expected to begin at {}, found {} ({})",
                                  entry.view.name, covered, entry.begin,
                                  entry.begin < covered ? "overlap" : "hole"));
    }
    if (entry.end > data.size()) {
      return DataLoss(fmt::format("{}: ends at {}, the data has {} bytes",
                                  entry.view.name, entry.end, data.size()));
    }
    covered = entry.end;
    entry.view.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    out.push_back(std::move(entry.view));
  }
  if (covered != data.size()) {
    return DataLoss(fmt::format("data: {} bytes belong to no tensor",
                                data.size() - covered));
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

Status AddSafetensors(std::span<const std::byte> file,
                      std::vector<TensorView>& views) {
  if (file.size() < kSafetensorsLengthBytes) {
    return DataLoss(fmt::format("expected at least {} bytes, found {}",
                                kSafetensorsLengthBytes, file.size()));
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const uint64_t room = file.size() - kSafetensorsLengthBytes;
  const uint64_t limit = std::min<uint64_t>(room, kSafetensorsMaxHeader);
  if (length > limit) {
    return DataLoss(fmt::format("header: expected at most {} bytes, found {}",
                                limit, length));
  }
  const std::string_view text(
      reinterpret_cast<const char*>(file.data()) + kSafetensorsLengthBytes,
      length);
  const auto data = file.subspan(kSafetensorsLengthBytes + length);
  ASSIGN_OR_RETURN(std::vector<Entry> entries, ParseHeader(text));
  return AddPlaced(std::move(entries), data, views);
}

Result<std::vector<TensorView>> ParseSafetensors(
    std::span<const std::byte> file) {
  std::vector<TensorView> views;
  RETURN_IF_ERROR(AddSafetensors(file, views));
  return views;
}

}  // namespace gauntlet
