// Processes that ended because memory ran out, of the machine or of a control
// group: those that the kernel killed, which explains why a worker died without
// a message, and those that reported it themselves.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

// Returns the number of processes that the kernel killed since the machine
// started, as in /proc/vmstat (oom_kill, from Linux 4.13 on, including kills by
// the limit of a control group); 0 if the kernel does not count them.
uint64_t CountOomKills();

// As CountOomKills, from the text of /proc/vmstat.
uint64_t OomKillsIn(std::string_view vmstat);

// Start of the line on standard error of one of our processes that could not
// get memory or start a thread.
inline constexpr std::string_view kRanOut = "gauntlet: out of ";

// Text after the source location in the allocator's message. There is no other
// message if a library requested the memory, as the library may then crash.
inline constexpr std::string_view kAllocatorRanOut =
    "] tcmalloc: allocation failed ";

// Returns the first such line of a worker's log; empty if there is none.
std::string_view RanOutIn(std::string_view log);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_
