// Fast implementations of the numerics contract's operations; instruction set
// and threads are chosen at run time. The choice changes no bit of any result,
// except with Math::kFast and kFastTf32.
#ifndef GAUNTLET_ENGINE_MATH_KERNELS_H_
#define GAUNTLET_ENGINE_MATH_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/float_digest.h"
#include "engine/math/memory.h"
#include "engine/numerics/numerics_convolution.h"
#include "engine/numerics/numerics_updates.h"
#include "engine/status.h"

namespace gauntlet {

// Values of a setting with their names in options, flags and messages.
template <typename T, size_t kCount>
using ValueNames = std::array<std::pair<std::string_view, T>, kCount>;

enum class Isa : uint8_t { kAuto, kScalar, kAvx2, kAvx512 };
inline constexpr ValueNames<Isa, 4> kIsaNames = {{{"auto", Isa::kAuto},
                                                  {"scalar", Isa::kScalar},
                                                  {"avx2", Isa::kAvx2},
                                                  {"avx512", Isa::kAvx512}}};
std::string_view IsaName(Isa isa);
std::optional<Isa> FindIsa(std::string_view name);

// kFast: products of another library (Eigen's for the same instruction set, or
// cuBLAS's on a GPU), whose bits depend on shape, threads and machine. Outside
// the contract: for speed comparisons, and as a negative control. kFastTf32:
// cuBLAS's products in TensorFloat-32.
enum class Math : uint8_t { kCanonical, kFast, kFastTf32 };
inline constexpr ValueNames<Math, 3> kMathNames = {
    {{"canonical", Math::kCanonical},
     {"library", Math::kFast},
     {"library-tf32", Math::kFastTf32}}};
std::string_view MathName(Math math);

// Device that computes. kAuto: a GPU if there is one, chosen before anything is
// computed. kEmulated: a GPU's kernels run slowly on the CPU, for tests.
enum class DeviceKind : uint8_t { kCpu, kCuda, kEmulated, kAuto };
std::string_view DeviceKindName(DeviceKind kind);

inline constexpr int kMaxThreads = 256;

struct KernelOptions {
  Isa isa = Isa::kAuto;
  int threads = 1;  // up to kMaxThreads
  Math math = Math::kCanonical;
  DeviceKind device = DeviceKind::kCpu;  // `isa` and `threads` apply to kCpu
                                         // only
  // Device of each incarnation of a worker; the last entry also holds for all
  // later incarnations. Empty: `device`.
  std::vector<DeviceKind> device_per_attempt = {};
};
DeviceKind DeviceOfAttempt(const KernelOptions& options, int attempt);
// Returns true if any incarnation computes on a device of this kind.
bool ComputesOn(const KernelOptions& options, DeviceKind kind);

enum class Transpose : uint8_t { kNo, kYes };

// c[m x n] = op(a)[m x k] * op(b)[k x n] (+ bias[n] on every row), all
// row-major float32 with leading dimensions lda, ldb, ldc in floats.
struct MatMulArgs {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
  const float* a = nullptr;
  size_t lda = 0;
  Transpose transpose_a = Transpose::kNo;  // kYes: a is stored k x m
  const float* b = nullptr;
  size_t ldb = 0;
  Transpose transpose_b = Transpose::kNo;  // kYes: b is stored n x k
  float* c = nullptr;
  size_t ldc = 0;
  const float* bias = nullptr;  // added after the sum over k
};

struct AdamArgs {
  float step_size = 0.0f;  // learning rate with its bias correction
  float beta1 = 0.0f;
  float beta2 = 0.0f;
  float epsilon = 0.0f;
};

// An array that an operation changes: its current values, and the place for its
// new values, which may be the same memory.
struct UpdatedArray {
  UpdatedArray() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most updates are in place
  UpdatedArray(std::span<float> in_place) : from(in_place), to(in_place) {}
  UpdatedArray(std::span<const float> now, std::span<float> next)
      : from(now), to(next) {}

  size_t size() const { return to.size(); }

  std::span<const float> from;
  std::span<float> to;
};

// Rows of a model's outputs. `outputs` and `gradients` are rows x classes,
// `labels` and `losses` have one value per row; labels are below `classes`.
struct LossArgs {
  std::span<const float> outputs;
  std::span<const uint8_t> labels;
  size_t classes = 0;
  float scale = 1.0f;  // factor on the gradients
  std::span<float> losses;
  std::span<float> gradients;
};

inline constexpr size_t kMaxShortDigestFloats =
    kMaxShortDigestBytes / sizeof(float);

// Arguments that are arrays, even short ones, must be in memory(); returned
// values are in host memory. Not safe for use by two tasks at once, as it may
// own threads. Cheap to create with one thread. The same array may be an
// operation's input and output, except in MatMul. Arrays that overlap otherwise
// are an error, and so are sizes that do not match (CHECK). Sizes may be 0 and
// pointers unaligned.
class Kernels {
 public:
  // Creates kernels on the CPU. kInvalidArgument: threads is outside
  // [1, kMaxThreads]; this machine lacks the instruction set; or it lacks what
  // every path needs: FMA3, and IEEE rounding without flush-to-zero.
  static Result<std::unique_ptr<Kernels>> Create(const KernelOptions& options);
  virtual ~Kernels() = default;
  // Instruction set in use, also for kAuto. A GPU has none and returns kAuto.
  virtual Isa isa() const = 0;
  // Memory that holds the arrays of all operations, called "the kernels'
  // memory" elsewhere: the host's or the device's.
  virtual Memory& memory() const = 0;
  // Returns the first error of the device since it was opened; results after
  // that error are invalid. Waits for the device.
  virtual Status status() const { return OkStatus(); }

  virtual void MatMul(const MatMulArgs& args) const = 0;
  // out[j] = sum over i of x[i][j]: x is rows x columns. (Bias gradients.)
  virtual void ColumnSums(std::span<const float> x, size_t rows, size_t columns,
                          std::span<float> out) const = 0;
  // y = x * kernel + bias; layouts as in
  // engine/numerics/numerics_convolution.h.
  virtual void Convolution(const numerics::ConvolutionShape& shape,
                           std::span<const float> x,
                           std::span<const float> kernel,
                           std::span<const float> bias,
                           std::span<float> y) const = 0;
  virtual void ConvolutionKernelGradient(
      const numerics::ConvolutionShape& shape, std::span<const float> x,
      std::span<const float> dy, std::span<float> gradient) const = 0;
  virtual void ConvolutionInputGradient(const numerics::ConvolutionShape& shape,
                                        std::span<const float> dy,
                                        std::span<const float> kernel,
                                        std::span<float> dx) const = 0;
  // y = f(x), with the activation's f.
  virtual void Activate(numerics::Activation activation,
                        std::span<const float> x, std::span<float> y) const = 0;
  // dx = dy f'(x).
  virtual void ActivationGradient(numerics::Activation activation,
                                  std::span<const float> x,
                                  std::span<const float> dy,
                                  std::span<float> dx) const = 0;
  // y = x * scale where the mask keeps the element, else +0. The element's row
  // is first_row + i / columns; see numerics::DropoutKeeps.
  struct DropoutArgs {
    uint64_t rng_key = 0;
    uint64_t step = 0;
    uint32_t layer = 0;
    uint64_t first_row = 0;
    size_t columns = 0;
    float rate = 0.0f;
  };
  // Computes y from x, and in the backward pass dx from dy: the mask is
  // recomputed, never stored.
  virtual void Dropout(const DropoutArgs& args, std::span<const float> x,
                       std::span<float> y) const = 0;
  // acc += x, element by element: called in replica order for gradients.
  virtual void Accumulate(std::span<const float> x,
                          std::span<float> acc) const = 0;
  // Per row: losses[i], and gradients[i][j] = (softmax - onehot) * scale.
  virtual void SoftmaxCrossEntropy(const LossArgs& args) const = 0;
  // Per row, against the one-hot label: numerics::MeanSquaredError.
  virtual void MeanSquaredError(const LossArgs& args) const = 0;
  // Returns the number of rows whose largest output is at their label.
  virtual int64_t CountRight(std::span<const float> outputs,
                             std::span<const uint8_t> labels,
                             size_t classes) const = 0;
  // y[i][j] = x[i][j] - means[j].
  virtual void SubtractMeans(std::span<const float> x,
                             std::span<const float> means,
                             std::span<float> y) const = 0;
  // Before the call, next[j] is a sum over `rows` rows. After it, next[j] is
  // the moving mean that follows means[j] (numerics::MovingMean).
  virtual void MovingMeans(float momentum, uint64_t rows,
                           std::span<const float> means,
                           std::span<float> next) const = 0;
  virtual void Adam(const AdamArgs& args, std::span<const float> gradients,
                    UpdatedArray parameters, UpdatedArray m,
                    UpdatedArray v) const = 0;
  // velocity = momentum * velocity - rate * g; parameters += velocity.
  virtual void SgdMomentum(float rate, float momentum,
                           std::span<const float> gradients,
                           UpdatedArray parameters,
                           UpdatedArray velocity) const = 0;
  virtual void Sgd(float rate, std::span<const float> gradients,
                   UpdatedArray parameters) const = 0;
  // Return the sum, or the sum of squares, of all elements, in the form of
  // engine/numerics/numerics_sums.h.
  virtual float Sum(std::span<const float> x) const = 0;
  virtual float SumOfSquares(std::span<const float> x) const = 0;
  virtual void Scale(float factor, std::span<float> x) const = 0;
  // Clamps each element to [-limit, limit].
  virtual void ClipValues(float limit, std::span<float> x) const = 0;
  // Computes the digest (FloatDigestOf) of each block of x, as its low and high
  // half. The last block may be shorter. REQUIRES: block_floats is a multiple
  // of 256, and each block has more than kMaxShortDigestFloats floats (digests
  // of shorter blocks are computed differently).
  virtual void DigestBlocks(std::span<const float> x, size_t block_floats,
                            std::span<uint64_t> digests) const = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_KERNELS_H_
