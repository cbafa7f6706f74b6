// Processes that the kernel killed because memory ran out: what a worker's
// death without a word may be due to, on a machine that is too small for the
// case.
#ifndef GAUNTLET_HARNESS_RUN_OOM_KILLS_H_
#define GAUNTLET_HARNESS_RUN_OOM_KILLS_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

// Since the machine's start, as /proc/vmstat has it (oom_kill, from Linux 4.13
// on; those by the limit of a control group are among them); 0: not counted.
uint64_t CountOomKills();

// The same from that file's text.
uint64_t OomKillsIn(std::string_view vmstat);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_OOM_KILLS_H_
