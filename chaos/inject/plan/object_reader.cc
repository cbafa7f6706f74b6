#include "chaos/inject/plan/object_reader.h"

#include <utility>

namespace gauntlet {

Status BadJson(std::string_view where, std::string_view expected,
               std::string_view found) {
  return InvalidArgument(
      fmt::format("plan: {}: expected {}, found {}", where, expected, found));
}

std::string FoundJson(const nlohmann::ordered_json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array";
  std::string text = json.dump(
      -1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

ObjectReader::ObjectReader(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {}

Status ObjectReader::Begin() const {
  if (json_.is_object()) return OkStatus();
  return BadJson(where_.empty() ? "the text" : where_, "an object",
                 FoundJson(json_));
}

std::string ObjectReader::Where(std::string_view key) const {
  return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
}

const ObjectReader::Json* ObjectReader::Find(std::string_view key) {
  asked_.emplace(key);
  const auto found = json_.find(std::string(key));
  return found == json_.end() ? nullptr : &*found;
}

Result<const ObjectReader::Json*> ObjectReader::Need(std::string_view key) {
  const Json* found = Find(key);
  if (found == nullptr) return BadJson(Where(key), "a value", "nothing");
  return found;
}

Status ObjectReader::String(std::string_view key, std::string& out) {
  const Json* found = Find(key);
  if (found == nullptr) return OkStatus();
  if (!found->is_string()) {
    return BadJson(Where(key), "a string", FoundJson(*found));
  }
  out = found->get<std::string>();
  return OkStatus();
}

Status ObjectReader::Nanoseconds(std::string_view key, Duration& out) {
  int64_t count = out.count();
  RETURN_IF_ERROR(Integer<int64_t>(key, 0, count));
  out = Duration(count);
  return OkStatus();
}

Status ObjectReader::End(std::string_view known) const {
  for (const auto& item : json_.items()) {
    if (!asked_.contains(item.key())) {
      return BadJson(Where(FoundJson(item.key())), known, "an unknown one");
    }
  }
  return OkStatus();
}

}  // namespace gauntlet
