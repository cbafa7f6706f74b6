#include "tests/reports/trace/trace_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using nlohmann::json;

using Thread = std::pair<int64_t, int64_t>;  // pid, tid

struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

int64_t Nanoseconds(double us) { return std::llround(us * 1e3); }

bool IsText(const json& event, const char* key) {
  return event.contains(key) && event[key].is_string();
}
bool IsNumber(const json& event, const char* key) {
  return event.contains(key) && event[key].is_number();
}

class TraceChecker {
 public:
  std::vector<std::string> Check(std::string_view text) {
    const json trace = json::parse(text, nullptr, false);
    if (!trace.is_object() || !trace.contains("traceEvents") ||
        !trace["traceEvents"].is_array()) {
      return {"expected an object with the list traceEvents"};
    }
    const std::string unit = trace.value("displayTimeUnit", "ms");
    if (unit != "ms" && unit != "ns") Violates("displayTimeUnit: " + unit);
    for (const json& event : trace["traceEvents"]) {
      if (HasCommonKeys(event)) CheckEvent(event);
    }
    CheckOpen();
    CheckNames();
    CheckNesting();
    CheckFlows();
    return std::move(violations_);
  }

 private:
  // Key of an operation or a flow.
  using Id = std::pair<std::string, std::string>;  // category, id
  struct FlowEnd {
    Thread thread;
    int64_t t_ns = 0;
  };

  void Violates(std::string text) {
    constexpr size_t kMost = 20;
    if (violations_.size() < kMost) violations_.push_back(std::move(text));
  }
  void Violates(std::string_view rule, const json& event) {
    Violates(fmt::format("{}: {}", rule, event.dump()));
  }

  bool HasCommonKeys(const json& event) {
    constexpr double kYear = 365.0 * 24 * 3600 * 1e6;  // in microseconds
    const size_t before = violations_.size();
    if (!event.is_object()) {
      Violates("expected an object", event);
    } else if (!IsText(event, "name") || !IsText(event, "ph")) {
      Violates("expected a name and a phase", event);
    } else if (!event.contains("pid") || !event["pid"].is_number_integer() ||
               !event.contains("tid") || !event["tid"].is_number_integer()) {
      Violates("expected whole numbers as pid and tid", event);
    } else if (event["ph"] != "M" || event.contains("ts")) {
      const double ts = IsNumber(event, "ts") ? event["ts"].get<double>() : NAN;
      if (!std::isfinite(ts) || ts < 0 || ts > kYear) {
        Violates("expected a time in microseconds", event);
      }
    }
    return violations_.size() == before;
  }

  void CheckEvent(const json& event) {
    const std::string phase = event["ph"];
    const Thread thread = {event["pid"], event["tid"]};
    if (phase == "M") return CheckName(event, thread);
    used_.insert(thread);
    const int64_t t_ns = Nanoseconds(event["ts"]);
    if (phase == "X") {
      CheckComplete(event, thread, t_ns);
    } else if (phase == "B") {
      open_[thread].emplace_back(event["name"], t_ns);
    } else if (phase == "E") {
      CheckEnd(event, thread, t_ns);
    } else if (phase == "i") {
      const std::string scope = event.value("s", "");
      if (scope != "g" && scope != "p" && scope != "t") {
        Violates("expected a scope g, p or t", event);
      }
    } else if (phase == "C") {
      CheckCounter(event);
    } else if (phase == "s" || phase == "t" || phase == "f") {
      CheckFlowEnd(event, phase, {thread, t_ns});
    } else if (phase == "b" || phase == "n" || phase == "e") {
      CheckAsync(event, phase, t_ns);
    } else {
      Violates("unknown phase", event);
    }
  }

  void CheckName(const json& event, const Thread& thread) {
    const std::string what = event["name"];
    const bool is_name = what.ends_with("_name");
    const char* key = is_name ? "name" : "sort_index";
    static const std::set<std::string> kKnown = {
        "process_name", "process_sort_index", "thread_name",
        "thread_sort_index"};
    if (!kKnown.contains(what)) return Violates("unknown metadata", event);
    const json args = event.value("args", json::object());
    if (is_name ? !IsText(args, key) : !IsNumber(args, key)) {
      return Violates(fmt::format("expected args.{}", key), event);
    }
    const bool of_process = what.starts_with("process");
    if (!names_[what]
             .emplace(thread.first, of_process ? 0 : thread.second)
             .second) {
      Violates("named twice", event);
    } else if (what == "thread_name" &&
               !threads_.insert(thread.second).second) {
      Violates("thread number of two processes", event);
    }
  }

  void CheckComplete(const json& event, const Thread& thread, int64_t t_ns) {
    if (!IsNumber(event, "dur") || !(event["dur"].get<double>() >= 0)) {
      return Violates("expected a duration", event);
    }
    slices_[thread].push_back(
        {t_ns, t_ns + Nanoseconds(event["dur"].get<double>())});
  }

  void CheckEnd(const json& event, const Thread& thread, int64_t t_ns) {
    auto& open = open_[thread];
    if (open.empty()) return Violates("E without a B", event);
    const auto [name, begin_ns] = open.back();
    open.pop_back();
    if (name != event["name"]) Violates("E names another slice", event);
    if (t_ns < begin_ns) Violates("E before its B", event);
    slices_[thread].push_back({begin_ns, t_ns});
  }

  void CheckCounter(const json& event) {
    const json args = event.value("args", json::object());
    const auto is_number = [](const json& value) { return value.is_number(); };
    if (args.empty() || !std::ranges::all_of(args, is_number)) {
      Violates("expected numbers in args", event);
    }
  }

  static Id IdOf(const json& event) {
    return {event.value("cat", ""),
            event.contains("id") ? event["id"].dump() : std::string()};
  }

  void CheckFlowEnd(const json& event, const std::string& phase,
                    const FlowEnd& end) {
    const Id id = IdOf(event);
    if (id.first.empty() || id.second.empty()) {
      return Violates("expected a category and an id", event);
    }
    if (phase == "f" && event.value("bp", "") != "e") {
      Violates("expected bp e", event);
    }
    if (!flows_[id].emplace(phase, end).second) Violates("twice", event);
  }

  void CheckAsync(const json& event, const std::string& phase, int64_t t_ns) {
    const Id id = IdOf(event);
    if (id.first.empty() || id.second.empty()) {
      return Violates("expected a category and an id", event);
    }
    std::vector<int64_t>& begins = async_[id];
    if (phase == "b") {
      begins.push_back(t_ns);
    } else if (begins.empty() || t_ns < begins.back()) {
      Violates("without a b before it", event);
    } else if (phase == "e") {
      begins.pop_back();
    }
  }

  void CheckOpen() {
    for (const auto& [thread, open] : open_) {
      for (const auto& [name, t_ns] : open) Violates("B without an E: " + name);
    }
    for (const auto& [id, begins] : async_) {
      if (!begins.empty()) {
        Violates(fmt::format("b without an e: {} {}", id.first, id.second));
      }
    }
  }

  void CheckNames() {
    std::set<int64_t> processes;
    for (const Thread& process : names_["process_name"]) {
      processes.insert(process.first);
    }
    for (const Thread& thread : used_) {
      if (!processes.contains(thread.first)) {
        Violates(fmt::format("process {} has no name", thread.first));
      }
      if (!names_["thread_name"].contains(thread)) {
        Violates(fmt::format("thread {} has no name", thread.second));
      }
    }
  }

  void CheckNesting() {
    for (auto& [thread, spans] : slices_) {
      std::ranges::sort(spans, {}, [](const Span& span) {
        return std::pair(span.begin, -span.end);
      });
      std::vector<Span> open;
      for (const Span& span : spans) {
        while (!open.empty() && open.back().end <= span.begin) open.pop_back();
        if (!open.empty() && span.end > open.back().end) {
          Violates(fmt::format("thread {}: {}-{} ns overlaps {}-{} ns",
                               thread.second, span.begin, span.end,
                               open.back().begin, open.back().end));
        }
        open.push_back(span);
      }
    }
  }

  void CheckFlows() {
    for (const auto& [id, ends] : flows_) {
      const std::string name = id.first + " " + id.second;
      if (!ends.contains("s") || !ends.contains("f")) {
        Violates("flow without s or f: " + name);
        continue;
      }
      if (ends.at("s").t_ns > ends.at("f").t_ns) {
        Violates("flow ends before it starts: " + name);
      }
      for (const auto& [phase, end] : ends) {
        const auto holds = [t_ns = end.t_ns](const Span& span) {
          return span.begin <= t_ns && t_ns < span.end;
        };
        if (std::ranges::none_of(slices_[end.thread], holds)) {
          Violates(fmt::format("{} of flow {} is at no slice", phase, name));
        }
      }
    }
  }

  std::vector<std::string> violations_;
  std::map<std::string, std::set<Thread>> names_;  // by kind of metadata
  std::set<int64_t> threads_;  // viewers treat thread numbers as unique
  std::set<Thread> used_;
  std::map<Thread, std::vector<Span>> slices_;
  std::map<Thread, std::vector<std::pair<std::string, int64_t>>> open_;
  std::map<Id, std::map<std::string, FlowEnd>> flows_;
  std::map<Id, std::vector<int64_t>> async_;
};

}  // namespace

std::vector<std::string> TraceViolations(std::string_view text,
                                         size_t most_bytes) {
  if (text.size() > most_bytes) {
    return {fmt::format("expected at most {} bytes, found {}", most_bytes,
                        text.size())};
  }
  return TraceChecker().Check(text);
}

}  // namespace gauntlet
