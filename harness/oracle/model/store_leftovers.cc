// Checks the checkpoint directory after the run, and a refusal to start.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/oracle/model/store_model.h"
#include <fmt/format.h>

namespace gauntlet {

void StoreModel::CheckRefusal() {
  if (record_.launchers.empty() || !IsExit(record_.launchers.back().exit_code,
                                           {WorkerExit::kNoCheckpoint})) {
    return;
  }
  checks_.clean_refusal.Count();
  bool is_any_left = false;
  bool is_any_owed = false;
  bool is_any_bad = head_ && IsUnsettled(*head_);
  for (const Checkpoint& one : checkpoints_) {
    is_any_left = is_any_left || (one.acknowledged && !one.in_doubt);
    is_any_bad = is_any_bad || one.damaged;
    if (!IsOwed(one)) continue;
    is_any_owed = true;
    checks_.clean_refusal.Fail("unneeded-refusal",
                               fmt::format("refused, but no fault damaged {}, "
                                           "which was acknowledged{}",
                                           one.name, VerificationText(one)));
  }
  // If a checkpoint is owed, the violation above is more precise: it names that
  // checkpoint.
  if (!is_any_bad && !is_any_owed) {
    checks_.clean_refusal.Fail("unneeded-refusal",
                               "refused, but no fault damaged a checkpoint");
  }
  if (record_.launchers.back().result) {
    checks_.clean_refusal.Fail(
        "with-a-result", fmt::format("refused, but its result is {}",
                                     record_.launchers.back().result->status));
  }
  const Leftovers& left = record_.left;
  if (left.store_listed && is_any_left && left.checkpoints.empty() &&
      left.rejected.empty()) {
    checks_.clean_refusal.Fail("no-evidence-kept",
                               "refused, but no checkpoint is left to "
                               "inspect, not even a rejected one");
  }
}

void StoreModel::End() {
  CheckRefusal();
  if (!record_.left.store_listed) return;
  for (const StoredCheckpoint& left : record_.left.checkpoints) CheckLeft(left);
  CheckNames();
  CheckMissing();
  if (!HasNoLeftovers()) return;
  checks_.store.Count();
  CheckRetention();
  CheckTemporary();
}

void StoreModel::CheckLeft(const StoredCheckpoint& left) {
  checks_.store.Count();
  const std::optional<size_t> index = Find(left.name);
  if (!index) {
    return checks_.store.Fail(
        "unknown",
        fmt::format("{} is left, but no save of it was begun", left.name));
  }
  const Checkpoint& found = checkpoints_[*index];
  if (!left.valid && !found.NeedNotVerify()) {
    checks_.store.Fail(
        FindingKind::kDoesNotVerify,
        fmt::format("{}, read after the run, does not verify ({}), {}",
                    left.name, left.reason, found.WhyItMustVerify()));
  }
  if (found.gone && !found.NeedNotVerify()) {
    checks_.store.Fail("came-back", fmt::format("{} is left, but had been "
                                                "removed",
                                                left.name));
  }
  if (!left.valid || !found.acknowledged) return;
  const bool same_state =
      found.digest.empty() ||
      (left.digest == found.digest &&
       left.not_finite_since == static_cast<uint64_t>(found.not_finite_since));
  if (same_state) return;
  checks_.store.Fail(
      "other-state",
      fmt::format("{} has state {} (not finite since step {}), expected {} "
                  "(since step {})",
                  left.name, left.digest, left.not_finite_since, found.digest,
                  found.not_finite_since));
}

// Checks that a save was begun for each rejected or incomplete directory.
void StoreModel::CheckNames() {
  constexpr std::string_view kSetAside = "rejected-";
  std::vector<std::string_view> names;
  for (std::string_view name : record_.left.rejected) {
    if (name.starts_with(kSetAside)) name.remove_prefix(kSetAside.size());
    names.push_back(name);
  }
  for (std::string_view name : record_.left.temporary) {
    if (!StepOfPath(name) || !name.ends_with(kBeingWritten)) continue;
    name.remove_suffix(kBeingWritten.size());
    names.push_back(name);
  }
  for (const std::string_view name : names) {
    if (Find(name)) continue;
    checks_.store.Fail(
        "unknown", fmt::format("files of {} are left, but no save of it was "
                               "begun",
                               name));
  }
}

// Returns the checkpoint as it was found after the run: the valid one, if there
// are several of its name; null if it is missing.
const StoredCheckpoint* StoreModel::FindLeft(const Checkpoint& one) const {
  const StoredCheckpoint* found = nullptr;
  for (const StoredCheckpoint& left : record_.left.checkpoints) {
    if (left.name == one.name && (found == nullptr || left.valid)) {
      found = &left;
    }
  }
  return found;
}

bool StoreModel::IsLeftValid(const Checkpoint& one) const {
  const StoredCheckpoint* const left = FindLeft(one);
  return left != nullptr && left->valid;
}

// Returns " and does not verify" or " and verifies", as found after the run; ""
// if it was not found.
std::string_view StoreModel::VerificationText(const Checkpoint& one) const {
  const StoredCheckpoint* const left = FindLeft(one);
  if (left == nullptr) return "";
  return left->valid ? " and verifies" : " and does not verify";
}

// Checks that each checkpoint that must stay loadable is there and valid.
void StoreModel::CheckMissing() {
  for (const Checkpoint& one : checkpoints_) {
    if (!IsOwed(one)) continue;
    checks_.store.Count();
    if (IsLeftValid(one)) continue;
    checks_.store.Fail(
        FindingKind::kLostCheckpoint,
        fmt::format(
            "{} was acknowledged, but after the run it {}", one.name,
            FindLeft(one) == nullptr ? "is missing" : "does not verify"));
  }
}

// Returns true iff the directory must have only the checkpoints that retention
// keeps, and no partial files. All of these must be true:
// - the last launcher and the chief of the newest claim exited with the code of
//   an orderly end;
// - that chief met no error;
// - since the newest claim, no process of another claim can have changed the
//   directory;
// - the newest claim is settled (not IsUnsettled), or its chief has deleted the
//   store.
bool StoreModel::HasNoLeftovers() const {
  if (!head_ || is_disturbed_) return false;
  if (record_.launchers.empty() ||
      !IsOrderlyExit(record_.launchers.back().exit_code)) {
    return false;
  }
  const Writer& chief = writers_.at(claims_[*head_].chief);
  if (IsUnsettled(*head_) && !chief.has_deleted) return false;
  return chief.end.is_orderly && !chief.met_error;
}

// Checks the number of remaining checkpoints. Retention keeps the newest ones,
// the newest finite one, and those that are kept permanently.
void StoreModel::CheckRetention() {
  const auto keep = static_cast<size_t>(std::max(record_.setup.keep, 0));
  std::vector<const StoredCheckpoint*> counting;
  for (const StoredCheckpoint& left : record_.left.checkpoints) {
    const std::optional<size_t> index = Find(left.name);
    if (!left.valid || !index || !IsIn(lineage_, checkpoints_[*index]) ||
        checkpoints_[*index].for_good) {
      continue;
    }
    counting.push_back(&left);
  }
  std::ranges::stable_sort(counting, std::ranges::greater(),
                           &StoredCheckpoint::step);
  const auto finite = std::ranges::find(counting, uint64_t{0},
                                        &StoredCheckpoint::not_finite_since);
  const auto place = static_cast<size_t>(finite - counting.begin());
  const bool keeps_finite = finite != counting.end() && place >= keep;
  const size_t most = keep + (keeps_finite ? 1 : 0);
  if (keep == 0 || counting.size() <= most) return;
  checks_.store.Fail("retention",
                     fmt::format("{} checkpoints are left, expected at most "
                                 "{}",
                                 counting.size(), most));
}

void StoreModel::CheckTemporary() {
  for (const std::string& name : record_.left.temporary) {
    checks_.store.Fail("temporary", fmt::format("{} was not removed", name));
  }
}

}  // namespace gauntlet
