// Result of parsing a file's text: a value, or a one-line error that says
// where it is, what was expected and what was found.
#ifndef GAUNTLET_HARNESS_RECORD_PARSED_H_
#define GAUNTLET_HARNESS_RECORD_PARSED_H_

#include <optional>
#include <string>

namespace gauntlet {

template <typename T>
struct Parsed {
  std::optional<T> value;
  std::string error;  // empty if there is a value

  bool ok() const { return value.has_value(); }
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_PARSED_H_
