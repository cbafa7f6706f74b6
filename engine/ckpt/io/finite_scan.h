// Finds the tensors of a shard that have values that are not finite, while its
// blocks are written: they are in the processor's cache then.
#ifndef GAUNTLET_ENGINE_CKPT_IO_FINITE_SCAN_H_
#define GAUNTLET_ENGINE_CKPT_IO_FINITE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include "engine/tensor.h"

namespace gauntlet {

class FiniteScan {
 public:
  // Both outlive it.
  FiniteScan(const SafetensorsLayout& layout,
             std::span<const TensorView> tensors);

  // The next bytes of the file. REQUIRES: as many as make whole elements.
  void Take(std::span<const std::byte> block);

  // Names of the float32 tensors with a value that is not finite, among what
  // was taken, in the order of the file.
  std::vector<std::string> NotFinite() const;

 private:
  // A tensor of the file.
  struct Part {
    const TensorView* tensor = nullptr;
    uint64_t end = 0;  // offset in the file
    bool finite = true;
  };

  uint64_t at_ = 0;  // offset of the next block
  uint64_t data_begins_ = 0;
  std::vector<Part> parts_;
  size_t next_ = 0;  // the part that at_ is in, or before
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_FINITE_SCAN_H_
