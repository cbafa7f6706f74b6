// Memory of a traced thread that is stopped (man 2 process_vm_readv, man 5
// proc: /proc/PID/mem, which also reaches pages without a permission).
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_MEMORY_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gauntlet {

// False if part of it cannot be read or written.
bool ReadMemory(pid_t thread, uint64_t address, std::span<std::byte> into);
bool WriteMemory(pid_t thread, uint64_t address,
                 std::span<const std::byte> bytes);

// The text up to its zero byte; nullopt if it cannot be read or is no path: the
// kernel takes none of PATH_MAX bytes or more.
std::optional<std::string> ReadPathText(pid_t thread, uint64_t address);

template <typename T>
std::optional<T> ReadObject(pid_t thread, uint64_t address) {
  T value{};
  if (!ReadMemory(thread, address,
                  std::as_writable_bytes(std::span(&value, 1))))
    return std::nullopt;
  return value;
}

// The buffers of a write call, in order.
struct MemoryRange {
  uint64_t address = 0;
  uint64_t length = 0;  // bytes
};
// The array of `count` iovecs; empty if it cannot be read or is none.
std::vector<MemoryRange> ReadVectors(pid_t thread, uint64_t address,
                                     uint64_t count);
// Bytes from `at` on of the ranges, one put after the other; how many were
// read.
size_t ReadRanges(pid_t thread, std::span<const MemoryRange> ranges,
                  uint64_t at, std::span<std::byte> into);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_MEMORY_H_
