// Reads one JSON object of a plan strictly. For .cc files only.
#ifndef GAUNTLET_CHAOS_INJECT_PLAN_OBJECT_READER_H_
#define GAUNTLET_CHAOS_INJECT_PLAN_OBJECT_READER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/clock.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {

// Returns kInvalidArgument, "plan: <where>: expected <this>, found <that>".
Status BadJson(std::string_view where, std::string_view expected,
               std::string_view found);
// Returns the value as text, short enough for one line.
std::string FoundJson(const nlohmann::ordered_json& json);

// Reads the keys of one object by name; End reports the keys not read. A method
// with `out` leaves it unchanged if its key is absent.
class ObjectReader {
 public:
  using Json = nlohmann::ordered_json;

  // `where` is the path of the object in the plan; "": the plan itself. `json`
  // must outlive this.
  ObjectReader(const Json& json, std::string where);

  // Returns an error if the value is not an object. Call it first.
  Status Begin() const;
  std::string Where(std::string_view key) const;
  // Returns nullptr if the key is absent.
  const Json* Find(std::string_view key);
  Result<const Json*> Need(std::string_view key);

  Status String(std::string_view key, std::string& out);
  Status Nanoseconds(std::string_view key, Duration& out);
  // Reads an integer from `low` to the largest value of T.
  template <typename T>
  Status Integer(std::string_view key, T low, T& out);
  template <typename T>
  Status Integer(std::string_view key, T low, std::optional<T>& out);

  // Returns an error if the object has a key that was not read. `known`
  // describes the known keys for the message.
  Status End(std::string_view known = "a known key") const;

 private:
  const Json& json_;
  const std::string where_;
  std::set<std::string, std::less<>> asked_;
};

template <typename T>
Status ObjectReader::Integer(std::string_view key, T low, T& out) {
  const Json* found = Find(key);
  if (found == nullptr) return OkStatus();
  constexpr auto kHigh = static_cast<uint64_t>(std::numeric_limits<T>::max());
  // For the JSON library, "unsigned" is any integer that is not negative, and
  // "integer" is any integer.
  const bool fits =
      found->is_number_unsigned()
          ? found->get<uint64_t>() <= kHigh && found->get<T>() >= low
          : found->is_number_integer() && std::is_signed_v<T> &&
                found->get<int64_t>() >= static_cast<int64_t>(low);
  if (!fits) {
    return BadJson(Where(key), fmt::format("an integer from {} on", low),
                   FoundJson(*found));
  }
  out = found->get<T>();
  return OkStatus();
}

template <typename T>
Status ObjectReader::Integer(std::string_view key, T low,
                             std::optional<T>& out) {
  if (Find(key) == nullptr) return OkStatus();
  return Integer(key, low, out.emplace());
}

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PLAN_OBJECT_READER_H_
