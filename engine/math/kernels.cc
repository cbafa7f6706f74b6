#include "engine/math/kernels.h"

#include <algorithm>
#include <vector>

#include "engine/check.h"
#include "engine/float_digest.h"
#include "engine/math/isa_kernels.h"
#include "engine/math/operation_sizes.h"
#include "engine/math/patches.h"
#include "engine/math/scratch.h"
#include "engine/math/thread_pool.h"
#include "engine/numerics.h"
#include <fmt/core.h>
#include <xmmintrin.h>

namespace gauntlet {
namespace {

// Number of multiplications that make one more thread worthwhile: waking it
// costs about ten microseconds.
constexpr size_t kWorkPerThread = size_t{1} << 19;
// Cost of one element of an elementwise operation, as a number of
// multiplications; memory bandwidth dominates it.
constexpr size_t kElementWork = 16;
// Number of places (positions of the kernel) whose patches together fit into
// the L1 and L2 caches. It equals the chunk of a sum over places.
constexpr size_t kPlacesAtOnce = numerics::kChunk;
// Number of floats for the chunk sums of a kernel gradient. One chunk per
// thread is stored even if that needs more.
constexpr size_t kChunkSums = size_t{1} << 16;

bool MachineHas(Isa isa) {
  const bool fma = __builtin_cpu_supports("fma");
  const bool avx2 = fma && __builtin_cpu_supports("avx2");
  switch (isa) {
    case Isa::kAuto:
    case Isa::kScalar:
      return fma;
    case Isa::kAvx2:
      return avx2;
    case Isa::kAvx512:
      return avx2 && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
  }
  return false;
}

Isa Best() {
  if (MachineHas(Isa::kAvx512)) return Isa::kAvx512;
  return MachineHas(Isa::kAvx2) ? Isa::kAvx2 : Isa::kScalar;
}

const IsaKernels& KernelsFor(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return Avx512Kernels();
    case Isa::kAvx2:
      return Avx2Kernels();
    default:
      return ScalarKernels();
  }
}

using ProductFunction = void (*)(const Product&);
ProductFunction EigenProductFor(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return Avx512EigenProduct;
    case Isa::kAvx2:
      return Avx2EigenProduct;
    default:
      return ScalarEigenProduct;
  }
}

// Checks that the floating-point environment is the contract's: round to
// nearest, denormals kept. Loading a library linked with -ffast-math changes
// it.
Status CheckFloatEnvironment() {
  const unsigned control = _mm_getcsr();
  if ((control & _MM_FLUSH_ZERO_MASK) != 0 || (control & 0x0040u) != 0) {
    return InvalidArgument(fmt::format(
        "floating point: denormals must be kept, but flush-to-zero or "
        "denormals-are-zero is on (MXCSR {:#06x})",
        control));
  }
  if ((control & _MM_ROUND_MASK) != _MM_ROUND_NEAREST) {
    return InvalidArgument(fmt::format(
        "floating point: expected rounding to nearest, found another mode "
        "(MXCSR {:#06x})",
        control));
  }
  return OkStatus();
}

struct Range {
  size_t begin = 0;
  size_t end = 0;
  int thread = 0;
  size_t size() const { return end - begin; }
};

// Returns the part of [0, count) for one of `threads`, split at multiples of
// `unit`.
Range PartOf(size_t count, size_t unit, int threads, int thread) {
  const size_t units = (count + unit - 1) / unit;
  const auto cut = [&](int t) {
    const size_t at =
        units * static_cast<size_t>(t) / static_cast<size_t>(threads) * unit;
    return std::min(at, count);
  };
  return {cut(thread), cut(thread + 1), thread};
}

class CpuKernels final : public Kernels {
 public:
  CpuKernels(Isa isa, Math math, int threads)
      : isa_(isa),
        math_(math),
        table_(KernelsFor(isa)),
        pool_(threads),
        scratch_(static_cast<size_t>(threads)),
        patches_(static_cast<size_t>(threads)) {}

  Isa isa() const override { return isa_; }
  Memory& memory() const override { return HostMemory(); }

  void MatMul(const MatMulArgs& args) const override {
    const Product whole = ProductOf(args);
    if (args.m == 0 || args.n == 0) return;
    if (args.m >= args.n) {
      Split(args.m, table_.row_unit, args.n * args.k, [&](const Range& rows) {
        Product part = whole;
        part.shape.m = rows.size();
        part.a.data += rows.begin * whole.a.row_stride;
        part.c += rows.begin * whole.ldc;
        Compute(part, rows.thread);
      });
    } else {
      Split(args.n, table_.column_unit, args.m * args.k,
            [&](const Range& columns) {
              Product part = whole;
              part.shape.n = columns.size();
              part.b.data += columns.begin * whole.b.column_stride;
              part.c += columns.begin;
              if (part.bias != nullptr) part.bias += columns.begin;
              Compute(part, columns.thread);
            });
    }
  }

  void ColumnSums(std::span<const float> x, size_t rows, size_t columns,
                  std::span<float> out) const override {
    const ColumnBlock whole = ColumnsOf(x, rows, columns, out.size());
    constexpr size_t kUnit = 64;
    Split(columns, kUnit, rows, [&](const Range& part) {
      table_.column_sums({whole.x + part.begin, rows, columns, part.size()},
                         out.data() + part.begin);
    });
  }

  void Convolution(const numerics::ConvolutionShape& shape,
                   std::span<const float> x, std::span<const float> kernel,
                   std::span<const float> bias,
                   std::span<float> y) const override {
    CheckConvolution(shape, x.size(), kernel.size(), y.size());
    CheckBias(shape, bias.size());
    const size_t taps = shape.Taps();
    Split(shape.Places(), kPlacesAtOnce, taps * shape.filters,
          [&](const Range& part) {
            ForPatches(shape, x, part,
                       [&](const Range& places, const float* patches) {
                         Compute({.shape = {places.size(), shape.filters, taps},
                                  .a = {patches, taps, 1},
                                  .b = {kernel.data(), shape.filters, 1},
                                  .c = y.data() + places.begin * shape.filters,
                                  .ldc = shape.filters,
                                  .bias = bias.data()},
                                 places.thread);
                       });
          });
  }

  // Computes a product for each chunk of the sum, so that threads can compute
  // different chunks. Then adds the chunks' results in order. Processes as many
  // chunks at a time as fit into kChunkSums floats, but at least one per
  // thread.
  void ConvolutionKernelGradient(const numerics::ConvolutionShape& shape,
                                 std::span<const float> x,
                                 std::span<const float> dy,
                                 std::span<float> gradient) const override {
    CheckConvolution(shape, x.size(), gradient.size(), dy.size());
    const size_t size = gradient.size();
    const size_t chunks =
        (shape.Places() + numerics::kChunk - 1) / numerics::kChunk;
    const size_t at_once =
        std::max(kChunkSums / size, static_cast<size_t>(pool_.threads()));
    float* const sums = chunk_sums_.Get(std::min(chunks, at_once) * size);
    if (chunks == 0) std::ranges::fill(gradient, 0.0f);
    for (size_t done = 0; done < chunks; done += at_once) {
      const size_t count = std::min(at_once, chunks - done);
      Split(count, 1, numerics::kChunk * size, [&](const Range& part) {
        SumChunks(shape, x, dy,
                  {done + part.begin, done + part.end, part.thread},
                  sums + part.begin * size);
      });
      for (size_t i = 0; i < count; ++i) {
        const std::span<const float> sum(sums + i * size, size);
        if (done + i == 0) {
          std::copy_n(sum.data(), sum.size(), gradient.data());
        } else {
          table_.accumulate(sum.data(), gradient.data(), size);
        }
      }
    }
  }

  void ConvolutionInputGradient(const numerics::ConvolutionShape& shape,
                                std::span<const float> dy,
                                std::span<const float> kernel,
                                std::span<float> dx) const override {
    CheckConvolution(shape, dx.size(), kernel.size(), dy.size());
    float* const swapped = swapped_kernel_.Get(kernel.size());
    SwapChannelsAndFilters(shape, kernel.data(), swapped);
    Split(shape.samples * shape.height, 1, shape.width * kernel.size(),
          [&](const Range& rows) {
            table_.convolution_input_gradient(
                {shape, dy.data(), kernel.data(), swapped, rows.begin,
                 rows.size()},
                dx.data());
          });
  }

  void Activate(numerics::Activation activation, std::span<const float> x,
                std::span<float> y) const override {
    CheckSizes(x.size(), {y.size()});
    SplitElements(x.size(), [&](const Range& part) {
      table_.activate(activation, x.data() + part.begin, y.data() + part.begin,
                      part.size());
    });
  }

  void ActivationGradient(numerics::Activation activation,
                          std::span<const float> x, std::span<const float> dy,
                          std::span<float> dx) const override {
    CheckSizes(dx.size(), {x.size(), dy.size()});
    SplitElements(dx.size(), [&](const Range& part) {
      table_.activation_gradient(activation, x.data() + part.begin,
                                 dy.data() + part.begin, dx.data() + part.begin,
                                 part.size());
    });
  }

  void Dropout(const DropoutArgs& args, std::span<const float> x,
               std::span<float> y) const override {
    const DropoutRows whole = DropoutRowsOf(args, x.size(), y.size());
    if (x.empty()) return;
    const size_t rows = (x.size() + args.columns - 1) / args.columns;
    Split(rows, 1, args.columns * kElementWork, [&](const Range& part) {
      const size_t begin = part.begin * args.columns;
      const size_t end = std::min(part.end * args.columns, x.size());
      DropoutRows rows_of_part = whole;
      rows_of_part.first_row += part.begin;
      rows_of_part.count = end - begin;
      table_.dropout(rows_of_part, x.data() + begin, y.data() + begin);
    });
  }

  void Accumulate(std::span<const float> x,
                  std::span<float> acc) const override {
    CheckSizes(x.size(), {acc.size()});
    SplitElements(x.size(), [&](const Range& part) {
      table_.accumulate(x.data() + part.begin, acc.data() + part.begin,
                        part.size());
    });
  }

  void SoftmaxCrossEntropy(const LossArgs& args) const override {
    const CrossEntropyRows whole =
        LossRowsOf(args, args.losses.size(), args.gradients.size());
    CheckLabels(args.labels, args.classes);
    constexpr size_t kClassWork = 64;
    Split(whole.rows, 1, whole.classes * kClassWork, [&](const Range& part) {
      const size_t at = part.begin * whole.classes;
      table_.cross_entropy({whole.logits + at, whole.labels + part.begin,
                            part.size(), whole.classes, whole.scale},
                           args.losses.data() + part.begin,
                           args.gradients.data() + at);
    });
  }

  // Rows are short, so the reference implementation is fast enough.
  void MeanSquaredError(const LossArgs& args) const override {
    const CrossEntropyRows rows =
        LossRowsOf(args, args.losses.size(), args.gradients.size());
    CheckLabels(args.labels, args.classes);
    for (size_t row = 0; row < rows.rows; ++row) {
      const size_t at = row * rows.classes;
      args.losses[row] = numerics::MeanSquaredError(
          rows.logits + at, rows.classes, rows.labels[row], rows.scale,
          args.gradients.data() + at);
    }
  }

  int64_t CountRight(std::span<const float> outputs,
                     std::span<const uint8_t> labels,
                     size_t classes) const override {
    CHECK(outputs.size() == labels.size() * classes,
          "a row of outputs for each label");
    int64_t right = 0;
    for (size_t row = 0; row < labels.size(); ++row) {
      const size_t best =
          numerics::ArgMax(outputs.data() + row * classes, classes);
      if (best == labels[row]) ++right;
    }
    return right;
  }

  void SubtractMeans(std::span<const float> x, std::span<const float> means,
                     std::span<float> y) const override {
    CheckSizes(x.size(), {y.size()});
    for (size_t first = 0; first < x.size(); first += means.size()) {
      for (size_t c = 0; c < means.size(); ++c) {
        y[first + c] = x[first + c] - means[c];
      }
    }
  }

  void MovingMeans(float momentum, uint64_t rows, std::span<const float> means,
                   std::span<float> next) const override {
    CheckSizes(means.size(), {next.size()});
    for (size_t c = 0; c < means.size(); ++c) {
      next[c] = numerics::MovingMean(momentum, means[c], next[c], rows);
    }
  }

  void Adam(const AdamArgs& args, std::span<const float> gradients,
            UpdatedArray parameters, UpdatedArray m,
            UpdatedArray v) const override {
    const size_t count = parameters.size();
    CheckSizes(count, {gradients.size(), m.size(), v.size()});
    const numerics::AdamRates rates = RatesOf(args);
    const AdamArrays all = {gradients.data(), PointersOf(parameters),
                            PointersOf(m), PointersOf(v)};
    SplitElements(count, [&](const Range& part) {
      table_.adam(rates,
                  {all.gradients + part.begin, all.parameters.At(part.begin),
                   all.m.At(part.begin), all.v.At(part.begin)},
                  part.size());
    });
  }

  void SgdMomentum(float rate, float momentum, std::span<const float> gradients,
                   UpdatedArray parameters,
                   UpdatedArray velocity) const override {
    const size_t count = parameters.size();
    CheckSizes(count, {gradients.size(), velocity.size()});
    const UpdatedPointers of_parameters = PointersOf(parameters);
    const UpdatedPointers of_velocity = PointersOf(velocity);
    SplitElements(count, [&](const Range& part) {
      table_.sgd_momentum({rate, momentum}, gradients.data() + part.begin,
                          of_parameters.At(part.begin),
                          of_velocity.At(part.begin), part.size());
    });
  }

  void Sgd(float rate, std::span<const float> gradients,
           UpdatedArray parameters) const override {
    CheckSizes(parameters.size(), {gradients.size()});
    const UpdatedPointers all = PointersOf(parameters);
    SplitElements(parameters.size(), [&](const Range& part) {
      table_.sgd(rate, gradients.data() + part.begin, all.At(part.begin),
                 part.size());
    });
  }

  float Sum(std::span<const float> x) const override {
    return numerics::ChunkedSum(x.data(), 1, x.size());
  }

  float SumOfSquares(std::span<const float> x) const override {
    return table_.sum_of_squares(x.data(), x.size());
  }

  void Scale(float factor, std::span<float> x) const override {
    SplitElements(x.size(), [&](const Range& part) {
      table_.scale(factor, x.data() + part.begin, part.size());
    });
  }

  void ClipValues(float limit, std::span<float> x) const override {
    SplitElements(x.size(), [&](const Range& part) {
      table_.clip_values(limit, x.data() + part.begin, part.size());
    });
  }

  void DigestBlocks(std::span<const float> x, size_t block_floats,
                    std::span<uint64_t> digests) const override {
    CheckDigestBlocks(x.size(), block_floats, digests.size());
    for (size_t i = 0; i < digests.size(); i += 2) {
      const size_t at = i / 2 * block_floats;
      const Digest digest = FloatDigestOf(
          std::as_bytes(x.subspan(at, std::min(block_floats, x.size() - at))));
      digests[i] = digest.low;
      digests[i + 1] = digest.high;
    }
  }

 private:
  static void CheckLabels(std::span<const uint8_t> labels, size_t classes) {
    for (const uint8_t label : labels) {
      CHECK(label < classes, "a label is below the number of classes");
    }
  }

  // Calls task with kPlacesAtOnce places at a time, and their patches.
  template <typename Task>
  void ForPatches(const numerics::ConvolutionShape& shape,
                  std::span<const float> x, const Range& part,
                  const Task& task) const {
    float* const patches = patches_[static_cast<size_t>(part.thread)].Get(
        std::min(kPlacesAtOnce, part.size()) * shape.Taps());
    for (size_t at = part.begin; at < part.end; at += kPlacesAtOnce) {
      const Range places = {at, std::min(at + kPlacesAtOnce, part.end),
                            part.thread};
      GatherPatches(shape, x.data(), at, places.size(), patches);
      task(places, patches);
    }
  }

  // Stores the sums of the kernel gradient's terms, one for each chunk c, at
  // place c - chunks.begin of `sums`.
  void SumChunks(const numerics::ConvolutionShape& shape,
                 std::span<const float> x, std::span<const float> dy,
                 const Range& chunks, float* sums) const {
    static_assert(kPlacesAtOnce == numerics::kChunk);
    const size_t taps = shape.Taps();
    const Range places = {
        chunks.begin * numerics::kChunk,
        std::min(chunks.end * numerics::kChunk, shape.Places()), chunks.thread};
    ForPatches(shape, x, places, [&](const Range& chunk, const float* patches) {
      Compute({.shape = {taps, shape.filters, chunk.size()},
               .a = {patches, 1, taps},
               .b = {dy.data() + chunk.begin * shape.filters, shape.filters, 1},
               .c = sums,
               .ldc = shape.filters},
              chunk.thread);
      sums += taps * shape.filters;
    });
  }

  void Compute(const Product& part, int thread) const {
    if (math_ != Math::kCanonical) {
      EigenProductFor(isa_)(part);
      return;
    }
    Scratch& scratch = scratch_[static_cast<size_t>(thread)];
    table_.product(part, scratch.Get(table_.product_scratch(part)));
  }

  // Calls task with parts that make up [0, count), on as many threads as the
  // work justifies. The split changes no result.
  template <typename Task>
  void Split(size_t count, size_t unit, size_t work_each,
             const Task& task) const {
    if (count == 0) return;
    if (pool_.threads() == 1 || work_each < 1 ||
        count < 2 * kWorkPerThread / work_each) {
      task(Range{0, count, 0});
      return;
    }
    pool_.Run([&](int thread) {
      const Range part = PartOf(count, unit, pool_.threads(), thread);
      if (part.size() > 0) task(part);
    });
  }
  template <typename Task>
  void SplitElements(size_t count, const Task& task) const {
    constexpr size_t kCacheLine = 16;
    Split(count, kCacheLine, kElementWork, task);
  }

  const Isa isa_;
  const Math math_;
  const IsaKernels& table_;
  // Mutable: operations leave no change in them that a caller can observe.
  mutable ThreadPool pool_;
  mutable std::vector<Scratch> scratch_;  // one a thread
  mutable std::vector<Scratch> patches_;  // one a thread
  mutable Scratch chunk_sums_;
  mutable Scratch swapped_kernel_;
};

}  // namespace

std::string_view IsaName(Isa isa) {
  for (const auto& [name, value] : kIsaNames) {
    if (value == isa) return name;
  }
  return "unknown";
}

std::string_view MathName(Math math) {
  for (const auto& [name, value] : kMathNames) {
    if (value == math) return name;
  }
  return "unknown";
}

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return "cuda";
    case DeviceKind::kEmulated:
      return "emulated";
    case DeviceKind::kAuto:
      return "auto";
  }
  return "unknown";
}

DeviceKind DeviceOfAttempt(const KernelOptions& options, int attempt) {
  const std::vector<DeviceKind>& per_attempt = options.device_per_attempt;
  if (per_attempt.empty()) return options.device;
  const auto index = static_cast<size_t>(std::max(attempt, 1)) - 1;
  return per_attempt[std::min(index, per_attempt.size() - 1)];
}

bool ComputesOn(const KernelOptions& options, DeviceKind kind) {
  const std::vector<DeviceKind>& per_attempt = options.device_per_attempt;
  return per_attempt.empty()
             ? options.device == kind
             : std::ranges::find(per_attempt, kind) != per_attempt.end();
}

std::optional<Isa> FindIsa(std::string_view name) {
  for (const auto& [known, isa] : kIsaNames) {
    if (known == name) return isa;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Kernels>> Kernels::Create(const KernelOptions& options) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return InvalidArgument(fmt::format("threads: expected 1 to {}, found {}",
                                       kMaxThreads, options.threads));
  }
  if (!MachineHas(Isa::kScalar)) {
    return InvalidArgument(
        "processor: FMA3 instructions are needed, this machine lacks them");
  }
  if (!MachineHas(options.isa)) {
    return InvalidArgument(fmt::format(
        "instruction set: {} was asked for, this machine's best is {}",
        IsaName(options.isa), IsaName(Best())));
  }
  if (options.math == Math::kFastTf32) {
    return InvalidArgument(
        "math library-tf32: expected a CUDA device, the CPU has no "
        "TensorFloat-32");
  }
  RETURN_IF_ERROR(CheckFloatEnvironment());
  const Isa isa = options.isa == Isa::kAuto ? Best() : options.isa;
  return std::unique_ptr<Kernels>(
      std::make_unique<CpuKernels>(isa, options.math, options.threads));
}

}  // namespace gauntlet
