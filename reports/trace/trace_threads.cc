#include "reports/trace/trace_threads.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace gauntlet {
namespace {

int64_t ProcessOf(int worker) {
  if (worker == kLauncherWorker) return kLauncherProcess;
  if (worker == kMachineEmitter) return kMachineProcess;
  return kFirstWorkerProcess + worker;
}

// Identifies a thread before it has a number.
struct ThreadKey {
  int64_t process = 0;
  size_t slot = 0;  // among concurrent incarnations of the worker
  TraceTrack track = TraceTrack::kControl;
  size_t lane = 0;  // among overlapping slices of the track

  auto operator<=>(const ThreadKey&) const = default;
};

bool IsBefore(const TraceSlice& a, const TraceSlice& b) {
  const auto key = [](const TraceSlice& slice) {
    const int64_t end_ns = slice.is_marker ? 0 : slice.span.end_ns;
    return std::tuple(slice.span.begin_ns, slice.is_marker, -end_ns,
                      slice.order);
  };
  return key(a) < key(b);
}

// Returns for each process the lowest slot that is free during its lifetime.
std::vector<size_t> SlotsOf(const TraceModel& model) {
  std::vector<size_t> by_begin(model.processes.size());
  for (size_t i = 0; i < by_begin.size(); ++i) by_begin[i] = i;
  std::ranges::stable_sort(by_begin, {}, [&model](size_t incarnation) {
    return model.processes[incarnation].begin_ns;
  });
  std::vector<size_t> slots(by_begin.size());
  std::map<int, std::vector<int64_t>> free_from;
  for (const size_t incarnation : by_begin) {
    const ProcessSpan& span = model.processes[incarnation];
    std::vector<int64_t>& ends =
        free_from[model.record.incarnations[incarnation].worker];
    const auto slot = std::ranges::find_if(
        ends, [&span](int64_t end_ns) { return end_ns <= span.begin_ns; });
    slots[incarnation] = static_cast<size_t>(slot - ends.begin());
    if (slot == ends.end()) {
      ends.push_back(span.end_ns);
    } else {
      *slot = span.end_ns;
    }
  }
  return slots;
}

// The slices in progress on a thread, from the outermost to the innermost.
class Nest {
 public:
  // Returns false if the slice would only partly overlap another one. REQUIRES:
  // slices are passed in the order of IsBefore.
  bool Admit(const TimeSpan& span) {
    while (!open_.empty() && open_.back() <= span.begin_ns) open_.pop_back();
    if (!open_.empty() && open_.back() < span.end_ns) return false;
    open_.push_back(span.end_ns);
    return true;
  }

 private:
  std::vector<int64_t> open_;  // ends of the slices
};

class ThreadAssigner {
 public:
  ThreadAssigner(const TraceModel& model, std::vector<TraceSlice>& slices)
      : model_(model), slices_(slices), slots_(SlotsOf(model)) {}

  TraceThreads Assign() {
    ShortenMarkers();
    std::ranges::stable_sort(slices_, IsBefore);
    std::vector<ThreadKey> of_slices;
    of_slices.reserve(slices_.size());
    for (const TraceSlice& slice : slices_) {
      of_slices.push_back(LaneOf(slice));
      keys_.emplace(of_slices.back(), 0);
    }
    for (size_t incarnation = 0; incarnation < slots_.size(); ++incarnation) {
      if (!model_.record.incarnations[incarnation].events.empty()) {
        keys_.emplace(KeyOf(incarnation, TraceTrack::kControl), 0);
      }
    }
    TraceThreads result = {.threads = NumberThreads()};
    for (const ThreadKey& key : of_slices) {
      result.of_slices.push_back(keys_.at(key));
    }
    for (size_t incarnation = 0; incarnation < slots_.size(); ++incarnation) {
      const auto key = keys_.find(KeyOf(incarnation, TraceTrack::kControl));
      result.of_incarnations.push_back(key == keys_.end() ? 0 : key->second);
    }
    return result;
  }

 private:
  ThreadKey KeyOf(size_t incarnation, TraceTrack track) const {
    return {
        .process = ProcessOf(model_.record.incarnations[incarnation].worker),
        .slot = slots_[incarnation],
        .track = track};
  }

  // Shortens markers to end before anything else on their track begins or ends.
  void ShortenMarkers() {
    std::map<ThreadKey, std::set<int64_t>> bounds;
    for (const TraceSlice& slice : slices_) {
      if (slice.track != TraceTrack::kControl) continue;
      auto& of_track = bounds[KeyOf(slice.event.incarnation, slice.track)];
      of_track.insert(slice.span.begin_ns);
      if (!slice.is_marker) of_track.insert(slice.span.end_ns);
    }
    for (TraceSlice& slice : slices_) {
      if (!slice.is_marker) continue;
      const auto& of_track =
          bounds[KeyOf(slice.event.incarnation, slice.track)];
      const auto next = of_track.upper_bound(slice.span.begin_ns);
      if (next != of_track.end()) {
        slice.span.end_ns = std::min(slice.span.end_ns, *next);
      }
    }
  }

  ThreadKey LaneOf(const TraceSlice& slice) {
    ThreadKey key = KeyOf(slice.event.incarnation, slice.track);
    std::vector<Nest>& lanes = lanes_[key];
    for (Nest& lane : lanes) {
      if (lane.Admit(slice.span)) return key;
      ++key.lane;
    }
    lanes.emplace_back().Admit(slice.span);
    return key;
  }

  // Returns the threads, and sets the values of keys_ to their indices.
  std::vector<TraceThread> NumberThreads() {
    constexpr int64_t kMostPerProcess = 1'000;
    std::map<int64_t, int> workers;
    for (const IncarnationEvents& incarnation : model_.record.incarnations) {
      workers.emplace(ProcessOf(incarnation.worker), incarnation.worker);
    }
    std::vector<TraceThread> threads;
    std::map<std::pair<int64_t, TraceTrack>, int> uses;
    std::map<int64_t, int64_t> in_process;
    for (auto& [key, index] : keys_) {
      const int use = ++uses[{key.process, key.track}];
      const std::string_view track = TraceTrackName(key.track);
      index = threads.size();
      threads.push_back(
          {.process = key.process,
           .number = key.process * kMostPerProcess + ++in_process[key.process],
           .worker = workers.at(key.process),
           .name = use == 1 ? std::string(track)
                            : fmt::format("{} {}", track, use)});
    }
    return threads;
  }

  const TraceModel& model_;
  std::vector<TraceSlice>& slices_;
  const std::vector<size_t> slots_;               // one for each process
  std::map<ThreadKey, std::vector<Nest>> lanes_;  // by the key of lane 0
  std::map<ThreadKey, size_t> keys_;              // values: indices of threads
};

}  // namespace

TraceThreads AssignThreads(const TraceModel& model,
                           std::vector<TraceSlice>& slices) {
  return ThreadAssigner(model, slices).Assign();
}

}  // namespace gauntlet
