#include "chaos/trace/rank_turns.h"

#include <algorithm>

#include "chaos/trace/process/process_files.h"

namespace gauntlet {
namespace {

// Length of a sleep after which a rank counts as waiting, in nanoseconds. A
// message in flight would wake its receiver sooner.
constexpr int64_t kAsleepFor = 20'000'000;
// A rank that is awake counts as polling if it has touched no watched file for
// kAwakeLimit or, if it polled before, for kKnownPollerLimit. Nanoseconds.
constexpr int64_t kAwakeLimit = 1'000'000'000;
constexpr int64_t kKnownPollerLimit = 100'000'000;
// A rank that used at most this CPU time, in nanoseconds, between two calls of
// Look still counts as asleep, as heartbeats need some.
constexpr int64_t kHeartbeat = 500'000;

bool IsAsleep(char state) {
  return state == 'S' || state == 'Z' || state == 'X';
}

}  // namespace

void RankTurns::Look(TracedThreads& threads, int64_t now) {
  now_ = now;
  if (!first_look_) first_look_ = now;
  for (auto& [number, rank] : ranks_) rank.is_alive = false;
  for (const auto& [number, ids] : threads.ThreadsByRank()) {
    Rank& rank = ranks_[number];
    rank.is_alive = true;
    bool sleeps = true;
    int64_t processor_time = 0;
    std::set<pid_t> processes;
    for (const auto& [thread, process] : ids) {
      sleeps = sleeps && IsAsleep(StateOfThread(process, thread));
      if (processes.insert(process).second)
        processor_time += ProcessorTimeOf(process);
    }
    const int64_t used = processor_time - rank.processor_time;
    rank.processor_time = processor_time;
    if (!sleeps || used > kHeartbeat) {
      rank.asleep_since.reset();
    } else if (!rank.asleep_since) {
      rank.asleep_since = now;
    }
  }
}

void RankTurns::OnOperation(int32_t rank, int64_t now) {
  ranks_[rank].asleep_since.reset();
  ranks_[rank].last_operation = now;
}

bool RankTurns::Waits(int32_t rank, int64_t since) {
  const auto found = ranks_.find(rank);
  // The rank has not started yet, or runs on another host. It counts as waiting
  // if it has not appeared kAwakeLimit after the first Look.
  if (found == ranks_.end()) return now_ - *first_look_ >= kAwakeLimit;
  const Rank& known = found->second;
  if (!known.is_alive) return true;
  if (known.asleep_since && now_ - *known.asleep_since >= kAsleepFor)
    return true;
  const bool polls = polling_.contains(rank);
  const int64_t idle_since = std::max(since, known.last_operation);
  if (now_ - idle_since < (polls ? kKnownPollerLimit : kAwakeLimit))
    return false;
  polling_.insert(rank);
  return true;
}

bool RankTurns::HasTurn(int32_t rank, int64_t since) {
  for (int32_t lower = 0; lower < rank; ++lower) {
    if (!Waits(lower, since)) return false;
  }
  return true;
}

bool RankTurns::DoOthersWait(int32_t rank, int64_t since) {
  return std::ranges::all_of(ranks_, [&](const auto& entry) {
    return entry.first == rank || Waits(entry.first, since);
  });
}

}  // namespace gauntlet
