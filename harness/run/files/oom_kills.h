// Detects processes that ended because memory ran out, in the machine or in a
// control group. The kernel kills some of them: such a worker dies without a
// message. Others report the lack of memory themselves.
#ifndef GAUNTLET_HARNESS_RUN_FILES_OOM_KILLS_H_
#define GAUNTLET_HARNESS_RUN_FILES_OOM_KILLS_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

// Returns the number of processes that the kernel has killed for lack of memory
// since the machine started: oom_kill in /proc/vmstat (from Linux 4.13 on),
// which includes kills by the limit of a control group. 0 if the kernel does
// not count them.
uint64_t CountOomKills();

// As CountOomKills, from the text of /proc/vmstat.
uint64_t OomKillsIn(std::string_view vmstat);

// Start of the line that a process of ours prints to standard error if it
// cannot get memory or start a thread.
inline constexpr std::string_view kRanOut = "gauntlet: out of ";

// The two lines that start with kRanOut, without their line feeds.
inline constexpr std::string_view kOutOfMemory = "gauntlet: out of memory";
inline constexpr std::string_view kOutOfThreads =
    "gauntlet: out of threads, or of memory for one (ulimit -u or -v, or the "
    "cgroup's pids.max)";

// The message of the allocator contains this text, after a source location. If
// a library requested the memory, it may crash, and then no other message
// follows.
inline constexpr std::string_view kAllocatorRanOut =
    "] tcmalloc: allocation failed ";

// Returns the first line of a worker's log that starts with kRanOut or contains
// kAllocatorRanOut; "" if there is none.
std::string_view RanOutIn(std::string_view log);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_OOM_KILLS_H_
