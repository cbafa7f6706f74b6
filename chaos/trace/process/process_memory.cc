#include "chaos/trace/process/process_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>

#include "engine/real/posix/descriptor.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

namespace gauntlet {
namespace {

static_assert(sizeof(iovec) == sizeof(MemoryRange));

constexpr uint64_t kPageBytes = 4096;

Descriptor OpenMemory(pid_t thread, int flags) {
  return Descriptor(
      open(fmt::format("/proc/{}/mem", thread).c_str(), flags | O_CLOEXEC));
}

}  // namespace

bool ReadMemory(pid_t thread, uint64_t address, std::span<std::byte> into) {
  if (into.empty()) return true;
  const iovec local = {into.data(), into.size()};
  const iovec remote = {std::bit_cast<void*>(address), into.size()};
  const ssize_t count = process_vm_readv(thread, &local, 1, &remote, 1, 0);
  if (count == static_cast<ssize_t>(into.size())) return true;
  const Descriptor memory = OpenMemory(thread, O_RDONLY);
  return memory.valid() && pread(memory.get(), into.data(), into.size(),
                                 static_cast<off_t>(address)) ==
                               static_cast<ssize_t>(into.size());
}

bool WriteMemory(pid_t thread, uint64_t address,
                 std::span<const std::byte> bytes) {
  const Descriptor memory = OpenMemory(thread, O_WRONLY);
  return memory.valid() && pwrite(memory.get(), bytes.data(), bytes.size(),
                                  static_cast<off_t>(address)) ==
                               static_cast<ssize_t>(bytes.size());
}

std::optional<std::string> ReadPathText(pid_t thread, uint64_t address) {
  std::string text;
  std::array<char, kPageBytes> piece;
  while (text.size() < PATH_MAX) {
    // Does not read across a page boundary: the next page may be unmapped.
    const uint64_t wanted = kPageBytes - address % kPageBytes;
    const auto into = std::span(piece).first(wanted);
    if (!ReadMemory(thread, address, std::as_writable_bytes(into)))
      return std::nullopt;
    const auto end = std::find(into.begin(), into.end(), '\0');
    text.append(into.begin(), end);
    if (end != into.end()) break;
    address += wanted;
  }
  if (text.size() >= PATH_MAX) return std::nullopt;
  return text;
}

std::vector<MemoryRange> ReadVectors(pid_t thread, uint64_t address,
                                     uint64_t count) {
  if (count > IOV_MAX) return {};
  std::vector<MemoryRange> ranges(count);
  if (!ReadMemory(thread, address, std::as_writable_bytes(std::span(ranges))))
    return {};
  return ranges;
}

size_t ReadRanges(pid_t thread, std::span<const MemoryRange> ranges,
                  uint64_t at, std::span<std::byte> into) {
  size_t done = 0;
  for (const MemoryRange& range : ranges) {
    if (at >= range.length) {
      at -= range.length;
      continue;
    }
    const size_t count =
        std::min<uint64_t>(range.length - at, into.size() - done);
    if (!ReadMemory(thread, range.address + at, into.subspan(done, count)))
      break;
    done += count;
    at = 0;
    if (done == into.size()) break;
  }
  return done;
}

}  // namespace gauntlet
