#include "engine/real/process/launcher_socket.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/system_clock.h"
#include "engine/utf8.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// Limits on texts, in bytes of JSON. All texts of one message fit into a line.
constexpr size_t kMaxLineText = 768;
constexpr size_t kMaxFailureText = 2560;  // fits all changes of a job
constexpr size_t kMaxResultText = 384;

std::string LossText(float loss) {
  return fmt::format("{:08x}", std::bit_cast<uint32_t>(loss));
}

std::optional<float> LossOf(const Json& object) {
  if (!object.contains("loss")) return std::nullopt;
  const auto& text = object.at("loss").get_ref<const std::string&>();
  uint32_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, bits, 16);
  if (text.size() != 8 || error != std::errc() || stop != end) {
    throw std::invalid_argument("loss: expected 8 hex digits");
  }
  return std::bit_cast<float>(bits);
}

uint64_t WholeOf(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned()) {
    throw std::invalid_argument(std::string(key) +
                                ": expected a whole number, found " +
                                value.type_name());
  }
  return value.get<uint64_t>();
}

uint64_t WholeIfThere(const Json& object, const char* key) {
  return object.contains(key) ? WholeOf(object, key) : 0;
}

Duration DurationOf(const Json& object, const char* key) {
  return Duration(static_cast<int64_t>(WholeIfThere(object, key) &
                                       static_cast<uint64_t>(INT64_MAX)));
}

std::optional<uint64_t> WholeOrNone(const Json& object, const char* key) {
  if (!object.contains(key)) return std::nullopt;
  return WholeOf(object, key);
}

std::optional<double> FigureOf(const Json& object, const char* key) {
  if (!object.contains(key)) return std::nullopt;
  return object.at(key).get<double>();
}

// Shortens `text` to at most `limit` bytes as JSON. A shortened text ends with
// an ellipsis.
std::string FitToJson(std::string_view text, size_t limit) {
  constexpr std::string_view kEllipsis = "…";
  constexpr size_t kLongestEscape = 6;  // \u0001, or for an invalid byte
  size_t bytes = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    bytes += c < ' ' || c >= 0x7f    ? kLongestEscape
             : c == '"' || c == '\\' ? 2
                                     : 1;
    if (bytes > limit - kEllipsis.size()) {
      return std::string(TruncateUtf8(text, i)).append(kEllipsis);
    }
  }
  return std::string(text);
}

std::string Line(const char* what, Json fields) {
  Json object;
  object[what] = std::move(fields);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

WorkerProgress ProgressOf(const Json& object) {
  return {.step = WholeOf(object, "step"),
          .epoch = WholeOf(object, "epoch"),
          .steps_per_epoch = WholeOf(object, "steps_per_epoch"),
          .loss = LossOf(object),
          .line = object.value("line", std::string()),
          .not_finite_since = WholeOrNone(object, "not_finite_since"),
          .claimed = WholeIfThere(object, "claimed"),
          .patience = DurationOf(object, "patience_ns"),
          .rendezvous = WholeOrNone(object, "rendezvous"),
          .silent_rank =
              object.contains("silent_rank")
                  ? std::optional(static_cast<int>(
                        std::min<uint64_t>(WholeOf(object, "silent_rank"),
                                           std::numeric_limits<int>::max())))
                  : std::nullopt,
          .saving = object.contains("saving_ns")
                        ? std::optional(DurationOf(object, "saving_ns"))
                        : std::nullopt,
          .formed = WholeIfThere(object, "formed"),
          .failure = object.value("failure", std::string()),
          .own_device_failed = object.value("own_device_failed", false)};
}

Json TimesToJson(const std::vector<PartTime>& parts) {
  Json object = Json::object();
  for (const PartTime& part : parts) {
    object[std::string(TimePartName(part.part))] = part.took.count();
  }
  return object;
}

std::vector<PartTime> TimesOf(const Json& object, const char* key) {
  std::vector<PartTime> parts;
  for (const auto& [name, took] : object.at(key).items()) {
    const std::optional<TimePart> part = FindTimePart(name);
    if (!part) throw std::invalid_argument("unknown part of a time: " + name);
    parts.push_back({.part = *part, .took = Duration(took.get<int64_t>())});
  }
  return parts;
}

TimeTotals TotalsOf(const Json& object) {
  return {.steps = WholeOf(object, "steps"),
          .step_parts = TimesOf(object, "step_parts_ns"),
          .saves = WholeOf(object, "saves"),
          .save_bytes = WholeOf(object, "save_bytes"),
          .save_parts = TimesOf(object, "save_parts_ns"),
          .save_background = TimesOf(object, "save_background_ns")};
}

TrainResult ResultOf(const Json& object) {
  return {.status = object.at("status").get<std::string>(),
          .epochs = WholeOf(object, "epochs"),
          .steps = WholeOf(object, "steps"),
          .digest = object.at("digest").get<std::string>(),
          .loss = LossOf(object),
          .accuracy = FigureOf(object, "accuracy"),
          .val_accuracy = FigureOf(object, "val_accuracy"),
          .resumed_from = WholeOrNone(object, "resumed_from"),
          .finite = object.value("finite", true),
          .not_finite_since = WholeOrNone(object, "not_finite_since"),
          .times = object.contains("times") ? TotalsOf(object.at("times"))
                                            : TimeTotals()};
}

// Returns true iff the launcher acts on the message; the worker sends such a
// message only once.
bool ActsOn(const WorkerProgress& progress) {
  return progress.claimed > 0 || progress.patience > Duration::zero() ||
         progress.rendezvous || progress.saving || progress.formed > 0 ||
         !progress.failure.empty();
}

// Rounds up, so that a wait of that length reaches the deadline.
int MillisecondsUntil(Time deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      deadline - SystemClock().Now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

}  // namespace

std::string WorkerMessageLine(const WorkerProgress& progress) {
  Json fields;
  fields["step"] = progress.step;
  fields["epoch"] = progress.epoch;
  fields["steps_per_epoch"] = progress.steps_per_epoch;
  if (progress.loss) fields["loss"] = LossText(*progress.loss);
  if (!progress.line.empty()) {
    fields["line"] = FitToJson(progress.line, kMaxLineText);
  }
  if (progress.not_finite_since) {
    fields["not_finite_since"] = *progress.not_finite_since;
  }
  if (progress.claimed > 0) fields["claimed"] = progress.claimed;
  if (progress.patience > Duration::zero()) {
    fields["patience_ns"] = progress.patience.count();
  }
  if (progress.rendezvous) fields["rendezvous"] = *progress.rendezvous;
  if (progress.silent_rank) fields["silent_rank"] = *progress.silent_rank;
  if (progress.saving) fields["saving_ns"] = progress.saving->count();
  if (progress.formed > 0) fields["formed"] = progress.formed;
  if (!progress.failure.empty()) {
    fields["failure"] = FitToJson(progress.failure, kMaxFailureText);
  }
  if (progress.own_device_failed) fields["own_device_failed"] = true;
  return Line("progress", std::move(fields));
}

std::string WorkerMessageLine(const TrainResult& result) {
  Json fields;
  fields["status"] = FitToJson(result.status, kMaxResultText);
  fields["epochs"] = result.epochs;
  fields["steps"] = result.steps;
  fields["digest"] = FitToJson(result.digest, kMaxResultText);
  if (result.loss) fields["loss"] = LossText(*result.loss);
  if (result.accuracy) fields["accuracy"] = *result.accuracy;
  if (result.val_accuracy) fields["val_accuracy"] = *result.val_accuracy;
  if (result.resumed_from) fields["resumed_from"] = *result.resumed_from;
  if (!result.finite) fields["finite"] = false;
  if (result.not_finite_since) {
    fields["not_finite_since"] = *result.not_finite_since;
  }
  fields["times"] = {
      {"steps", result.times.steps},
      {"step_parts_ns", TimesToJson(result.times.step_parts)},
      {"saves", result.times.saves},
      {"save_bytes", result.times.save_bytes},
      {"save_parts_ns", TimesToJson(result.times.save_parts)},
      {"save_background_ns", TimesToJson(result.times.save_background)}};
  return Line("result", std::move(fields));
}

Result<std::variant<WorkerProgress, TrainResult>> ParseWorkerMessage(
    std::string_view line) {
  using Message = std::variant<WorkerProgress, TrainResult>;
  try {
    const Json object = Json::parse(line);
    if (object.contains("progress")) {
      return Message(ProgressOf(object.at("progress")));
    }
    if (object.contains("result"))
      return Message(ResultOf(object.at("result")));
    return InvalidArgument(
        "worker message: expected \"progress\" or \"result\", found neither");
  } catch (const std::exception& error) {
    return InvalidArgument(fmt::format("worker message: {}", error.what()));
  }
}

Result<std::unique_ptr<LauncherSocket>> LauncherSocket::Open(int fd) {
  const std::string name = fmt::format("descriptor {}", fd);
  int buffer_bytes = 0;
  socklen_t size = sizeof(buffer_bytes);
  if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, &size) != 0) {
    return InvalidArgument(
        name + ": not a socket; start workers with `gauntlet train`");
  }
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return PosixError(errno, name, "fcntl");
  }
  return std::unique_ptr<LauncherSocket>(
      new LauncherSocket(Descriptor(fd), buffer_bytes));
}

bool LauncherSocket::HasRoom(int share) const {
  int unread = 0;  // bytes of the buffer in use
  return ioctl(fd_.get(), SIOCOUTQ, &unread) == 0 && unread < share;
}

bool LauncherSocket::Send(const std::string& message) {
  return RetryOnInterrupt([&] {
           return send(fd_.get(), message.data(), message.size(),
                       MSG_DONTWAIT | MSG_NOSIGNAL);
         }) > 0;
}

void LauncherSocket::SendWaiting() {
  while (!waiting_.empty() && HasRoom(progress_share_) &&
         Send(waiting_.front())) {
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
  }
  if (waiting_.empty()) SendLoss();
}

void LauncherSocket::SendLoss() {
  if (lost_lines_ == 0 || !HasRoom(acted_on_share_)) return;
  const WorkerProgress loss = {
      .line = fmt::format(
          "lines not shown, as the launcher did not read them in time: {}",
          lost_lines_)};
  if (Send(WorkerMessageLine(loss))) lost_lines_ = 0;
}

void LauncherSocket::KeepWaiting(std::string message) {
  if (waiting_bytes_ + message.size() > kMaxWaitingBytes) {
    ++lost_lines_;
    return;
  }
  waiting_bytes_ += message.size();
  waiting_.push_back(std::move(message));
}

void LauncherSocket::Progress(const WorkerProgress& progress) {
  const std::lock_guard lock(mutex_);
  SendWaiting();
  const bool is_acted_on = ActsOn(progress);
  const bool must_wait = !waiting_.empty() && !is_acted_on;
  if (!must_wait && HasRoom(is_acted_on ? acted_on_share_ : progress_share_) &&
      Send(WorkerMessageLine(progress))) {
    return;
  }
  if (!progress.line.empty()) KeepWaiting(WorkerMessageLine(progress));
}

void LauncherSocket::Result(const TrainResult& result) {
  const std::lock_guard lock(mutex_);
  SendWaiting();
  lost_lines_ +=
      waiting_.size();  // the launcher reads nothing after the result
  waiting_.clear();
  waiting_bytes_ = 0;
  SendLoss();
  Send(WorkerMessageLine(result));
}

Status LauncherSocket::AwaitAcknowledgement(Time deadline) {
  std::string received;
  while (received.find(kAcknowledgementLine) == received.npos) {
    if (SystemClock().Now() >= deadline) {
      return DeadlineExceeded("the launcher has not acknowledged the result");
    }
    pollfd wait = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, MillisecondsUntil(deadline)) <= 0) continue;
    std::array<char, 256> chunk = {};
    const ssize_t size = RetryOnInterrupt([&] {
      return recv(fd_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    });
    if (size > 0) {
      received.append(chunk.data(), static_cast<size_t>(size));
    } else if (size == 0 || errno != EAGAIN) {
      return Unavailable("the launcher is gone");
    }
  }
  return OkStatus();
}

}  // namespace gauntlet
