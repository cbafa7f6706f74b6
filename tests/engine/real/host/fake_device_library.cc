// A library like libgauntlet_cuda.so, but of another build, which a macro
// selects.
#include "engine/gpu/cuda_entry.h"

extern "C" __attribute__((visibility("default")))
const gauntlet::gpu::DeviceApi*
gauntlet_cuda_device(uint32_t) {
  static const gauntlet::gpu::DeviceApi api = [] {
    gauntlet::gpu::DeviceApi table = {};
    table.abi = FAKE_ABI;
    table.numerics = FAKE_NUMERICS;
    return table;
  }();
  return FAKE_ABI == 0 ? nullptr : &api;
}
