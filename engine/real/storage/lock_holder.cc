#include "engine/real/storage/lock_holder.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include "engine/real/host/real_host.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxCommandBytes = 200;
constexpr size_t kMaxHolderBytes = 600;

std::string ReadStart(int fd, size_t limit) {
  std::string text(limit, '\0');
  const ssize_t size =
      RetryOnInterrupt([&] { return pread(fd, text.data(), limit, 0); });
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// Returns the command line of this process; "" without /proc.
std::string CommandLine() {
  const Descriptor file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return "";
  std::string line = ReadStart(file.get(), kMaxCommandBytes);
  while (line.ends_with('\0')) line.pop_back();
  std::ranges::replace(line, '\0', ' ');
  return line;
}

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

void WriteLockHolder(const Descriptor& file) {
  const std::string command = CommandLine();
  std::string text =
      fmt::format("process {} on {} since {:%Y-%m-%dT%H:%M:%SZ}{}{}", getpid(),
                  RealHost().Name(), fmt::gmtime(std::time(nullptr)),
                  command.empty() ? "" : ": ", command);
  std::ranges::replace_if(
      text, [](char c) { return !IsPrintable(c); }, '?');
  text += '\n';
  const ssize_t written = RetryOnInterrupt(
      [&] { return pwrite(file.get(), text.data(), text.size(), 0); });
  if (written < 0) return;
  // Cuts off the rest of an earlier text that was longer. A concurrent reader
  // stops at the end of the line, so it never reads that rest.
  static_cast<void>(!ftruncate(file.get(), written));
}

std::string ReadLockHolder(const Descriptor& file) {
  const std::string text = ReadStart(file.get(), kMaxHolderBytes);
  std::string line = text.substr(0, text.find('\n'));
  std::ranges::replace_if(
      line, [](char c) { return !IsPrintable(c); }, '?');
  return line.empty() ? "another process" : line;
}

}  // namespace gauntlet
