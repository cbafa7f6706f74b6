#include "harness/bench/step_watch.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/real/storage/incarnation_file.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

// Returns the step of the event; 0 if the event is not a step.
uint64_t StepOf(std::string_view line) {
  if (line.find("\"kind\":\"step\"") == line.npos) return 0;
  const nlohmann::json event =
      nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto step = event.find("step");
  return step != event.end() && step->is_number_unsigned()
             ? step->get<uint64_t>()
             : 0;
}

}  // namespace

// A process of worker 0 need not have the number after that of its last one:
// the launcher counts the restarts of all workers.
void StepWatch::FollowNewestIncarnation() {
  constexpr std::string_view kEnding = ".jsonl";
  int newest = incarnation_;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(events_, error)) {
    const auto found =
        ParseIncarnationFileName(entry.path().filename().native(), kEnding);
    if (found && found->first == 0) newest = std::max(newest, found->second);
  }
  if (newest == incarnation_) return;
  incarnation_ = newest;
  file_ = std::ifstream(events_ / IncarnationFileName(0, newest, kEnding),
                        std::ios::binary);
  rest_.clear();
  step_ = 0;
}

uint64_t StepWatch::Look() {
  FollowNewestIncarnation();
  if (incarnation_ == 0) return 0;
  std::array<char, 1 << 16> bytes;
  while (true) {
    file_.clear();
    file_.read(bytes.data(), bytes.size());
    const auto got = static_cast<size_t>(file_.gcount());
    rest_.append(bytes.data(), got);
    if (got < bytes.size()) break;
  }
  // Finds the newest complete line that is a step.
  size_t end = rest_.rfind('\n');
  const size_t whole = end;
  while (end != rest_.npos) {
    const size_t before = end == 0 ? rest_.npos : rest_.rfind('\n', end - 1);
    const size_t begin = before == rest_.npos ? 0 : before + 1;
    const uint64_t step =
        StepOf(std::string_view(rest_).substr(begin, end - begin));
    if (step > 0) {
      step_ = step;
      break;
    }
    end = before;
  }
  if (whole != rest_.npos) rest_.erase(0, whole + 1);
  return step_;
}

}  // namespace gauntlet
