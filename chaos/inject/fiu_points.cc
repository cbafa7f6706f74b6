#define FIU_ENABLE 1  // Without it fiu.h makes stubs.
#include "chaos/inject/fiu_points.h"

#include <cstdlib>
#include <string>

#include <fiu-control.h>
#include <fiu.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// The hit about which this thread asks libfiu. libfiu passes no argument of
// ours to its callback, so Ask stores it here for AskInjector.
struct Question {
  Injector& injector;
  Point point;
  const PointContext& context;
  bool asked = false;
  Injector::Due due;
};
thread_local Question* question = nullptr;

// Runs under libfiu's lock, so it only decides which faults are due; they are
// performed after the lock is released.
int AskInjector(const char*, int*, void**, unsigned int*) {
  if (question == nullptr) return 0;  // Called from other code.
  question->asked = true;
  question->due = question->injector.Match(question->point, question->context);
  return question->due.empty() ? 0 : 1;
}

}  // namespace

ExternalControl ExternalControlFromEnvironment() {
  const bool on = std::getenv("FIU_CTRL_FIFO") != nullptr ||
                  std::getenv("FIU_ENABLE") != nullptr;
  return on ? ExternalControl::kOn : ExternalControl::kOff;
}

FiuPoints::FiuPoints(Injector& injector, const FaultPlan& plan,
                     ExternalControl external)
    : injector_(injector), gates_(AllPoints().size()) {
  CHECK(fiu_init(0) == 0, "libfiu does not start");
  for (const PointInfo& info : AllPoints()) {
    names_.push_back(fmt::format("gauntlet/{}", info.name));
  }
  for (const Fault& fault : plan.faults) {
    const auto point = static_cast<size_t>(fault.site.point);
    if (gates_[point].load()) continue;
    const std::string& name = names_[point];
    CHECK(fiu_enable_external(name.c_str(), 1, nullptr, 0, &AskInjector) == 0,
          fmt::format("libfiu does not enable {}", name));
    enabled_.push_back(fault.site.point);
    gates_[point].store(true);
  }
  if (external == ExternalControl::kOff) return;
  for (std::atomic<bool>& gate : gates_) gate.store(true);
}

FiuPoints::~FiuPoints() {
  for (const Point point : enabled_) {
    fiu_disable(names_[static_cast<size_t>(point)].c_str());
  }
}

bool FiuPoints::Planted(PlantedBug bug) const { return injector_.Planted(bug); }

Status FiuPoints::Ask(Point point, const PointContext& context) {
  injector_.NotePosition(point, context);
  Question mine{
      .injector = injector_, .point = point, .context = context, .due = {}};
  question = &mine;
  const int failed = fiu_fail(names_[static_cast<size_t>(point)].c_str());
  question = nullptr;
  if (failed == 0) return OkStatus();
  if (mine.asked) return injector_.Perform(mine.due, point);
  const auto number = static_cast<int>(
      reinterpret_cast<intptr_t>(fiu_failinfo()));  // NOLINT: libfiu's way
  return FaultErrorStatus(number == 0 ? EIO : number, point);
}

}  // namespace gauntlet
