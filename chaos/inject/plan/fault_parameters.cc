#include "chaos/inject/plan/fault_parameters.h"

#include <algorithm>
#include <array>

#include "engine/job/job.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

using P = FaultParameters;
using Info = FaultParameterInfo;

template <auto kMember>
size_t GetChoice(const P& with) {
  return static_cast<size_t>(with.*kMember);
}

template <auto kMember>
void SetChoice(size_t index, P& with) {
  using Enum = std::remove_reference_t<decltype(with.*kMember)>;
  with.*kMember = static_cast<Enum>(index);
}

template <auto kMember>
constexpr ChoicePlace Choice(std::vector<std::string_view> (*names)()) {
  return {names, GetChoice<kMember>, SetChoice<kMember>};
}

size_t GetError(const P& with) {
  const auto errors = AllFaultErrors();
  return static_cast<size_t>(
      std::ranges::find(errors, with.error, &FaultErrorInfo::number) -
      errors.begin());
}

void SetError(size_t index, P& with) {
  with.error = AllFaultErrors()[index].number;
}

std::vector<std::string_view> ErrorNames() {
  std::vector<std::string_view> names;
  for (const FaultErrorInfo& info : AllFaultErrors()) {
    names.push_back(info.name);
  }
  return names;
}

std::vector<std::string_view> DeviceErrorNames() {
  std::vector<std::string_view> names;
  for (const DeviceErrorInfo& info : AllDeviceErrors()) {
    names.push_back(info.name);
  }
  return names;
}

std::vector<std::string_view> NoticeNames() {
  return {NoticeByName(NoticeBy::kSignal), NoticeByName(NoticeBy::kFile),
          NoticeByName(NoticeBy::kHttp)};
}
std::vector<std::string_view> AfterTearNames() {
  return {AfterTearName(AfterTear::kCrash),
          AfterTearName(AfterTear::kPowerLoss),
          AfterTearName(AfterTear::kNothing)};
}
std::vector<std::string_view> LinkDirectionNames() {
  return {"outbound", "inbound"};
}
std::vector<std::string_view> JumpNames() { return {"forward", "back"}; }

// Exit codes that no worker uses (worker_exit_code.h).
constexpr std::array kExitCodes = {70, 3, 11, 101, 137, 255};
// Indices of NoticeNames(): half of the notices are signals.
constexpr std::array kNotices = {0, 0, 1, 2};

constexpr ParameterDraw kSpecialDraw = {.kind = DrawKind::kSpecial};
constexpr ParameterDraw kEachDraw = {.kind = DrawKind::kEach};

constexpr std::string_view kLatencyDoc = "additional time; required";
constexpr Info kDuration = {
    .name = "duration",
    .doc = "duration of the fault; 0: until the process in which it fired ends",
    .fallback = "0",
    .place = &P::duration,
    .draw = {.kind = DrawKind::kLogUniform,
             .one_in = 3,
             .one_is_usual = true,
             .bits = 15}};

constexpr Info OffsetParameter(std::string_view doc) {
  return {.name = "offset",
          .doc = doc,
          .fallback = "0",
          .place = &P::offset,
          .draw = kSpecialDraw,
          .set_usual = [](P& with) {
            with.offset = {.value = 50, .unit = OffsetUnit::kPercent};
          }};
}

constexpr std::array kCrash = {
    Info{.name = "exit_code",
         .doc = "exit code of the process, other than those that workers use",
         .fallback = "70",
         .place = &P::exit_code,
         .low = 1,
         .high = 255,
         .draw = {.kind = DrawKind::kOf, .values = kExitCodes}}};
constexpr std::array kKill = {
    Info{.name = "latency",
         .doc = "time from the point to the kill, in which the process runs on",
         .fallback = "none: exactly at the point",
         .place = &P::kill_latency,
         .draw = {.kind = DrawKind::kLogUniform, .one_in = 2, .bits = 11}}};

bool HasLatency(const P& with) {
  return with.latency + with.jitter > Duration::zero();
}

constexpr std::array kSlow = {
    Info{.name = "latency",
         .doc = kLatencyDoc,
         .fallback = "",
         .place = &P::latency,
         .is_required = true,
         .example = "20ms",
         .has_effect = HasLatency,
         .draw = {.kind = DrawKind::kLogUniform, .bits = 13},
         .set_usual = [](P& with) { with.latency = std::chrono::seconds(2); }}};
constexpr std::array kOnlyDuration = {kDuration};
constexpr std::array kTruncate = {OffsetParameter(
    "new length of the file: bytes, or a percentage of its size")};
constexpr std::array kPreempt = {
    // Draws short grace periods, which may end while the worker still reacts.
    Info{.name = "grace",
         .doc = "time from the notice to the kill; `grace` or `profile` is "
                "required",
         .fallback = "",
         .place = &P::grace,
         .is_required = true,
         .draw = {.kind = DrawKind::kLogUniform,
                  .one_in = 4,
                  .bits = 9,
                  .plus = -1},
         .set_usual = [](P& with) { with.grace = std::chrono::seconds(10); }},
    Info{.name = "by",
         .doc = "channel of the notice: SIGTERM (signal), a new file (file) or "
                "the metadata service (http)",
         .fallback = "signal",
         .place = Choice<&P::notice>(NoticeNames),
         .draw = {.kind = DrawKind::kOf, .values = kNotices},
         .is_swept = true}};
constexpr std::array kTornWrite = {
    Info{.name = "blocks",
         .doc = "number of equal blocks that the write is split into",
         .fallback = "8",
         .place = &P::blocks,
         .low = 1,
         .high = 64,
         .draw = {.kind = DrawKind::kEach, .most = 16},
         .set_usual = [](P& with) { with.blocks = 4; }},
    Info{.name = "keep",
         .doc = "blocks that reach the disk, counted from 0",
         .fallback = "[0]",
         .place = BlocksPlace{&P::keep},
         .high = 63,
         .draw = kSpecialDraw,
         .set_usual = [](P& with) { with.keep = 0b0101; }},
    Info{.name = "then",
         .doc = "effect after the write",
         .fallback = "crash",
         .place = Choice<&P::then>(AfterTearNames),
         .draw = kEachDraw,
         .is_swept = true}};
constexpr std::array kShortWrite = {
    Info{.name = "bytes",
         .doc = "bytes of the write that reach the disk",
         .fallback = "0",
         .place = BytesPlace{&P::bytes},
         .draw = {.kind = DrawKind::kLogUniform, .bits = 13, .plus = -1}}};
constexpr std::array kErrno = {
    Info{.name = "error",
         .doc = "name of the error",
         .fallback = "EIO",
         .place = ChoicePlace{ErrorNames, GetError, SetError},
         .draw = kSpecialDraw},
    // Draws the number of operations for which a disk stays full. The retries
    // of a last save outlast some of the possible numbers, but not all.
    Info{
        .name = "consecutive",
        .doc = "number of consecutive operations that fail, all in the step, "
               "epoch or save that `at` names; requires repeat: once",
        .fallback = "1",
        .place = &P::hits,
        .low = 1,
        .high = 1'000'000,
        .draw = {
            .kind = DrawKind::kLogUniform, .one_in = 6, .bits = 4, .plus = 1}}};
constexpr std::array kBitFlip = {
    OffsetParameter(
        "offset of the byte in the file: bytes, or a percentage of its size"),
    Info{.name = "bit",
         .doc = "bit of that byte, counted from 0",
         .fallback = "0",
         .place = &P::bit,
         .high = 7,
         .draw = kEachDraw}};
constexpr std::array kPartition = {
    kDuration,
    Info{.name = "groups",
         .doc = "lists of workers; each list is cut off from the others",
         .fallback = "",
         .place = GroupsPlace{&P::groups},
         .high = kMaxReplicas - 1,
         .draw = {.kind = DrawKind::kSpecial, .one_in = 2}}};
constexpr std::array kAsymmetricPartition = {
    kDuration, Info{.name = "direction",
                    .doc = "frames that do not arrive: from the worker "
                           "(outbound) or to it (inbound)",
                    .fallback = "outbound",
                    .place = Choice<&P::link_direction>(LinkDirectionNames),
                    .draw = kEachDraw}};
constexpr std::array kPacketLoss = {
    kDuration,
    Info{
        .name = "percent",
        .doc =
            "probability in percent that a frame is lost, each time it is sent",
        .fallback = "10",
        .place = &P::percent,
        .low = 1,
        .high = 90,
        .draw = kEachDraw}};
constexpr std::array kDelay = {
    kDuration,
    Info{.name = "latency",
         .doc = kLatencyDoc,
         .fallback = "",
         .place = &P::latency,
         .is_required = true,
         .example = "20ms",
         .has_effect = HasLatency,
         .draw = {.kind = DrawKind::kLogUniform, .bits = 12},
         .set_usual =
             [](P& with) { with.latency = std::chrono::milliseconds(50); }},
    Info{.name = "jitter",
         .doc = "upper bound of a random time in addition to `latency`",
         .fallback = "0",
         .place = &P::jitter,
         .draw = {.kind = DrawKind::kLogUniform, .one_in = 2, .bits = 10}}};
constexpr std::array kWallClockJump = {
    Info{.name = "by",
         .doc = "size of the jump, in whole seconds",
         .fallback = "3600s",
         .place = &P::by,
         .draw = {.kind = DrawKind::kLogUniform,
                  .bits = 30,
                  .unit = std::chrono::seconds(1)}},
    Info{.name = "direction",
         .doc = "direction of the jump",
         .fallback = "forward",
         .place = Choice<&P::direction>(JumpNames),
         .draw = kEachDraw}};
constexpr std::array kGpuError = {
    Info{.name = "error",
         .doc = "CUDA's name of the error",
         .fallback = "cudaErrorLaunchFailure",
         .place = Choice<&P::device_error>(DeviceErrorNames),
         .draw = kEachDraw}};

}  // namespace

std::span<const FaultParameterInfo> ParametersOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCrash:
      return kCrash;
    case FaultKind::kKill:
      return kKill;
    case FaultKind::kSlow:
      return kSlow;
    case FaultKind::kHang:
    case FaultKind::kPause:
    case FaultKind::kDeviceHang:
    case FaultKind::kDuplicate:
      return kOnlyDuration;
    case FaultKind::kPreempt:
      return kPreempt;
    case FaultKind::kTornWrite:
      return kTornWrite;
    case FaultKind::kShortWrite:
      return kShortWrite;
    case FaultKind::kErrno:
      return kErrno;
    case FaultKind::kBitFlip:
      return kBitFlip;
    case FaultKind::kTruncate:
      return kTruncate;
    case FaultKind::kPartition:
      return kPartition;
    case FaultKind::kAsymmetricPartition:
      return kAsymmetricPartition;
    case FaultKind::kPacketLoss:
      return kPacketLoss;
    case FaultKind::kDelay:
      return kDelay;
    case FaultKind::kWallClockJump:
      return kWallClockJump;
    case FaultKind::kGpuError:
      return kGpuError;
    case FaultKind::kException:
    case FaultKind::kFsyncFails:
    case FaultKind::kDelete:
    case FaultKind::kPowerLoss:
    case FaultKind::kConnectionReset:
    case FaultKind::kOutOfMemory:
    case FaultKind::kKillLauncher:
    case FaultKind::kTerminateLauncher:
      return {};
  }
  return {};
}

std::string ParameterNames(FaultKind kind) {
  std::vector<std::string_view> names;
  for (const Info& parameter : ParametersOf(kind)) {
    names.push_back(parameter.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

bool TakesLatency(FaultKind kind) {
  return std::ranges::any_of(ParametersOf(kind), [](const Info& parameter) {
    const auto* const duration = std::get_if<Duration P::*>(&parameter.place);
    return duration != nullptr && *duration == &P::latency;
  });
}

bool IsDuration(const FaultParameterInfo& parameter) {
  return std::holds_alternative<Duration P::*>(parameter.place) ||
         std::holds_alternative<std::optional<Duration> P::*>(parameter.place);
}

void CopyParameter(const FaultParameterInfo& parameter, const P& from, P& to) {
  std::visit(
      OnPlace{
          [&](const BytesPlace& place) { to.*place.bytes = from.*place.bytes; },
          [&](const ChoicePlace& place) { place.set(place.get(from), to); },
          [&](const BlocksPlace& place) { to.*place.mask = from.*place.mask; },
          [&](const GroupsPlace& place) {
            to.*place.groups = from.*place.groups;
          },
          [&](auto member) { to.*member = from.*member; }},
      parameter.place);
}

bool IsDefault(const FaultParameterInfo& parameter, const P& with) {
  P reset = with;
  CopyParameter(parameter, P(), reset);
  return reset == with;
}

bool HasOnlyParametersOf(FaultKind kind, const P& with) {
  const P defaults;
  P others = with;
  for (const Info& parameter : ParametersOf(kind)) {
    CopyParameter(parameter, defaults, others);
  }
  others.times = defaults.times;
  others.until_step = defaults.until_step;
  return others == defaults;
}

}  // namespace gauntlet
