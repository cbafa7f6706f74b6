// What a reader of a file's text found: a value, or one line that says what is
// wrong, where, what was expected and what was found.
#ifndef GAUNTLET_HARNESS_RECORD_PARSED_H_
#define GAUNTLET_HARNESS_RECORD_PARSED_H_

#include <optional>
#include <string>

namespace gauntlet {

template <typename T>
struct Parsed {
  std::optional<T> value;
  std::string error;  // empty where there is a value

  bool ok() const { return value.has_value(); }
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_PARSED_H_
