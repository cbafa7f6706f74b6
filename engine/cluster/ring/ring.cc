#include "engine/cluster/ring/ring.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string_view BytesOfFloats(std::span<const float> floats) {
  return {reinterpret_cast<const char*>(floats.data()), floats.size_bytes()};
}

// Returns true iff the number is small enough that sums over all ranks and
// steps do not overflow.
bool IsCount(int64_t number) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return number >= 0 && number <= kMost;
}

}  // namespace

Ring::Ring(World& world, const Kernels& kernels, const RingPlace& place,
           std::unique_ptr<Channel> next, std::unique_ptr<Channel> previous)
    : world_(&world),
      kernels_(&kernels),
      place_(place),
      next_(std::move(next)),
      previous_(std::move(previous)) {
  CHECK(place.size == 1 || (next_ && previous_), "a ring needs two channels");
}

void Ring::EmitLeaving() {
  if (broken_.exchange(true)) return;
  world_->events.Emit(
      {.kind = EventKind::kLeaving, .generation = place_.generation});
}

void Ring::Abort() {
  EmitLeaving();
  if (next_) next_->Close();
  if (previous_) previous_->Close();
}

ChunkHeader Ring::HeaderFor(ChunkKind kind, const ExchangeKey& key,
                            uint32_t chunk) const {
  return {.kind = kind,
          .phase = key.phase,
          .rank = static_cast<uint32_t>(place_.rank),
          .index = chunk,
          .generation = place_.generation,
          .step = key.step};
}

Status Ring::PrepareChunk(const ChunkHeader& header, Frame& frame) {
  RETURN_IF_ERROR(
      world_->faults.Hit(Point::kAllReduceSend, {.step = header.step}));
  SetHeader(header, frame);
  return OkStatus();
}

Status Ring::Send(Frame frame, Duration timeout) {
  Status sent = next_->Send(std::move(frame), DeadlineAfter(timeout));
  if (!sent.ok())
    EmitWorkerLost((place_.rank + 1) % place_.size, sent, timeout);
  return sent;
}

Result<Frame> Ring::Receive(Duration timeout, const RunningPass* pass) {
  Time deadline = DeadlineAfter(timeout);
  Result<Frame> frame = previous_->Receive(deadline);
  while (pass != nullptr && frame.status().code() == Code::kDeadlineExceeded) {
    const Time began = std::min(pass->progress.completed(),
                                world_->clock.Now());  // start of the timeout
    if (began + timeout <= deadline) break;
    deadline = began + timeout;
    frame = previous_->Receive(deadline);
  }
  if (!frame.ok()) {
    EmitWorkerLost((place_.rank + place_.size - 1) % place_.size,
                   frame.status(), timeout);
  }
  return frame;
}

// Emits only the first loss: it is the cause of the later ones.
void Ring::EmitWorkerLost(int rank, const Status& status, Duration timeout) {
  if (broken_.exchange(true)) return;
  world_->events.Emit({.kind = EventKind::kWorkerLost,
                       .generation = place_.generation,
                       .detail = status.message(),
                       .about = rank,
                       .reason = ReasonOfWait(status),
                       .limit_ns = timeout.count()});
}

Status Ring::AnnotateSend(Status sent) {
  if (sent.ok()) return sent;
  return Annotate(
      sent, fmt::format("rank {}: sending to the next rank", place_.rank));
}

Result<ChunkHeader> Ring::ExpectHeader(const Result<Frame>& received,
                                       ChunkKind kind, const ExchangeKey& key,
                                       uint32_t chunk) {
  const auto from = [this] {
    return (place_.rank + place_.size - 1) % place_.size;
  };
  if (!received.ok()) {
    return Annotate(received.status(),
                    fmt::format("rank {}: waiting for rank {} at step {}",
                                place_.rank, from(), key.step));
  }
  Result<ChunkHeader> decoded = DecodeChunk(*received);
  RETURN_IF_ERROR(decoded.status());
  const ChunkHeader& header = *decoded;
  if (header.generation != place_.generation) {
    return Unavailable(
        fmt::format("rank {}: frame of generation {} from rank {}, this is {}",
                    place_.rank, header.generation, from(), place_.generation));
  }
  if (header.kind != kind || header.step != key.step ||
      header.phase != key.phase || header.index != chunk) {
    return FailedPrecondition(fmt::format(
        "rank {}: expected kind {} of step {} {} chunk {}, rank {} sent kind "
        "{} of step {} {} chunk {}",
        place_.rank, static_cast<int>(kind), key.step, PhaseName(key.phase),
        chunk, from(), static_cast<int>(header.kind), header.step,
        PhaseName(header.phase), header.index));
  }
  return decoded;
}

uint32_t Ring::Reduction::chunks() const {
  return static_cast<uint32_t>((arrays.total.size() + kChunkFloats - 1) /
                               kChunkFloats);
}

uint32_t Ring::Reduction::descending() const {
  return static_cast<uint32_t>(arrays.last_to_first / kChunkFloats);
}

uint32_t Ring::Reduction::ChunkAt(uint32_t n) const {
  return n < descending() ? descending() - 1 - n : n;
}

bool Ring::Reduction::CarriesTally(uint32_t chunk) const {
  return chunk == ChunkAt(chunks() - 1);
}

void Ring::Reduction::AwaitValues(uint32_t chunk) const {
  if (arrays.pass == nullptr) return;
  PassProgress& progress = arrays.pass->progress;
  if (chunk < descending() && !CarriesTally(chunk)) {
    progress.WaitUntilFinalFrom(chunk * kChunkFloats);
  } else {
    progress.WaitUntilComplete();
  }
}

std::span<float> Ring::Reduction::Chunk(uint32_t chunk) const {
  const size_t begin = chunk * kChunkFloats;
  const size_t floats = std::min(kChunkFloats, arrays.total.size() - begin);
  return arrays.total.subspan(begin, floats);
}

std::span<const float> Ring::Reduction::LocalChunk(size_t replica,
                                                   uint32_t chunk) const {
  return arrays.local[replica].subspan(chunk * kChunkFloats,
                                       Chunk(chunk).size());
}

Result<ChunkHeader> Ring::ExpectChunk(const Result<Frame>& received,
                                      const Reduction& reduction,
                                      ChunkKind kind, uint32_t chunk) {
  const ExchangeKey& key = reduction.key;
  Result<ChunkHeader> header = ExpectHeader(received, kind, key, chunk);
  RETURN_IF_ERROR(header.status());
  RETURN_IF_ERROR(
      world_->faults.Hit(Point::kAllReduceReceive, {.step = key.step}));
  const size_t expected = reduction.Chunk(chunk).size_bytes();
  const size_t found = ChunkPayload(*received).size();
  if (found != expected) {
    return DataLoss(fmt::format("all-reduce chunk: expected {} bytes, found {}",
                                expected, found));
  }
  if (!IsCount(header->correct) || !IsCount(header->samples)) {
    return DataLoss(fmt::format(
        "all-reduce chunk: expected counts of samples, found {} of {}",
        header->correct, header->samples));
  }
  return header;
}

// Until the pass is complete, it may be using the ring's kernels, so this
// function uses RunningPass::kernels. Afterwards the task of the pass only
// waits for this exchange, and the ring's kernels are free.
void Ring::AddReplicas(const Reduction& reduction, uint32_t chunk, size_t first,
                       std::span<float> sum) const {
  const RunningPass* const pass = reduction.arrays.pass;
  const bool passes = pass != nullptr && pass->progress.completed() == kNever;
  const Kernels& kernels = passes ? pass->kernels : *kernels_;
  for (size_t i = first; i < reduction.arrays.local.size(); ++i) {
    kernels.Accumulate(reduction.LocalChunk(i, chunk), sum);
  }
}

// Receives the partial sum of the lower ranks, adds this rank's replicas, and
// sends the sum to the next rank. Rank 0 starts with its first replica as the
// sum. On the last rank the sum is the total.
Status Ring::ReduceChunk(const Reduction& reduction, uint32_t chunk) {
  reduction.AwaitValues(chunk);
  const std::span<float> total = reduction.Chunk(chunk);
  if (place_.size == 1) {
    const std::span<const float> first = reduction.LocalChunk(0, chunk);
    if (first.data() != total.data()) {
      std::copy_n(first.data(), first.size(), total.data());
    }
    AddReplicas(reduction, chunk, 1, total);
    return OkStatus();
  }
  ChunkHeader header =
      HeaderFor(is_last() ? ChunkKind::kTotal : ChunkKind::kPartial,
                reduction.key, chunk);
  Tally& tally = reduction.tally;
  const bool carries_tally = reduction.CarriesTally(chunk);
  Result<Frame> frame =
      place_.rank == 0
          ? EncodeChunk(header, BytesOfFloats(reduction.LocalChunk(0, chunk)))
          : Receive(reduction.timeout, reduction.arrays.pass);
  if (place_.rank > 0) {
    const Result<ChunkHeader> below =
        ExpectChunk(frame, reduction, ChunkKind::kPartial, chunk);
    RETURN_IF_ERROR(below.status());
    if (carries_tally) {
      tally.requests |= below->request_bits;
      tally.correct += below->correct;
      tally.samples += below->samples;
    }
  }
  const std::span<float> sum = FloatsOfChunk(*frame);
  AddReplicas(reduction, chunk, place_.rank == 0 ? 1 : 0, sum);
  if (is_last()) std::copy_n(sum.data(), sum.size(), total.data());
  if (carries_tally) {
    header.request_bits = tally.requests;
    header.correct = tally.correct;
    header.samples = tally.samples;
  }
  RETURN_IF_ERROR(PrepareChunk(header, *frame));
  return AnnotateSend(Send(*std::move(frame), reduction.timeout));
}

// Receives the total of a chunk and stores it. Then sends it to the next rank,
// unless that is the last rank, which computed the total.
Status Ring::PassTotal(const Reduction& reduction, uint32_t chunk) {
  Result<Frame> frame = Receive(reduction.timeout, reduction.arrays.pass);
  Result<ChunkHeader> header =
      ExpectChunk(frame, reduction, ChunkKind::kTotal, chunk);
  RETURN_IF_ERROR(header.status());
  const std::span<const float> total = FloatsOfChunk(*frame);
  std::copy_n(total.data(), total.size(), reduction.Chunk(chunk).data());
  if (reduction.CarriesTally(chunk)) {
    reduction.tally = {.requests = header->request_bits,
                       .correct = header->correct,
                       .samples = header->samples};
  }
  if (place_.rank >= place_.size - 2) return OkStatus();
  header->rank = static_cast<uint32_t>(place_.rank);
  RETURN_IF_ERROR(PrepareChunk(*header, *frame));
  return AnnotateSend(Send(*std::move(frame), reduction.timeout));
}

Status Ring::AllReduce(const ExchangeKey& key,
                       std::span<const std::span<const float>> local,
                       std::span<float> total, Tally& tally, Duration timeout) {
  RETURN_IF_ERROR(
      world_->faults.Hit(Point::kAllReduceBegin, {.step = key.step}));
  RETURN_IF_ERROR(
      Reduce(key, {.local = local, .total = total}, tally, timeout));
  return world_->faults.Hit(Point::kAllReduceEnd, {.step = key.step});
}

Status Ring::Reduce(const ExchangeKey& key, const RingArrays& arrays,
                    Tally& tally, Duration timeout) {
  CHECK(!arrays.local.empty() && !arrays.total.empty(),
        "an all-reduce needs replicas");
  CHECK(arrays.last_to_first <= arrays.total.size(),
        "the part that is summed from its end lies within the array");
  const Reduction reduction = {
      .key = key, .arrays = arrays, .tally = tally, .timeout = timeout};
  const uint32_t chunks = reduction.chunks();
  const bool takes_totals = place_.size > 1 && !is_last();
  // All ranks handle partial sums and totals in the same order, so a rank sends
  // its frames in the order in which the next rank expects them.
  uint32_t passed = 0;
  for (uint32_t n = 0; n < chunks; ++n) {
    RETURN_IF_ERROR(ReduceChunk(reduction, reduction.ChunkAt(n)));
    if (takes_totals && n >= kChunksInFlight) {
      RETURN_IF_ERROR(PassTotal(reduction, reduction.ChunkAt(passed++)));
    }
  }
  while (takes_totals && passed < chunks) {
    RETURN_IF_ERROR(PassTotal(reduction, reduction.ChunkAt(passed++)));
  }
  return OkStatus();
}

Status Ring::ExpectList(const Result<Frame>& received, const ExchangeKey& key,
                        uint32_t round, size_t size) {
  RETURN_IF_ERROR(
      ExpectHeader(received, ChunkKind::kGather, key, round).status());
  ASSIGN_OR_RETURN(const size_t found, SizeOfList(ChunkPayload(*received)));
  if (found == size) return OkStatus();
  return DataLoss(
      fmt::format("all-gather: expected {} items, found {}", size, found));
}

Result<std::vector<std::string>> Ring::AllGather(const ExchangeKey& key,
                                                 const std::string& payload,
                                                 Duration timeout) {
  if (place_.size == 1) return std::vector<std::string>{payload};
  // In round 0 each rank, from rank 0 upwards, adds its text to the list. In
  // round 1 the complete list is sent around the ring.
  const uint32_t round = is_last() ? 1 : 0;
  Result<Frame> gathered =
      place_.rank == 0 ? EncodeChunk({}, "") : Receive(timeout);
  if (place_.rank > 0) {
    RETURN_IF_ERROR(
        ExpectList(gathered, key, 0, static_cast<size_t>(place_.rank)));
  }
  AppendToList(payload, *gathered);
  SetHeader(HeaderFor(ChunkKind::kGather, key, round), *gathered);
  if (is_last()) {
    Result<std::vector<std::string>> items =
        DecodeList(ChunkPayload(*gathered));
    RETURN_IF_ERROR(Send(*std::move(gathered), timeout));
    return items;
  }
  RETURN_IF_ERROR(Send(*std::move(gathered), timeout));
  Result<Frame> all = Receive(timeout);
  RETURN_IF_ERROR(ExpectList(all, key, 1, static_cast<size_t>(place_.size)));
  Result<std::vector<std::string>> items = DecodeList(ChunkPayload(*all));
  if (place_.rank < place_.size - 2) {
    SetHeader(HeaderFor(ChunkKind::kGather, key, 1), *all);
    RETURN_IF_ERROR(Send(*std::move(all), timeout));
  }
  return items;
}

Status Ring::SendState(const ExchangeKey& key,
                       std::span<const std::span<const std::byte>> parts,
                       Duration timeout) {
  size_t size = 0;
  for (const std::span<const std::byte> part : parts) size += part.size();
  std::string chunk;
  chunk.reserve(kStateChunkBytes);
  uint32_t sent = 0;
  const auto send = [&] {
    ChunkHeader header = HeaderFor(ChunkKind::kState, key, sent++);
    header.samples = static_cast<int64_t>(size);
    const Status status = Send(EncodeChunk(header, chunk), timeout);
    chunk.clear();
    return status;
  };
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      const std::span<const std::byte> next =
          part.first(std::min(part.size(), kStateChunkBytes - chunk.size()));
      chunk.append(reinterpret_cast<const char*>(next.data()), next.size());
      part = part.subspan(next.size());
      if (chunk.size() == kStateChunkBytes) RETURN_IF_ERROR(send());
    }
  }
  return chunk.empty() && size > 0 ? OkStatus() : send();
}

Status Ring::ReceiveState(const ExchangeKey& key, bool passes_on,
                          uint64_t limit, const TakeChunk& take,
                          Duration timeout) {
  uint64_t received = 0;
  uint64_t announced = 0;
  uint32_t chunk = 0;
  do {
    Result<Frame> frame = Receive(timeout);
    ASSIGN_OR_RETURN(ChunkHeader header,
                     ExpectHeader(frame, ChunkKind::kState, key, chunk));
    const std::string_view part = ChunkPayload(*frame);
    const auto says = static_cast<uint64_t>(header.samples);
    if (chunk++ == 0) announced = says;
    if (announced > limit) {
      return DataLoss(fmt::format("state: expected at most {} bytes, found {}",
                                  limit, announced));
    }
    const bool fits = says == announced &&
                      part.size() <= announced - received &&
                      (!part.empty() || announced == 0);
    if (!fits) {
      return DataLoss(fmt::format(
          "state: expected {} of {} bytes at most, found a chunk of {}",
          announced - received, announced, part.size()));
    }
    received += part.size();
    take(std::as_bytes(std::span(part)), announced);
    if (passes_on) {
      header.rank = static_cast<uint32_t>(place_.rank);
      SetHeader(header, *frame);
      RETURN_IF_ERROR(Send(*std::move(frame), timeout));
    }
  } while (received < announced);
  return OkStatus();
}

}  // namespace gauntlet
