#include "engine/cluster/ring/device_ring.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/gpu/device_kernels.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The pause between two polls is an eighth of the time waited so far, within
// these limits. Polls without a pause would occupy a processor.
constexpr Duration kLeastPause = std::chrono::microseconds(20);
constexpr Duration kMostPause = std::chrono::milliseconds(2);

// After this many operations the caller waits, by polls, until the device has
// finished them. With about a thousand unfinished operations, the next call
// would block inside the device's library, perhaps forever if a worker is lost.
constexpr size_t kMostAccepted = 256;

}  // namespace

Result<std::unique_ptr<DeviceRing>> DeviceRing::Create(
    const Parts& parts, const gpu::CommunicatorId& id,
    std::unique_ptr<CollectiveLinks> links, Duration timeout) {
  std::unique_ptr<DeviceRing> made(new DeviceRing(parts, std::move(links)));
  const Status begun = made->Begin(id, timeout);
  if (begun.ok()) return made;
  made->Abort();
  return begun;
}

Status DeviceRing::Begin(const gpu::CommunicatorId& id, Duration timeout) {
  const Wait wait = {.what = "joining the communicator", .timeout = timeout};
  gpu::Device* const device = gpu::DeviceOf(parts_.kernels);
  CHECK(device != nullptr, "a communicator is of devices");
  gpu::DeviceText why;
  communicator_ = parts_.api.begin(device,
                                   {.id = id,
                                    .rank = parts_.ring.rank(),
                                    .size = parts_.ring.size(),
                                    .links = links_.get()},
                                   &why);
  if (communicator_ == nullptr) return WaitError(wait, why.text);
  return Await(parts_.api.poll, wait);
}

void DeviceRing::End() {
  if (communicator_ == nullptr) return;
  parts_.api.abort(std::exchange(communicator_, nullptr));
}

// Ends the communicator before the ring: operations of the device may be
// waiting in the communicator for other ranks.
void DeviceRing::Abort() {
  End();
  parts_.ring.Abort();
}

Status DeviceRing::WaitError(const Wait& wait, std::string_view why) const {
  return Unavailable(fmt::format("rank {}: {}: {}: {}", parts_.ring.rank(),
                                 wait.what, parts_.api.name, why));
}

// The event names no rank, as this function cannot determine which one is lost.
void DeviceRing::EmitWorkerLost(Reason reason, const Wait& wait) const {
  parts_.world.events.Emit({.kind = EventKind::kWorkerLost,
                            .generation = parts_.ring.generation(),
                            .reason = reason,
                            .limit_ns = wait.timeout.count()});
}

Status DeviceRing::Await(Poll poll, const Wait& wait) {
  const Clock& clock = parts_.world.clock;
  const Time begin = clock.Now();
  while (true) {
    gpu::DeviceText why;
    const gpu::CollectiveProgress progress = poll(communicator_, &why);
    if (progress == gpu::CollectiveProgress::kReady) return OkStatus();
    if (progress == gpu::CollectiveProgress::kFailed) {
      EmitWorkerLost(Reason::kClosed, wait);
      return WaitError(wait, why.text);
    }
    if (parts_.ring.is_broken()) return WaitError(wait, "a worker is lost");
    const Time now = clock.Now();
    if (now >= begin + wait.timeout) {
      EmitWorkerLost(Reason::kDeadline, wait);
      return DeadlineExceeded(
          fmt::format("rank {}: {}: {}: no sign of the other ranks",
                      parts_.ring.rank(), wait.what, parts_.api.name));
    }
    const Duration pause =
        std::clamp((now - begin) / 8, kLeastPause, kMostPause);
    parts_.world.clock.SleepUntil(now + pause);
  }
}

// Waits until the communicator accepts another operation or, after
// kMostAccepted operations, until all of them are finished.
Status DeviceRing::AwaitAccepted(const Wait& wait) {
  RETURN_IF_ERROR(Await(parts_.api.poll, wait));
  if (accepted_ < kMostAccepted) return OkStatus();
  accepted_ = 0;
  return Await(parts_.api.finished, wait);
}

Status DeviceRing::Hit(Point point, const Reduction& reduction) const {
  return parts_.world.faults.Hit(point, {.step = reduction.key.step});
}

size_t DeviceRing::Chunks(const Reduction& reduction) const {
  const size_t floats = parts_.api.chunk_floats;
  return (reduction.total.size() + floats - 1) / floats;
}

std::span<float> DeviceRing::Chunk(const Reduction& reduction,
                                   size_t chunk) const {
  const size_t begin = chunk * parts_.api.chunk_floats;
  return reduction.total.subspan(
      begin, std::min(parts_.api.chunk_floats, reduction.total.size() - begin));
}

// Adds this rank's replicas to the chunk's sum. As in Ring::ReduceChunk, the
// sum of rank 0 starts as its first replica.
Status DeviceRing::AddLocal(const Reduction& reduction, size_t chunk) {
  const std::span<float> sum = Chunk(reduction, chunk);
  const size_t begin = chunk * parts_.api.chunk_floats;
  size_t next = 0;
  if (is_first()) {
    parts_.kernels.memory().Copy(
        sum.data(), reduction.local[next++].data() + begin, sum.size_bytes());
  }
  for (; next < reduction.local.size(); ++next) {
    parts_.kernels.Accumulate(reduction.local[next].subspan(begin, sum.size()),
                              sum);
    ++accepted_;
    RETURN_IF_ERROR(AwaitAccepted(reduction.wait));
  }
  return OkStatus();
}

// In each round a rank receives one chunk and sends the previous one, so that
// both directions are in use. All ranks work at the same time: each is one
// chunk behind the rank below it.
Status DeviceRing::Reduce(const Reduction& reduction) {
  const size_t chunks = Chunks(reduction);
  for (size_t round = 0; round <= chunks; ++round) {
    gpu::ArrayExchange exchange;
    if (round > 0 && !is_last()) {
      RETURN_IF_ERROR(Hit(Point::kAllReduceSend, reduction));
      const std::span<const float> sum = Chunk(reduction, round - 1);
      exchange.to_next = sum.data();
      exchange.send_count = sum.size();
    }
    if (round < chunks && !is_first()) {
      const std::span<float> sum = Chunk(reduction, round);
      exchange.from_previous = sum.data();
      exchange.receive_count = sum.size();
    }
    if (exchange.send_count + exchange.receive_count > 0) {
      parts_.api.exchange(communicator_, exchange);
      ++accepted_;
      RETURN_IF_ERROR(AwaitAccepted(reduction.wait));
    }
    if (round == chunks) break;
    if (!is_first()) RETURN_IF_ERROR(Hit(Point::kAllReduceReceive, reduction));
    RETURN_IF_ERROR(AddLocal(reduction, round));
  }
  return OkStatus();
}

Status DeviceRing::PassTotals(const Reduction& reduction) {
  for (size_t chunk = 0; chunk < Chunks(reduction); ++chunk) {
    const std::span<float> sum = Chunk(reduction, chunk);
    const bool alone = parts_.ring.size() == 1;
    if (is_last() && !alone) {
      RETURN_IF_ERROR(Hit(Point::kAllReduceSend, reduction));
    }
    parts_.api.broadcast(communicator_, sum.data(), sum.size(),
                         parts_.ring.size() - 1);
    ++accepted_;
    RETURN_IF_ERROR(AwaitAccepted(reduction.wait));
    if (!is_last()) RETURN_IF_ERROR(Hit(Point::kAllReduceReceive, reduction));
  }
  return OkStatus();
}

Status DeviceRing::Sum(const ExchangeKey& key,
                       std::span<const std::span<const float>> local,
                       std::span<float> total, Duration timeout) {
  CHECK(!local.empty() && !total.empty(), "an all-reduce needs replicas");
  const Reduction reduction = {
      .key = key,
      .local = local,
      .total = total,
      .wait = {.what = fmt::format("the sum of step {}", key.step),
               .timeout = timeout}};
  if (communicator_ == nullptr) {
    return WaitError(reduction.wait, "the communicator is gone");
  }
  Status summed = Reduce(reduction);
  if (summed.ok()) summed = PassTotals(reduction);
  if (summed.ok()) summed = Await(parts_.api.finished, reduction.wait);
  // If this device has failed, its results are wrong, and other ranks have
  // already received some of them. Abort stops those ranks: they wait for this
  // rank in the ring's next exchange, which then fails.
  if (summed.ok()) summed = parts_.kernels.status();
  accepted_ = 0;
  if (!summed.ok()) Abort();
  return summed;
}

}  // namespace gauntlet
