// Digests of 1, 10 and 100 MiB, compared with a copy of the same size.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/check.h"
#include "engine/ckpt/state/digest_stream.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/float_digest.h"
#include "tests/bench/bench_arrays.h"

namespace gauntlet {
namespace {

std::vector<float> ValuesOf(const benchmark::State& state) {
  constexpr size_t kFloatsPerMiB = (size_t{1} << 20) / sizeof(float);
  return Values(static_cast<size_t>(state.range(0)) * kFloatsPerMiB);
}

void CountBytes(benchmark::State& state, std::span<const std::byte> bytes) {
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(bytes.size()));
}

// Digests in pieces of 1 MiB, as checkpoints are written and read.
Digest StreamedDigestOf(std::span<const std::byte> bytes) {
  constexpr size_t kPiece = size_t{1} << 20;
  DigestStream stream;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    stream.Update(bytes.subspan(at, std::min(kPiece, bytes.size() - at)));
  }
  return stream.Finish();
}

void BM_Memcpy(benchmark::State& state) {
  const std::vector<float> values = ValuesOf(state);
  std::vector<float> copy(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  for (auto _ : state) {
    std::memcpy(copy.data(), values.data(), bytes.size());
    benchmark::ClobberMemory();
  }
  CHECK(copy == values, "a copy is what was copied");
  CountBytes(state, bytes);
}

template <typename Digester>
void TimeDigest(benchmark::State& state, const Digester& digest_of) {
  const std::vector<float> values = ValuesOf(state);
  const auto bytes = std::as_bytes(std::span(values));
  CHECK(DigestOf(bytes) == StreamedDigestOf(bytes), "one digest of all pieces");
  for (auto _ : state) benchmark::DoNotOptimize(digest_of(bytes));
  CountBytes(state, bytes);
}

void BM_Digest(benchmark::State& state) {
  TimeDigest(state, [](auto bytes) { return DigestOf(bytes); });
}

void BM_DigestStream(benchmark::State& state) {
  TimeDigest(state, StreamedDigestOf);
}

void BM_FloatDigest(benchmark::State& state) {
  std::vector<float> values = ValuesOf(state);
  const auto bytes = std::as_bytes(std::span(values));
  const float last = std::exchange(values.back(), std::nanf("1"));
  const Digest of_nan = FloatDigestOf(bytes);
  values.back() = std::nanf("2");
  CHECK(FloatDigestOf(bytes) == of_nan, "every NaN counts as the same one");
  values.back() = last;
  CHECK(FloatDigestOf(bytes) == DigestOf(bytes), "values without a NaN");
  for (auto _ : state) benchmark::DoNotOptimize(FloatDigestOf(bytes));
  CountBytes(state, bytes);
}

void BM_StateDigest(benchmark::State& state) {
  std::vector<float> values = ValuesOf(state);
  const std::vector<TensorView> tensors = TensorsOf(values);
  const Digest before = StateDigest(tensors);
  CHECK(StateDigester().Compute(tensors) == before, "one digest of a state");
  values.back() += 1.0f;
  CHECK(StateDigest(tensors) != before, "the last value counts");
  for (auto _ : state) benchmark::DoNotOptimize(StateDigest(tensors));
  CountBytes(state, std::as_bytes(std::span(values)));
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("MiB")->Arg(1)->Arg(10)->Arg(100)->Unit(
      benchmark::kMicrosecond);
}
BENCHMARK(BM_Memcpy)->Apply(Sizes);
BENCHMARK(BM_Digest)->Apply(Sizes);
BENCHMARK(BM_DigestStream)->Apply(Sizes);
BENCHMARK(BM_FloatDigest)->Apply(Sizes);
BENCHMARK(BM_StateDigest)->Apply(Sizes);

}  // namespace
}  // namespace gauntlet
