// Processes that ended because memory ran out, on a machine or under a limit
// that is too small for the case: what the kernel killed, which is what a
// worker's death without a word may be due to; and what said so itself.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

// Since the machine's start, as /proc/vmstat has it (oom_kill, from Linux 4.13
// on; those by the limit of a control group are among them); 0: not counted.
uint64_t CountOomKills();

// The same from that file's text.
uint64_t OomKillsIn(std::string_view vmstat);

// So begins what a process of ours says on its standard error that asked for
// memory, or for a thread, and got none.
inline constexpr std::string_view kRanOut = "gauntlet: out of ";

// So does the allocator, with a place of its source in front. It is all that
// is said where a library asked, which may not outlive the answer.
inline constexpr std::string_view kAllocatorRanOut =
    "] tcmalloc: allocation failed ";

// The first such line of a worker's log; empty: there is none.
std::string_view RanOutIn(std::string_view log);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_OOM_KILLS_H_
