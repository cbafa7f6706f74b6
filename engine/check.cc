#include "engine/check.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "engine/last_words.h"

namespace gauntlet {
namespace {

thread_local CheckPosition check_position;

}  // namespace

void SetCheckPosition(const CheckPosition& position) {
  check_position = position;
}

void CheckFailed(std::string_view file, int line, std::string_view condition,
                 std::string_view message) {
  std::array<char, kMaxLastWords> text = {};
  const int size = std::snprintf(
      text.data(), text.size(),
      "%.*s:%d: CHECK(%.*s) failed: %.*s (seed %llu, rank %d, step %llu)\n",
      static_cast<int>(file.size()), file.data(), line,
      static_cast<int>(condition.size()), condition.data(),
      static_cast<int>(message.size()), message.data(),
      static_cast<unsigned long long>(check_position.seed), check_position.rank,
      static_cast<unsigned long long>(check_position.step));
  WriteUnlessBlocked(std::string_view(text.data())
                         .substr(0, static_cast<size_t>(std::max(size, 0))));
  std::abort();
}

}  // namespace gauntlet
