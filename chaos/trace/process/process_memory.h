// Access to the memory of a traced thread that is stopped (man 2
// process_vm_readv, man 5 proc: /proc/PID/mem, which reaches even pages without
// permissions).
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

// Return false if part of the memory is not accessible.
bool ReadMemory(pid_t thread, uint64_t address, std::span<std::byte> into);
bool WriteMemory(pid_t thread, uint64_t address,
                 std::span<const std::byte> bytes);

// Returns the text before its zero byte; nullopt if it is not readable, or too
// long for a path: the kernel rejects PATH_MAX bytes or more.
std::optional<std::string> ReadPathText(pid_t thread, uint64_t address);

template <typename T>
std::optional<T> ReadObject(pid_t thread, uint64_t address) {
  T value{};
  if (!ReadMemory(thread, address,
                  std::as_writable_bytes(std::span(&value, 1))))
    return std::nullopt;
  return value;
}

// A buffer in a thread's memory.
struct MemoryRange {
  uint64_t address = 0;
  uint64_t length = 0;  // bytes
};
// Returns the `count` iovecs at the address; empty if they are not readable or
// `count` is invalid.
std::vector<MemoryRange> ReadVectors(pid_t thread, uint64_t address,
                                     uint64_t count);
// Reads the concatenated ranges from offset `at` on. Returns the number of
// bytes read.
size_t ReadRanges(pid_t thread, std::span<const MemoryRange> ranges,
                  uint64_t at, std::span<std::byte> into);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_PROCESS_MEMORY_H_
