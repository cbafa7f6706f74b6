// Converts structs to JSON objects and back; each struct's fields are listed
// once.
//
// Include it only in .cc files, because it includes the JSON library. A struct
// takes part by an overload of Describe that lists its fields:
//
//   template <class Archive>
//   void Describe(Archive& a, typename Archive::template Ref<Thing> thing) {
//     a.Field("step", thing.step);
//   }
//
// JsonWriter writes the fields to an object, JsonReader reads them from one. A
// missing key leaves its field unchanged; a wrong type is an error.
#ifndef GAUNTLET_HARNESS_RECORD_JSON_FIELDS_H_
#define GAUNTLET_HARNESS_RECORD_JSON_FIELDS_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/record/event.h"
#include "harness/record/parsed.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {

using Json = nlohmann::ordered_json;

// Returns the result for a file that a reader refuses. Text quoted in the
// message may contain anything, so control characters are replaced: the message
// stays on one line and cannot control a terminal.
template <typename T>
Parsed<T> Refused(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return {.value = std::nullopt, .error = std::move(message)};
}

// Returns true iff the text nests brackets more than 32 deep, outside of
// strings. The JSON library copies and writes values recursively, so it must
// not receive such a text.
inline bool NestsTooDeeply(std::string_view text) {
  constexpr int kMaxDepth = 32;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Converts the values of an enum to names and back, for fields of this type.
template <typename Enum>
struct EnumNames;
template <>
struct EnumNames<RecordKind> {
  static constexpr auto kName = RecordKindName;
  static constexpr auto kFind = FindRecordKind;
};
template <>
struct EnumNames<RecordPhase> {
  static constexpr auto kName = RecordPhaseName;
  static constexpr auto kFind = FindRecordPhase;
};
template <>
struct EnumNames<RecordReason> {
  static constexpr auto kName = RecordReasonName;
  static constexpr auto kFind = FindRecordReason;
};
template <>
struct EnumNames<Outcome> {
  static constexpr auto kName = OutcomeName;
  static constexpr auto kFind = FindOutcome;
};
template <>
struct EnumNames<RunEnding> {
  static constexpr auto kName = RunEndingName;
  static constexpr auto kFind = FindRunEnding;
};
template <>
struct EnumNames<VerdictKind> {
  static constexpr auto kName = VerdictKindName;
  static constexpr auto kFind = FindVerdictKind;
};

// Greatest time or duration that a reader accepts, 36 years. Judges and
// timelines add a few of these values, so sums must not overflow.
inline constexpr int64_t kMaxNs = int64_t{1} << 60;
inline constexpr double kMaxSeconds = 1e9;  // limit of times in seconds

template <typename T>
concept JsonScalar = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

// Returns JSON text. Replaces bytes that are not UTF-8 (a path may have some)
// by U+FFFD.
inline std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

class JsonWriter {
 public:
  template <typename T>
  using Ref = const T&;
  // kSkip omits zero and empty fields, to keep the many event lines short.
  enum class Defaults { kWrite, kSkip };

  JsonWriter(Json& object, Defaults defaults)
      : object_(object), defaults_(defaults) {}

  template <typename T>
  void Field(const char* key, const T& value) {
    if constexpr (std::is_enum_v<T> || JsonScalar<T>) {
      if (defaults_ == Defaults::kSkip && value == T{}) return;
    }
    object_[key] = Value(value);
  }
  // Writes a field whose values a reader limits.
  template <typename T, typename... Limits>
  void Field(const char* key, const T& value, Limits... /*limits*/) {
    Field(key, value);
  }
  template <typename T>
  void Field(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = Value(*value);
  }
  template <typename T>
  void Field(const char* key, const std::optional<std::vector<T>>& values) {
    if (values) object_[key] = List(*values);
  }
  template <typename T>
  void Field(const char* key, const std::vector<T>& values) {
    if (defaults_ == Defaults::kSkip && values.empty()) return;
    object_[key] = List(values);
  }
  // Writes an object with the nanoseconds of each part: {"write": 1200}.
  void Times(const char* key, const std::vector<RecordTime>& times) {
    if (times.empty()) return;
    Json& object = object_[key] = Json::object();
    for (const RecordTime& time : times) object[time.part] = time.took_ns;
  }
  // Writes the bits of a float32 as 8 hex digits.
  void Bits(const char* key, uint32_t bits) {
    if (defaults_ == Defaults::kSkip && bits == 0) return;
    object_[key] = fmt::format("{:08x}", bits);
  }

 private:
  template <typename T>
  Json Value(const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      return Json(EnumNames<T>::kName(value));
    } else if constexpr (JsonScalar<T>) {
      return Json(value);
    } else {
      Json object = Json::object();
      JsonWriter writer(object, defaults_);
      Describe(writer, value);
      return object;
    }
  }

  template <typename T>
  Json List(const std::vector<T>& values) const {
    Json list = Json::array();
    for (const T& value : values) list.push_back(Value(value));
    return list;
  }

  Json& object_;
  const Defaults defaults_;
};

class JsonReader {
 public:
  template <typename T>
  using Ref = T&;

  // Stores the first error in `error`. Its text begins with the path of keys to
  // the wrong value.
  JsonReader(const Json& object, std::string path, std::string& error)
      : object_(object), path_(std::move(path)), error_(error) {}

  template <typename T>
  void Field(const char* key, T& value) {
    if (const Json* found = Find(key)) Value(*found, key, value);
  }
  // Read a whole number from `least` to `most`, one that may be missing, and a
  // list of them.
  template <std::integral T>
  void Field(const char* key, T& value, std::type_identity_t<T> least,
             std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
    if (const Json* found = Find(key)) {
      Integer(*found, key, value, least, most);
    }
  }
  template <std::integral T>
  void Field(const char* key, std::optional<T>& value,
             std::type_identity_t<T> least, std::type_identity_t<T> most) {
    if (Find(key) != nullptr) Field(key, value.emplace(), least, most);
  }
  template <std::integral T>
  void Field(const char* key, std::vector<T>& values,
             std::type_identity_t<T> least, std::type_identity_t<T> most) {
    Items(key, values, [&](const Json& item, T& value) {
      Integer(item, key, value, least, most);
    });
  }
  template <typename T>
  void Field(const char* key, std::optional<T>& value) {
    if (const Json* found = Find(key)) Value(*found, key, value.emplace());
  }
  template <typename T>
  void Field(const char* key, std::optional<std::vector<T>>& values) {
    if (Find(key) != nullptr) Field(key, values.emplace());
  }
  template <typename T>
  void Field(const char* key, std::vector<T>& values) {
    Items(key, values,
          [&](const Json& item, T& value) { Value(item, key, value); });
  }
  void Times(const char* key, std::vector<RecordTime>& times) {
    const Json* found = Find(key);
    if (found == nullptr) return;
    if (!found->is_object()) return Expected(key, "an object", *found);
    times.clear();
    for (const auto& [part, took] : found->items()) {
      if (!took.is_number_unsigned() ||
          took.get<uint64_t>() > static_cast<uint64_t>(kMaxNs)) {
        return Expected((std::string(key) + "." + part).c_str(),
                        fmt::format("a whole number from 0 to {}", kMaxNs),
                        took);
      }
      times.push_back({.part = part, .took_ns = took.get<int64_t>()});
    }
  }
  void Bits(const char* key, uint32_t& bits) {
    const Json* found = Find(key);
    if (found == nullptr) return;
    const std::string text =
        found->is_string() ? found->get<std::string>() : "";
    constexpr std::string_view kHex = "0123456789abcdef";
    if (text.size() != 8 || text.find_first_not_of(kHex) != std::string::npos) {
      return Expected(key, "8 hex digits", *found);
    }
    bits = static_cast<uint32_t>(std::stoul(text, nullptr, 16));
  }

 private:
  const Json* Find(const char* key) const {
    if (!error_.empty()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  // Reads a list with the function `read`.
  template <typename T, typename Read>
  void Items(const char* key, std::vector<T>& values, const Read& read) {
    const Json* found = Find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return Expected(key, "a list", *found);
    values.clear();
    values.reserve(found->size());
    for (const Json& item : *found) {
      T value{};
      read(item, value);
      if (!error_.empty()) return;
      values.push_back(std::move(value));
    }
  }

  void Expected(const char* key, std::string_view what, const Json& found) {
    std::string shown = DumpJson(found, -1);
    if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
    error_ =
        fmt::format("{}{}: expected {}, found {}", path_, key, what, shown);
  }

  template <typename T>
  void Value(const Json& json, const char* key, T& value) {
    if constexpr (std::is_enum_v<T>) {
      std::optional<T> found;
      if (json.is_string()) {
        found = EnumNames<T>::kFind(json.get<std::string>());
      }
      if (!found) return Expected(key, "a known name", json);
      value = *found;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return Expected(key, "a string", json);
      value = json.get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return Expected(key, "true or false", json);
      value = json.get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) return Expected(key, "a number", json);
      value = json.get<T>();
      const bool is_time = std::string_view(key).ends_with("seconds");
      if (is_time && !(value >= 0 && value <= static_cast<T>(kMaxSeconds))) {
        return Expected(key, "a time from 0 to 1e9 s", json);
      }
    } else if constexpr (std::is_integral_v<T>) {
      Integer(json, key, value);
    } else {
      if (!json.is_object()) return Expected(key, "an object", json);
      JsonReader reader(json, fmt::format("{}{}.", path_, key), error_);
      Describe(reader, value);
    }
  }

  template <typename T>
  void Integer(const Json& json, const char* key, T& value) {
    T least = std::numeric_limits<T>::min();
    T most = std::numeric_limits<T>::max();
    if constexpr (std::is_same_v<T, int64_t>) {
      if (std::string_view(key).ends_with("_ns")) least = 0, most = kMaxNs;
    }
    Integer(json, key, value, least, most);
  }

  template <typename T>
  void Integer(const Json& json, const char* key, T& value, T least, T most) {
    const bool fits =
        json.is_number_unsigned()
            ? json.get<uint64_t>() >=
                      static_cast<uint64_t>(std::max<T>(least, 0)) &&
                  json.get<uint64_t>() <= static_cast<uint64_t>(most)
            : json.is_number_integer() && std::is_signed_v<T> &&
                  json.get<int64_t>() >= static_cast<int64_t>(least);
    if (!fits) {
      return Expected(
          key, fmt::format("a whole number from {} to {}", least, most), json);
    }
    value = json.get<T>();
  }

  const Json& object_;
  const std::string path_;
  std::string& error_;
};

template <class Archive>
void Describe(Archive& a, typename Archive::template Ref<RecordEvent> event) {
  a.Field("t_ns", event.t_ns);
  a.Field("generation", event.generation);
  a.Field("step", event.step);
  a.Field("epoch", event.epoch);
  a.Field("position", event.position);
  a.Field("phase", event.phase);
  a.Field("count", event.count);
  a.Bits("loss", event.loss_bits);
  a.Field("digest", event.digest);
  a.Field("path", event.path);
  a.Field("detail", event.detail);
  a.Field("samples", event.samples);
  a.Field("about", event.about, kLauncherWorker, kMaxWorkers - 1);
  a.Field("incarnation", event.incarnation);
  a.Field("reason", event.reason);
  a.Field("limit_ns", event.limit_ns);
  a.Times("parts_ns", event.parts);
  a.Times("background_ns", event.background);
  a.Field("order", event.order);
}

// Returns an event line, with its kind first.
inline Json EventToJson(const RecordEvent& event) {
  Json object = Json::object();
  object["kind"] = RecordKindName(event.kind);
  JsonWriter writer(object, JsonWriter::Defaults::kSkip);
  Describe(writer, event);
  return object;
}

// Returns true iff every event of the kind is about a worker.
inline bool NamesAWorker(RecordKind kind) {
  return kind == RecordKind::kStarted || kind == RecordKind::kAskedToStop ||
         kind == RecordKind::kKillSent || kind == RecordKind::kExited;
}

// Returns the event of a line whose kind is already known.
inline RecordEvent EventOfJson(const Json& object, RecordKind kind,
                               std::string& error) {
  RecordEvent event;
  event.kind = kind;
  JsonReader reader(object, "", error);
  Describe(reader, event);
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool good = event.digest.empty() ||
                    (event.digest.size() == 32 &&
                     event.digest.find_first_not_of(kHex) == std::string::npos);
  if (!good && error.empty()) {
    error = fmt::format("digest: expected 32 hex digits, found \"{}\"",
                        event.digest.substr(0, 40));
  } else if (NamesAWorker(kind) && !event.about && error.empty()) {
    error = fmt::format("about: expected the worker of {}, found none",
                        RecordKindName(kind));
  }
  return event;
}

// Parses one line of a JSON Lines file into an object with a "kind". Sets
// `error` if the line is anything else. Never throws, whatever the bytes.
inline Json ParseJsonLine(std::string_view line, std::string& error) {
  if (NestsTooDeeply(line)) {
    error = "expected JSON of at most 32 levels, found more";
    return {};
  }
  Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) {
    error = "expected one JSON object, found what is not JSON";
  } else if (!object.is_object()) {
    error = fmt::format("expected one JSON object, found {} {}",
                        object.type_name()[0] == 'a' ? "an" : "a",
                        object.type_name());
  } else if (!object.contains("kind") || !object["kind"].is_string()) {
    error = "kind: expected a string, found none";
  }
  return object;
}

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_JSON_FIELDS_H_
