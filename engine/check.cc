#include "engine/check.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "engine/nonblocking_stderr.h"

namespace gauntlet {
namespace {

thread_local CheckPosition check_position;

// Limits on the printed condition and message. They leave room for the position
// and the line feed within kMaxAtomicWrite.
constexpr size_t kMaxConditionBytes = 1024;
constexpr size_t kMaxMessageBytes = 2048;

int ShownBytes(std::string_view text, size_t most) {
  return static_cast<int>(std::min(text.size(), most));
}

}  // namespace

void SetCheckPosition(const CheckPosition& position) {
  check_position = position;
}

void CheckFailed(std::string_view file, int line, std::string_view condition,
                 std::string_view message) {
  std::array<char, kMaxAtomicWrite> text = {};
  const int size = std::snprintf(
      text.data(), text.size(),
      "%.*s:%d: CHECK(%.*s) failed: %.*s (seed %llu, rank %d, step %llu)\n",
      static_cast<int>(file.size()), file.data(), line,
      ShownBytes(condition, kMaxConditionBytes), condition.data(),
      ShownBytes(message, kMaxMessageBytes), message.data(),
      static_cast<unsigned long long>(check_position.seed), check_position.rank,
      static_cast<unsigned long long>(check_position.step));
  WriteStderrUnlessBlocked(
      std::string_view(text.data())
          .substr(0, static_cast<size_t>(std::max(size, 0))));
  std::abort();
}

}  // namespace gauntlet
