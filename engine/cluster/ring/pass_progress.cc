#include "engine/cluster/ring/pass_progress.h"

#include "engine/check.h"

namespace gauntlet {

void PassProgress::Begin() {
  final_from_ = SIZE_MAX;
  completed_ = kIncomplete;
}

void PassProgress::SetFinalFrom(size_t offset) {
  CHECK(offset <= final_from_, "a backward pass runs towards the beginning");
  final_from_ = offset;
  changed_->Set();
}

void PassProgress::Complete(Time now) {
  CHECK(completed_ == kIncomplete, "a pass ends once");
  final_from_ = 0;
  completed_ = now.time_since_epoch().count();
  changed_->Set();
}

// Resets the event before it reads the condition: a change after that sets the
// event again and so ends the wait.
template <typename Condition>
void PassProgress::WaitFor(const Condition& holds) {
  while (!holds()) {
    changed_->Reset();
    if (holds()) return;
    changed_->WaitUntil(kNever);
  }
}

void PassProgress::WaitUntilFinalFrom(size_t offset) {
  WaitFor([&] { return final_from_ <= offset; });
}

void PassProgress::WaitUntilComplete() {
  WaitFor([&] { return completed_ != kIncomplete; });
}

}  // namespace gauntlet
