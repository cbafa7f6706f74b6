#include "engine/job/strict_json.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;
constexpr int kMaxDepth = 16;
constexpr size_t kMaxShown = 40;

// Returns a value as a message shows it: on one line and not too long.
std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  return text;
}

// Rejects, during the parse, errors that the resulting value no longer shows.
class ParseWatch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
        keys_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        keys_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!keys_.back().insert(parsed.get<std::string>()).second) {
          Complain(fmt::format("key {} appears twice", Shown(parsed)));
        }
        break;
      default:
        break;
    }
    if (depth > kMaxDepth) {
      Complain(fmt::format("nested more than {} deep", kMaxDepth));
    }
    // Deeper values are dropped: the library copies values by recursion.
    return depth <= kMaxDepth;
  }

  const std::string& complaint() const { return complaint_; }

 private:
  void Complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  std::vector<std::set<std::string>> keys_;
  std::string complaint_;
};

}  // namespace

Result<Json> ParseStrictJson(std::string_view text, std::string_view what) {
  if (text.size() > kMaxText) {
    return InvalidArgument(
        fmt::format("{}: expected at most {} bytes of JSON, found {}", what,
                    kMaxText, text.size()));
  }
  ParseWatch watch;
  try {
    Json value = Json::parse(text, std::ref(watch));
    if (watch.complaint().empty()) return value;
    return InvalidArgument(fmt::format("{}: {}", what, watch.complaint()));
  } catch (const Json::parse_error& error) {
    return InvalidArgument(
        fmt::format("{}: expected JSON, found something else at byte {}", what,
                    error.byte));
  } catch (const Json::exception&) {
    return InvalidArgument(
        fmt::format("{}: a number is too large for JSON", what));
  }
}

JsonFields::JsonFields(const Json& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (!object.is_object()) {
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

const Json& JsonFields::Any(std::string_view key) {
  if (!object_.is_object()) return null_;
  read_.emplace(key);
  const auto found = object_.find(std::string(key));
  if (found != object_.end()) return *found;
  if (status_.ok()) {
    status_ = InvalidArgument(fmt::format("{}: missing", PathOf(key)));
  }
  return null_;
}

const Json* JsonFields::Maybe(std::string_view key) {
  if (!object_.is_object() || !object_.contains(std::string(key))) {
    return nullptr;
  }
  return &Any(key);
}

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
    // Above the largest float the conversion itself is undefined.
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
  for (const auto& [key, value] : object_.items()) {
    if (!read_.contains(key)) {
      return InvalidArgument(
          fmt::format("{}: unknown key", Shown(Json(PathOf(key)))));
    }
  }
  return OkStatus();
}

}  // namespace gauntlet
