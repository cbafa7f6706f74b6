// Strict reading of JSON: every key is known, present and unique, and every
// value has the right type.
//
// To be included by .cc files only, so that no other header of engine/ has
// nlohmann's types.
#ifndef GAUNTLET_ENGINE_JOB_STRICT_JSON_H_
#define GAUNTLET_ENGINE_JOB_STRICT_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/status.h"
#include <nlohmann/json.hpp>

namespace gauntlet {

using Json = nlohmann::ordered_json;

// Parses at most 1 MiB, nested at most 16 deep, without a repeated key in any
// object; kInvalidArgument otherwise. `what` names the text in messages.
Result<Json> ParseStrictJson(std::string_view text, std::string_view what);

// Reads the fields of one object, one by one. If a field is missing or invalid,
// the function that reads it returns a valid placeholder, such as `low`. Finish
// returns the first error.
class JsonFields {
 public:
  // `path` is the dotted path of the object ("optimizer"), "" for the whole
  // text. `object` must outlive this.
  JsonFields(const Json& object, std::string path);

  int64_t Integer(std::string_view key, int64_t low, int64_t high);
  uint64_t Unsigned(std::string_view key);
  // Returns the nearest float32; the value must be finite.
  float Float(std::string_view key);
  std::string String(std::string_view key);
  bool Flag(std::string_view key);
  // Reads a name, and returns the value that `names` pairs with it.
  template <typename T>
  T Choice(std::string_view key,
           std::initializer_list<std::pair<std::string_view, T>> names) {
    return ChoiceAmong(key, names);
  }
  // As Choice; the pairs of name and value are in any kind of range.
  template <typename Names>
  auto ChoiceAmong(std::string_view key, const Names& names);
  // Returns the value, whose type the caller must check. If the key is missing,
  // records an error and returns null.
  const Json& Any(std::string_view key);
  // Returns nullptr if the key is missing, which is no error.
  const Json* Maybe(std::string_view key);
  std::string PathOf(std::string_view key) const;

  // Returns the first error, or an error if the object has a key that was not
  // read.
  Status Finish() const;

 private:
  const Json* Find(std::string_view key);
  void Expected(std::string_view key, std::string_view what, const Json& found);

  const Json& object_;
  const Json null_;
  std::string path_;
  std::vector<bool> is_read_;  // for each member of the object
  Status status_;
};

template <typename Names>
auto JsonFields::ChoiceAmong(std::string_view key, const Names& names) {
  const Json& value = Any(key);
  for (const auto& [name, choice] : names) {
    if (value.is_string() && value == name) return choice;
  }
  std::string expected = "one of";
  for (const auto& [name, choice] : names) expected.append(" ").append(name);
  Expected(key, expected, value);
  return names.begin()->second;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_STRICT_JSON_H_
