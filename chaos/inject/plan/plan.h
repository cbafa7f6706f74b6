// A fault plan: what goes wrong in a run, and where in logical time. Effects
// that a run still draws, such as jitter or the delays of packet loss, follow
// from the plan's seed.
//
// The fault model
//
// A fault happens at a point of the engine (engine/world/fault_point.h), in one
// worker, at a counted occurrence; never at a wall time. What each kind does
// and what it leaves behind:
//
//   crash         The process exits with `exit_code` at this instruction. Bytes
//                 that it had handed to Storage stay; nothing is flushed,
//                 unwound or sent to the others.
//   kill          The process is killed at this instruction (SIGKILL). With
//                 `latency`, the process continues, and is killed from outside
//                 when that time has passed. Its progress until then is not
//                 controlled, and differs between the two worlds.
//   kill_launcher The worker's launcher is killed (SIGKILL) at this
//                 instruction, but no other process. Its workers end soon after
//                 it (PR_SET_PDEATHSIG); whoever started the launcher starts it
//                 again at once.
//   terminate_launcher  The worker's launcher gets SIGTERM, as from a scheduler
//                 that notifies only the launcher. The launcher passes the
//                 notice on to the workers.
//   exception     An internal failure that no code expects: the process aborts
//                 (SIGABRT), and leaves the same behind as after a crash.
//   hang          The calling task blocks, for `duration` or for ever; the
//                 process's other tasks (heartbeats) keep running.
//   pause         The whole process is stopped (SIGSTOP), for `duration` or
//                 for ever; its connections stay open.
//   slow          The calling task takes `latency` longer.
//   preempt       A termination notice now, a kill after `grace`. The notice
//                 comes `by` signal, by a file that appears, or by http, from
//                 the metadata service of the worker's host.
//   torn_write    The next write is cut into `blocks` equal blocks, and only
//                 those in `keep` land; then comes `then`. In the other blocks
//                 the file keeps its old bytes; where it had none, it has
//                 zeros or ends early. If `then` is nothing, the write returns
//                 Ok: the disk lied.
//   short_write   The first `bytes` of the next write land, then the write
//                 fails with kIoError.
//   errno         At a point that announces a storage operation
//                 (PointInfo::next), that operation fails with `error` and does
//                 nothing; at any other point the operation of the engine at
//                 that point fails. This happens at `consecutive` occurrences
//                 in a row, so that a full disk may have room again. If the
//                 site names a step, an epoch or a save, only occurrences in
//                 that step, epoch or save count.
//   fsync_fails   The next sync fails with kIoError once. The bytes written to
//                 that file are not durable. No later sync of the file makes
//                 them durable, though each returns Ok (the kernel dropped the
//                 dirty pages). But after a failed sync of a directory, a later
//                 one does make the changes in it durable.
//   bit_flip      One bit at `offset` of a file at rest is flipped. At the
//                 points of a load, this is the file opened next, and it is
//                 damaged before it is opened. At all other points, it is the
//                 file of the next write, damaged once it is synced: the save
//                 succeeds, and only a load can notice.
//   truncate      As bit_flip, but the file is cut to `offset`.
//   delete        As bit_flip, but the file is removed.
//   power_loss    All hosts lose power, and all their processes end. Each
//                 piece of unsynced data may be there, gone, torn or reordered.
//                 If workers have hosts of their own and their disk is a file
//                 server, only the worker's host loses power: the server stays,
//                 and some of the data that the host had not yet sent may still
//                 reach the server.
//   partition     The worker is cut from all others, both ways, for `duration`
//                 or for ever; with `groups`, each group of workers is cut from
//                 each other group. Nothing is lost and nothing arrives: frames
//                 wait, and a sender with too much in flight waits too. Nobody
//                 is notified, not even of the end of a process. If workers
//                 have hosts of their own, the launcher is cut off as well.
//   asymmetric_partition
//                 As partition, but only for frames that the worker sends
//                 (`direction` outbound) or that are sent to it (inbound). No
//                 new connection can be made.
//   packet_loss   Each frame from or to the worker is lost with a chance of
//                 `percent`, for `duration` or for ever, and sent again after
//                 200 ms, 400 ms, … until it passes. Later frames wait behind
//                 it, as with TCP: a loss causes only delay.
//   delay         Each frame from or to the worker takes longer by `latency`
//                 plus a random part of `jitter`, for `duration` or for ever.
//                 The frames keep their order.
//   duplicate     Each frame from or to the worker is delivered twice, for
//                 `duration` or for ever; the copy comes directly after the
//                 frame. No known transport does this, but the engine's link
//                 must drop the copy.
//   connection_reset
//                 All connections of the worker break at once, at both ends;
//                 frames in flight are lost. New ones can be made.
//   gpu_error     The worker's device fails at its next call, with `error`, and
//                 stays failed until the process ends: it does no more work,
//                 and downloads return +0 (engine/gpu/device_api.h). A save's
//                 copy that is in flight does not arrive.
//   out_of_memory As gpu_error, but at the next allocation on the device, or
//                 when the device is opened. If the worker can do without the
//                 array (the copy of an asynchronous checkpoint), it does so
//                 and nothing fails.
//   device_hang   The worker's next wait for its device blocks, for `duration`
//                 or for ever. The process's other tasks keep running, even one
//                 that waits for a save's copy.
//   wall_clock_jump
//                 The wall clock that the worker reads jumps forward or back by
//                 `by`; monotonic time is unaffected. The other workers' wall
//                 clocks do not change: they may be on other machines.
//
// A fault of the network or of the wall clock ends with the incarnation that it
// happened to: the next one has another place in the network, and the right
// time.
//
// A site with an `offset` lies within a file: the bytes before the offset land,
// then the fault happens.
//
// The budget: the outcomes that a run may have after its faults
//
// - These faults may come at any point, in any number that does not use up the
//   run's restarts: of processes and time (crash, kill, kill_launcher,
//   terminate_launcher, exception, hang, pause, slow, preempt,
//   wall_clock_jump), of the network (partition, asymmetric_partition,
//   packet_loss, delay, connection_reset), power_loss, and torn_write followed
//   by crash or power_loss. The run recovers from a checkpoint no older than
//   the newest acknowledged save, unless a disk that lies about syncs loses it
//   in a power loss (harness/oracle/judge.cc). A network fault that ends before
//   a worker is declared lost causes no restart.
// - duplicate changes nothing, however long it lasts, and excuses no deviation.
// - Faults of a device (gpu_error, out_of_memory, device_hang) count as those
//   of processes and time. The worker leaves by itself, or is detected as hung;
//   state that only the device held is lost. With a fault at every occurrence,
//   the run restarts until the restarts are used up, and then ends cleanly and
//   names the cause.
// - Errors that the engine gets (errno, short_write, fsync_fails) spoil at most
//   the save or the load that they hit. After a single error the run continues
//   or recovers. With `repeat: always`, the run ends with an error, but no
//   acknowledged checkpoint is lost.
// - Silent damage (bit_flip, truncate, delete, torn_write followed by nothing)
//   destroys each checkpoint that it touches. While one valid checkpoint of the
//   lineage is left, the run recovers from the newest valid one. Once the plan
//   has destroyed all of them, the run must refuse cleanly (exit 7), and
//   recovery would be a violation. A save that was not acknowledged because of
//   fsync_fails does not count as a valid checkpoint here.
// - No fault undoes damage, or forges bytes that match a digest.
#ifndef GAUNTLET_CHAOS_INJECT_PLAN_PLAN_H_
#define GAUNTLET_CHAOS_INJECT_PLAN_PLAN_H_

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

enum class FaultKind : uint8_t {
  kCrash,
  kKill,
  kException,
  kHang,
  kPause,
  kSlow,
  kPreempt,
  kTornWrite,
  kShortWrite,
  kErrno,
  kFsyncFails,
  kBitFlip,
  kTruncate,
  kDelete,
  kPowerLoss,
  kPartition,
  kAsymmetricPartition,
  kPacketLoss,
  kDelay,
  kDuplicate,
  kConnectionReset,
  kWallClockJump,
  kGpuError,
  kOutOfMemory,
  kDeviceHang,
  kKillLauncher,
  kTerminateLauncher,
};

// Part of the world that a fault happens to.
enum class FaultTarget : uint8_t {
  kProcess,
  kStorage,
  kNetwork,
  kWallClock,
  kDevice,
};

// Effects of a kind, for code that plans runs with faults or judges whether a
// plan can happen.
struct FaultEffects {
  // The kind ends the process at the point (with `kill_latency`, later).
  bool ends_process = false;
  // An incarnation may end because of a fault of this kind.
  bool may_end_incarnation = true;
  bool halts = false;  // stops a task or the process for a time
  // Halts, but the process still sends heartbeats.
  bool keeps_heartbeats = false;
  bool gives_notice = false;  // a preemption notice
  bool damages_file = false;  // a stored file, at rest
  // Random plans may repeat the fault at every occurrence. False for kinds that
  // kill their process, as a death at every occurrence would use up the
  // restarts.
  bool may_repeat = false;
};

struct FaultKindInfo {
  FaultKind kind;
  FaultTarget target;
  std::string_view name;  // "torn_write"
  std::string_view description;
  FaultEffects effects = {};
  // Reason why the fault is impossible with real processes; empty: it is
  // possible. The simulated world can perform every kind.
  std::string_view why_not_real = "";
};

// All kinds, in the order of the enum.
std::span<const FaultKindInfo> AllFaultKinds();
const FaultKindInfo& InfoOf(FaultKind kind);
std::string_view FaultKindName(FaultKind kind);
std::optional<FaultKind> FindFaultKind(std::string_view name);

// The errors that `errno` can give, with the status code that the engine gets.
struct FaultErrorInfo {
  int number;             // ENOSPC
  std::string_view name;  // "ENOSPC"
  Code code;              // kResourceExhausted
};
std::span<const FaultErrorInfo> AllFaultErrors();
// Returns "ckpt.rename: injected ENOSPC". The code is the one in the table,
// with two exceptions that are kIoError: a number that is not in the table, and
// a network error at a point before a storage operation (as when a file
// server's protocol fails).
Status FaultErrorStatus(int number, Point point);

// The errors that `gpu_error` can give: CUDA's, by its names.
enum class DeviceError : uint8_t {
  kLaunchFailure,
  kEccUncorrectable,
  kIllegalAddress,
  kDevicesUnavailable,
  kMemoryAllocation,
};
struct DeviceErrorInfo {
  DeviceError error;
  std::string_view name;  // "cudaErrorLaunchFailure"
  std::string_view text;  // "unspecified launch failure"
};
// All of them, in the order of the enum.
std::span<const DeviceErrorInfo> AllDeviceErrors();
// Returns "injected: unspecified launch failure (cudaErrorLaunchFailure)".
std::string DeviceErrorText(DeviceError error);

// FaultSite::worker: a worker's identity (>= 0), or one of these.
inline constexpr int kAnyWorker = -1;   // the first to reach the point
inline constexpr int kAllWorkers = -2;  // each of them
inline constexpr int kChief = -3;       // the worker of rank 0 at that moment
// Returns "any", "all", "chief" or the number, as plans, scenarios and records
// write it.
std::string WorkerName(int worker);
// Returns the constant for "any", "all" or "chief"; nullopt for any other name.
std::optional<int> FindWorkerSymbol(std::string_view name);
// FaultSite::incarnation: 1 is a worker's first incarnation.
inline constexpr int kAnyIncarnation = 0;

enum class OffsetUnit : uint8_t { kBytes, kPercent };

// A place in a file, from its beginning.
struct FileOffset {
  uint64_t value = 0;
  OffsetUnit unit = OffsetUnit::kBytes;

  bool operator==(const FileOffset&) const = default;
  // Returns the offset in bytes in a file of that size; rounds a percentage
  // down.
  uint64_t In(uint64_t file_size) const;
};

// Returns true iff the engine reaches the point before each block of a file.
// Only a site at such a point can have a block or an offset.
bool HasBlocks(Point point);

// FaultSite::block: every block of a file.
inline constexpr uint64_t kAnyBlock = ~uint64_t{0};

// A place in logical time. Each hit of the point is an occurrence if worker,
// incarnation, step, epoch and save match. If the fault comes after another one
// (Fault::after), hits count only after the other fault has fired.
//
// At points with blocks (HasBlocks), an occurrence is one file: its block
// `block`, or the write that reaches `offset`. A file without that block or
// offset is not counted. With kAnyBlock each block is an occurrence of its own.
struct FaultSite {
  int worker = kAnyWorker;
  int incarnation = 1;
  // Step and epoch that the last point of RunPart::kTraining reported.
  std::optional<uint64_t> step;
  std::optional<uint64_t> epoch;
  // Number of the save, counted from 1 in each incarnation. A retry counts as
  // another save. Set only at points of a save (IsOfSave).
  std::optional<uint64_t> save;
  Point point = Point::kStepBegin;
  uint64_t occurrence = 1;  // from 1, counted in each incarnation
  uint64_t block = 0;       // or kAnyBlock; 0 if there is an offset
  std::optional<FileOffset> offset;

  bool operator==(const FaultSite&) const = default;
};

// kOnce: once in the whole run (kAllWorkers: once in each worker), despite
// restarts. kAlways: at the occurrence of the site and at every later one.
enum class FaultTimes : uint8_t { kOnce, kAlways };

// The event that follows a torn write.
enum class AfterTear : uint8_t { kCrash, kPowerLoss, kNothing };
// Returns "crash", "power_loss" or "nothing".
std::string_view AfterTearName(AfterTear then);

// Direction of frames on a worker's connections: sent by it, or sent to it.
enum class LinkDirection : uint8_t { kOut, kIn };

// Channel by which a notice reaches the worker. A notice by file or http lasts:
// all incarnations of the job's workers on the machine see it, until the whole
// job is started again.
enum class NoticeBy : uint8_t { kSignal, kFile, kHttp };
std::string_view NoticeByName(NoticeBy by);

enum class JumpDirection : uint8_t { kForward, kBack };

// The comment at a field names the kinds that take it; faults of other kinds
// keep its default. In a plan file the durations are latency_ns, duration_ns,
// grace_ns, jitter_ns and by_ns.
struct FaultParameters {
  FaultTimes times = FaultTimes::kOnce;  // every kind
  std::optional<uint64_t> until_step;    // with kAlways: ends at this step
  Duration latency{0};                   // slow, delay
  std::optional<Duration> kill_latency;  // kill; none: exactly at the point
  // hang, pause, device_hang, and the network kinds except connection_reset; 0:
  // for ever
  Duration duration{0};
  Duration grace{0};                    // preempt
  NoticeBy notice = NoticeBy::kSignal;  // preempt
  int exit_code = 70;                   // crash; 1 to 255
  int error = EIO;                      // errno
  uint64_t hits = 1;  // errno with kOnce: occurrences in a row that fail
  DeviceError device_error = DeviceError::kLaunchFailure;  // gpu_error
  int blocks = 8;                        // torn_write; 1 to 64
  uint64_t keep = 1;                     // torn_write; bit i: block i lands
  AfterTear then = AfterTear::kCrash;    // torn_write
  uint64_t bytes = 0;                    // short_write
  FileOffset offset;                     // bit_flip, truncate
  int bit = 0;                           // bit_flip; 0 to 7
  std::vector<std::vector<int>> groups;  // partition; workers, each once
  LinkDirection link_direction = LinkDirection::kOut;  // asymmetric_partition
  int percent = 10;                                    // packet_loss; 1 to 90
  Duration jitter{0};                                  // delay
  Duration by = std::chrono::hours(1);  // wall_clock_jump; whole seconds
  JumpDirection direction = JumpDirection::kForward;  // wall_clock_jump

  bool operator==(const FaultParameters&) const = default;
};

// Returns true iff the text can be the id of a fault: 1 to 64 of
// [A-Za-z0-9._-], not beginning with a dot. Ids are file names in a run's
// directory.
bool IsFaultId(std::string_view text);

struct Fault {
  std::string id;  // IsFaultId, unique in the plan
  FaultSite site;
  FaultKind kind = FaultKind::kCrash;
  std::string after;  // id of a fault that has to fire first; "" for none
  FaultParameters with;

  bool operator==(const Fault&) const = default;
};

struct FaultPlan {
  uint64_t seed = 0;  // the run's; random effects of faults are drawn from it
  std::vector<Fault> faults;
  std::vector<PlantedBug> bugs;

  bool operator==(const FaultPlan&) const = default;
};

// Returns true iff the kind is a fault of the network. All these kinds but
// connection_reset have a duration.
bool IsNetworkFault(FaultKind kind);

// Returns true iff the fault happens to the device that a worker computes on.
bool IsOfDevice(FaultKind kind);

// Returns true iff the fault is a power loss, or a torn write followed by one.
bool CutsPower(const Fault& fault);

// Returns kInvalidArgument for the first error, such as a repeated id, a cycle
// of `after`, or an offset at a point that takes none. The message names the
// fault's id, the field, the expected and the found value.
Status Validate(const FaultPlan& plan);

// Returns why real processes cannot do this fault; empty: they can.
std::string_view SimOnlyReason(const Fault& fault);

// Returns the text of the plan file that a process reads: one JSON object. The
// fields have a fixed order; fields at their defaults are left out. REQUIRES:
// Validate(plan).ok().
std::string PlanToJson(const FaultPlan& plan);
// Reads a plan file strictly: unknown or repeated keys, wrong types, values out
// of range and parameters that the kind does not take are kInvalidArgument.
// Then calls Validate. Also reads the previous release's format, with the
// meaning that it had then.
Result<FaultPlan> PlanFromJson(std::string_view json);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PLAN_PLAN_H_
