// Effects of each kind of fault on a run, as far as the judge and reports need
// them.
//
// Kinds are identified by name, as records do not link the injectors. An
// unknown kind has no traits, so it excuses nothing. A test compares the table
// with that of the injectors (chaos/inject/plan/plan.h).
#ifndef GAUNTLET_HARNESS_RECORD_FAULT_TRAITS_H_
#define GAUNTLET_HARNESS_RECORD_FAULT_TRAITS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "harness/record/record.h"

namespace gauntlet {

// Part of a run that a fault keeps from working for a time.
enum class HinderedPart : uint8_t {
  kNone,
  kTask,     // the task that reached the fault point
  kDevice,   // the worker's device, and the task that waits for it
  kProcess,  // all tasks of the process
  kLinks,    // the connections of the process
  kFrames,   // frames from and to the process: each arrives later
};

struct FaultTraits {
  // Returns true iff the fault delays the task at its point.
  bool DelaysTask() const {
    return hinders == HinderedPart::kTask || hinders == HinderedPart::kProcess;
  }
  // Returns true iff the fault blocks the task at its point, for a time or
  // without end.
  bool BlocksTask() const { return DelaysTask() && lasts; }
  // Returns true iff the fault ends processes by itself.
  bool EndsProcesses() const {
    return ends_incarnation || fails_device || gives_notice || cuts_power ||
           kills_launcher;
  }
  // Returns true iff the fault ends processes or fails operations.
  bool DoesMoreThanDelay() const { return EndsProcesses() || reports_error; }

  bool ends_incarnation = false;  // ends its process without an exit event
  // The process in which the fault fires may end, or may be declared lost.
  bool may_end_incarnation = false;
  bool fails_device = false;    // the worker detects the failure, and exits
  bool gives_notice = false;    // sends a preemption notice
  bool reports_error = false;   // an operation returns an error
  bool damages_store = false;   // destroys committed bytes silently
  bool cuts_power = false;      // ends all processes; durable data remains
  bool kills_launcher = false;  // ends the launcher; its workers end soon after
  HinderedPart hinders = HinderedPart::kNone;
  // True: the effect lasts for the duration of the fault; if that is 0, without
  // end. False: the hindered part continues after the fault's latency.
  bool lasts = false;
};

struct FaultKindTraits {
  std::string_view kind;  // "torn_write"
  FaultTraits traits;
};

// Returns all kinds. The traits of a torn write assume that a crash follows.
// The traits of a power loss assume that it hits the whole machine, and that
// the disk does not lie about syncs. TraitsOf takes the parameters of a fault
// into account.
std::span<const FaultKindTraits> AllFaultTraits();

// Traits of a fault that only ends its process.
inline constexpr FaultTraits kEndsOneProcess = {.ends_incarnation = true,
                                                .may_end_incarnation = true};

// Returns the traits of the fault: those of its kind, adapted to its
// parameters.
FaultTraits TraitsOf(const RecordFault& fault);

// Disk profile whose syncs report success without making data durable.
inline constexpr std::string_view kLyingDisk = "lying-fsync";

// Returns the longest time from the fault to the end of its process; nullopt if
// the fault does not kill its process. Returns nullopt for a power loss too:
// the events of the machine record which processes it ended.
std::optional<int64_t> KillsAfter(const RecordFault& fault);

// Returns true iff the fault sends a preemption notice. Without a grace period,
// it sends none.
bool GivesNotice(const RecordFault& fault);

// Returns true iff the fault only ends its process, at any point: by a crash,
// an exception or a kill without a notice.
bool EndsItsProcess(const RecordFault& fault);

// Returns true iff the fault ends its process immediately.
bool DiesImmediately(const RecordFault& fault);

// Returns true iff a worker that exits for this reason has met an error of a
// storage operation. A fault can cause such an error.
bool IsStorageError(RecordReason reason);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_FAULT_TRAITS_H_
