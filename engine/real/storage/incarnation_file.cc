#include "engine/real/storage/incarnation_file.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the number at the start of the text; nullopt if there is none.
std::optional<int> NumberAtBegin(std::string_view text) {
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// Returns the name that earlier versions gave to the file.
std::string EarlierFileName(int worker, int incarnation,
                            std::string_view ending) {
  return fmt::format("worker-{}-life-{}{}", worker, incarnation, ending);
}

}  // namespace

std::string IncarnationFileName(int worker, int incarnation,
                                std::string_view ending) {
  return fmt::format("worker-{}-incarnation-{}{}", worker, incarnation, ending);
}

std::optional<std::pair<int, int>> ParseIncarnationFileName(
    std::string_view name, std::string_view ending) {
  const size_t first = name.find('-');
  const size_t last = name.rfind('-');
  if (first == last) return std::nullopt;
  const std::optional<int> worker = NumberAtBegin(name.substr(first + 1));
  const std::optional<int> incarnation = NumberAtBegin(name.substr(last + 1));
  if (!worker || *worker < 0 || !incarnation) return std::nullopt;
  const bool has_this_name =
      name == IncarnationFileName(*worker, *incarnation, ending) ||
      name == EarlierFileName(*worker, *incarnation, ending);
  return has_this_name ? std::optional(std::pair(*worker, *incarnation))
                       : std::nullopt;
}

}  // namespace gauntlet
