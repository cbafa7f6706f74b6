#include "harness/results/tensor_list.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/digest.h"
#include "engine/utf8.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxShownKey = 200;  // characters of a key in a name
constexpr int kMaxJsonDepth = 100;
constexpr uint64_t kMaxInteger = std::numeric_limits<int64_t>::max();
// Memory of a value in addition to its name and bytes.
constexpr uint64_t kEachValue = 64;
constexpr uint64_t kMemoryAlways = uint64_t{4} << 20;
constexpr uint64_t kMemoryTimes = 16;
constexpr uint64_t kMaxFileSize = uint64_t{1} << 56;

template <typename T>
std::string BytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// REQUIRES: the value is nested at most kMaxJsonDepth deep.
Status AddJsonValue(const std::string& name, const Json& json,
                    TensorList& list) {
  switch (json.type()) {
    case Json::value_t::null:
      return list.AddEmpty(name, "none");
    case Json::value_t::object:
      if (json.empty()) return list.AddEmpty(name, "empty dict");
      for (const auto& [key, value] : json.items())
        RETURN_IF_ERROR(AddJsonValue(NameOfKey(name, key), value, list));
      return OkStatus();
    case Json::value_t::array:
      if (json.empty()) return list.AddEmpty(name, "empty list");
      for (size_t i = 0; i < json.size(); ++i)
        RETURN_IF_ERROR(AddJsonValue(NameOfItem(name, i), json[i], list));
      return OkStatus();
    case Json::value_t::string:
      return list.AddText(name, json.get<std::string>());
    case Json::value_t::boolean:
      return list.AddBool(name, json.get<bool>());
    case Json::value_t::number_integer:
      return list.AddInteger(name, json.get<int64_t>());
    case Json::value_t::number_float:
      return list.AddFloat(name, json.get<double>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() <= kMaxInteger)
        return list.AddInteger(name, json.get<int64_t>());
      return list.AddText(name, json.dump());
    default:
      return DataLoss(name + ": expected JSON");
  }
}

}  // namespace

TensorList::TensorList(uint64_t file_size)
    : memory_left_(kMemoryAlways +
                   kMemoryTimes * std::min(file_size, kMaxFileSize)),
      bytes_left_(UnpackedLimit(file_size)) {}

Status TensorList::Add(ResultTensor tensor) {
  if (tensors_.contains(tensor.name)) {
    uint64_t& times = repeated_[tensor.name];
    times = std::max<uint64_t>(times, 1) + 1;
    tensor.name += fmt::format("#{}", times);
    if (tensors_.contains(tensor.name))
      return DataLoss("two values of one name");
  }
  RETURN_IF_ERROR(ClaimMemory(tensor.name.size() + kEachValue));
  if (tensor.bytes->size() > bytes_left_)
    return DataLoss("more bytes than a file of its size can have");
  bytes_left_ -= tensor.bytes->size();
  std::string name = tensor.name;
  tensors_.emplace(std::move(name), std::move(tensor));
  return OkStatus();
}

Status TensorList::ClaimMemory(uint64_t bytes) {
  if (bytes > memory_left_)
    return DataLoss("more values than a file of its size can have");
  memory_left_ -= bytes;
  return OkStatus();
}

Status TensorList::AddHeld(std::string name, ElementType type,
                           std::vector<uint64_t> shape, std::string bytes) {
  RETURN_IF_ERROR(ClaimMemory(bytes.size()));
  return Add({.name = std::move(name),
              .type = std::move(type),
              .shape = std::move(shape),
              .bytes = BytesOfText(std::move(bytes))});
}

Status TensorList::AddText(std::string name, std::string text) {
  return AddHeld(std::move(name), ElementTypeOf("text"), {}, std::move(text));
}

Status TensorList::AddBytes(std::string name, Bytes bytes) {
  return Add({.name = std::move(name),
              .type = ElementTypeOf("bytes"),
              .shape = {},
              .bytes = std::move(bytes)});
}

Status TensorList::AddInteger(std::string name, int64_t value) {
  return AddHeld(std::move(name), ElementTypeOf("int64"), {}, BytesOf(value));
}

Status TensorList::AddFloat(std::string name, double value) {
  return AddHeld(std::move(name), ElementTypeOf("float64"), {}, BytesOf(value));
}

Status TensorList::AddBool(std::string name, bool value) {
  return AddHeld(std::move(name), ElementTypeOf("bool"), {},
                 BytesOf(static_cast<uint8_t>(value)));
}

Status TensorList::AddEmpty(std::string name, std::string_view type) {
  return AddHeld(std::move(name), ElementTypeOf(type), {}, "");
}

std::vector<ResultTensor> TensorList::Take() {
  std::vector<ResultTensor> tensors;
  tensors.reserve(tensors_.size());
  for (auto& [name, tensor] : tensors_) tensors.push_back(std::move(tensor));
  tensors_.clear();
  return tensors;
}

std::string NameOfKey(const std::string& parent, std::string_view key) {
  std::string shown = EscapeBytes(TruncateUtf8(key, kMaxShownKey));
  if (key.size() > kMaxShownKey) shown += "…" + DigestOf(key).Short();
  return parent.empty() ? shown : parent + "." + shown;
}

std::string NameOfItem(const std::string& parent, uint64_t index) {
  return fmt::format("{}[{}]", parent, index);
}

Status AddJson(const std::string& name, std::string_view text,
               std::span<const std::string_view> ignored, TensorList& list) {
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    too_deep = too_deep || depth > kMaxJsonDepth;
    if (event == Json::parse_event_t::key &&
        std::ranges::count(ignored, parsed.get<std::string>()) > 0) {
      return false;
    }
    return depth <= kMaxJsonDepth;
  };
  const Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (json.is_discarded()) return DataLoss(name + ": expected JSON");
  if (too_deep) {
    return DataLoss(
        fmt::format("{}: nested more than {} deep", name, kMaxJsonDepth));
  }
  return AddJsonValue(name, json, list);
}

}  // namespace gauntlet
