#include "engine/job/strict_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;
constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxShown = 40;

// Returns a value as text for a message: on one line and not too long.
std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  return text;
}

// Base class of nlohmann's map: a vector of members. Appending to it avoids the
// search for the key that each insertion into the map makes.
using Members = Json::object_t::Container;

// Builds a value, and rejects texts that are nested too deep or repeat a key.
// Finds repeated keys by one sort per object: this is faster than a search for
// each key.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  Json TakeValue() { return std::move(root_); }
  // Returns the first error; empty if there is none.
  const std::string& error() const { return error_; }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(int64_t value) override { return Add(value); }
  bool number_unsigned(uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string& /*text*/) override {
    return Add(value);
  }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return Open(Json::object()); }
  bool start_array(size_t /*size*/) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }
  bool end_object() override {
    std::vector<std::string_view> sorted;
    for (const auto& [name, value] : MembersOf(*open_.back()))
      sorted.push_back(name);
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::adjacent_find(sorted);
    if (repeated == sorted.end()) return Close();
    return Refuse(fmt::format("key {} appears twice", Shown(*repeated)));
  }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const bool is_syntax = dynamic_cast<const Json::parse_error*>(&error);
    return Refuse(is_syntax
                      ? fmt::format("expected JSON, found something else at "
                                    "byte {}",
                                    position)
                      : "a number is too large for JSON");
  }

 private:
  static Members& MembersOf(Json& object) {
    return object.get_ref<Json::object_t&>();
  }

  Json& Append(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) {
      return MembersOf(parent)
          .emplace_back(std::move(key_), std::move(value))
          .second;
    }
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool Add(Json value) {
    Append(std::move(value));
    return true;
  }
  bool Open(Json empty) {
    if (open_.size() == kMaxDepth)
      return Refuse(fmt::format("nested more than {} deep", kMaxDepth));
    open_.push_back(&Append(std::move(empty)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  bool Refuse(std::string error) {
    error_ = std::move(error);
    return false;
  }

  Json root_;
  std::vector<Json*> open_;  // arrays and objects, from the outermost
  std::string key_;          // key of the next value
  std::string error_;
};

}  // namespace

Result<Json> ParseStrictJson(std::string_view text, std::string_view what) {
  if (text.size() > kMaxText) {
    return InvalidArgument(
        fmt::format("{}: expected at most {} bytes of JSON, found {}", what,
                    kMaxText, text.size()));
  }
  StrictBuilder builder;
  if (Json::sax_parse(text, &builder)) return builder.TakeValue();
  return InvalidArgument(fmt::format("{}: {}", what, builder.error()));
}

JsonFields::JsonFields(const Json& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (object.is_object()) {
    is_read_.resize(object.size());
  } else {
    status_ = InvalidArgument(fmt::format("{}: expected an object, found {}",
                                          path_.empty() ? "top level" : path_,
                                          Shown(object)));
  }
}

std::string JsonFields::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void JsonFields::Expected(std::string_view key, std::string_view what,
                          const Json& found) {
  if (!status_.ok()) return;
  status_ = InvalidArgument(fmt::format("{}: expected {}, found {}",
                                        PathOf(key), what, Shown(found)));
}

// Returns the value, and records that it was read; nullptr if the key is
// missing.
const Json* JsonFields::Find(std::string_view key) {
  if (!object_.is_object()) return nullptr;
  const Members& members = object_.get_ref<const Json::object_t&>();
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].first != key) continue;
    is_read_[i] = true;
    return &members[i].second;
  }
  return nullptr;
}

const Json& JsonFields::Any(std::string_view key) {
  if (const Json* found = Find(key)) return *found;
  if (status_.ok())
    status_ = InvalidArgument(fmt::format("{}: missing", PathOf(key)));
  return null_;
}

const Json* JsonFields::Maybe(std::string_view key) { return Find(key); }

int64_t JsonFields::Integer(std::string_view key, int64_t low, int64_t high) {
  const Json& value = Any(key);
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <=
                              uint64_t{std::numeric_limits<int64_t>::max()}
                        : value.is_number_integer();
  if (fits) {
    const int64_t number = value.get<int64_t>();
    if (number >= low && number <= high) return number;
  }
  Expected(key, fmt::format("an integer from {} to {}", low, high), value);
  return low;
}

uint64_t JsonFields::Unsigned(std::string_view key) {
  const Json& value = Any(key);
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  Expected(key, "an integer from 0 to 2^64 - 1", value);
  return 0;
}

float JsonFields::Float(std::string_view key) {
  const Json& value = Any(key);
  if (value.is_number()) {
    const double number = value.get<double>();
    // The conversion of a number above the largest float is undefined.
    if (std::abs(number) <= double{std::numeric_limits<float>::max()}) {
      return static_cast<float>(number);
    }
  }
  Expected(key, "a float32 number", value);
  return 0.0f;
}

std::string JsonFields::String(std::string_view key) {
  const Json& value = Any(key);
  if (value.is_string()) return value.get<std::string>();
  Expected(key, "a string", value);
  return {};
}

bool JsonFields::Flag(std::string_view key) {
  const Json& value = Any(key);
  if (value.is_boolean()) return value.get<bool>();
  Expected(key, "true or false", value);
  return false;
}

Status JsonFields::Finish() const {
  RETURN_IF_ERROR(status_);
  const Members& members = object_.get_ref<const Json::object_t&>();
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_read_[i]) {
      return InvalidArgument(fmt::format(
          "{}: unknown key", Shown(Json(PathOf(members[i].first)))));
    }
  }
  return OkStatus();
}

}  // namespace gauntlet
