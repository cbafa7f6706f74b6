// Functions of a device, in a table, so that they may come from a library that
// is opened at run time (engine/real/host/cuda_plugin.h).
//
// Arrays are in the device's memory. Operations run in the order of their
// calls. A call may return before its operation is done; `download` waits. The
// device records the first failure (of an operation, a lost device, a lack of
// memory). From then on it does nothing, downloads return +0, and `failure`
// returns the reason. Sizes may be 0. A device must not be used by two tasks at
// once, except for `await_fetch`.
#ifndef GAUNTLET_ENGINE_GPU_DEVICE_API_H_
#define GAUNTLET_ENGINE_GPU_DEVICE_API_H_

#include <cstddef>
#include <cstdint>

#include "engine/gpu/digest_kernel.h"
#include "engine/math/isa_kernels.h"
#include "engine/numerics.h"

namespace gauntlet::gpu {

// Version of this table and of all types that its functions take.
inline constexpr uint32_t kDeviceAbi = 5;

struct Device;  // defined by the maker of the table

struct DeviceText {
  char text[256] = {};
};
struct DeviceInfo {
  DeviceText name;  // "NVIDIA H100 80GB HBM3"
  uint64_t memory_bytes = 0;
  uint32_t multiprocessors = 0;
  uint32_t capability = 0;  // 90: 9.0
};

// Products by another library. Any bit of their results may differ from ours.
// kTensorFloat32 uses 10 mantissa bits of each factor.
enum class LibraryProducts : uint8_t { kFloat32, kTensorFloat32 };

struct ConvolutionArrays {
  numerics::ConvolutionShape shape;
  const float* x = nullptr;
  const float* kernel = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
};
struct KernelGradientArrays {
  numerics::ConvolutionShape shape;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* gradient = nullptr;
};
struct InputGradientArrays {
  numerics::ConvolutionShape shape;
  const float* dy = nullptr;
  const float* kernel = nullptr;
  float* dx = nullptr;
};
struct LossArrays {
  float* losses = nullptr;     // one per row
  float* gradients = nullptr;  // rows x classes
};
struct ChannelMeans {
  const float* x = nullptr;
  const float* means = nullptr;
  size_t columns = 0;
  float* y = nullptr;
};
struct MovingMeansArrays {
  float momentum = 0.0f;
  uint64_t rows = 0;
  const float* means = nullptr;
  float* next = nullptr;  // sums, replaced by means
};

struct DeviceApi {
  uint32_t abi;       // if not kDeviceAbi: do not use the table
  uint32_t numerics;  // numerics::kVersion
  const char* name;   // "cuda", "emulated"

  // Returns the number of devices; if it cannot be determined, -1 and the
  // reason.
  int (*count)(DeviceText* why);
  // On failure returns false and the reason.
  bool (*describe)(int index, DeviceInfo* info, DeviceText* why);
  // On failure returns null and the reason.
  Device* (*open)(int index, DeviceText* why);
  void (*close)(Device*);
  // Waits for all operations. Returns the first failure; empty: none.
  const char* (*failure)(Device*);

  // Returns memory aligned to 256 bytes; null if there is not enough.
  void* (*allocate)(Device*, size_t bytes);
  // Like `allocate`, for memory that the caller can do without. Returns null if
  // too little memory would remain for operations. Unlike a null from
  // `allocate`, this does not mean that the device has failed.
  void* (*allocate_if_room)(Device*, size_t bytes);
  void (*release)(Device*, void*);
  // Pins memory of the host until `unpin`, so that copies run at full speed.
  // The caller must unpin the memory before it is freed. If the memory cannot
  // be pinned, copies are only slower.
  void (*pin)(Device*, void* memory, size_t bytes);
  void (*unpin)(Device*, void* memory);
  void (*upload)(Device*, void* to, const void* from, size_t bytes);
  void (*download)(Device*, void* to, const void* from, size_t bytes);
  // Copies `from` to the host, with the values that it has after all earlier
  // operations. Later operations run at the same time; they must not change
  // `from` until `await_fetch` has returned. One fetch at a time.
  void (*fetch)(Device*, void* to, const void* from, size_t bytes);
  // Waits for the fetch; a task other than the device's own may call it. If the
  // fetch failed, returns false and the reason.
  bool (*await_fetch)(Device*, DeviceText* why);
  void (*copy)(Device*, void* to, const void* from, size_t bytes);
  void (*clear)(Device*, void* to, size_t bytes);  // fills with +0

  // Makes mat_mul use another library from now on. Returns false and the reason
  // if there is none.
  bool (*use_library)(Device*, LibraryProducts, DeviceText* why);

  // The operations of Kernels (engine/math/kernels.h).
  void (*mat_mul)(Device*, const Product&);
  void (*column_sums)(Device*, const ColumnBlock&, float* out);
  void (*convolution)(Device*, const ConvolutionArrays&);
  void (*kernel_gradient)(Device*, const KernelGradientArrays&);
  void (*input_gradient)(Device*, const InputGradientArrays&);
  void (*activate)(Device*, numerics::Activation, const float* x, float* y,
                   size_t count);
  void (*activation_gradient)(Device*, numerics::Activation, const float* x,
                              const float* dy, float* dx, size_t count);
  void (*dropout)(Device*, const DropoutRows&, const float* x, float* y);
  void (*accumulate)(Device*, const float* x, float* acc, size_t count);
  void (*cross_entropy)(Device*, const CrossEntropyRows&, const LossArrays&);
  void (*squared_error)(Device*, const CrossEntropyRows&, const LossArrays&);
  void (*right_rows)(Device*, const CrossEntropyRows&, uint8_t* right);
  void (*subtract_means)(Device*, const ChannelMeans&, size_t count);
  void (*moving_means)(Device*, const MovingMeansArrays&, size_t count);
  void (*adam)(Device*, const numerics::AdamRates&, const AdamArrays&,
               size_t count);
  void (*sgd_momentum)(Device*, const SgdRates&, const AdamArrays&,
                       size_t count);  // m is the velocity
  void (*sgd)(Device*, float rate, const AdamArrays&, size_t count);
  void (*sum)(Device*, const float* x, size_t count, float* result);
  void (*sum_of_squares)(Device*, const float* x, size_t count, float* result);
  void (*scale)(Device*, float factor, float* x, size_t count);
  void (*clip_values)(Device*, float limit, float* x, size_t count);
  // Stores the low and the high half of each block's digest. REQUIRES: each
  // block has more than 240 bytes.
  void (*digest_blocks)(Device*, const DigestBlocks& blocks);
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_DEVICE_API_H_
