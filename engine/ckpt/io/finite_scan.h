// Finds the tensors of a shard that contain values that are not finite. Scans
// block by block while the shard is written, as each block is then in the CPU
// cache.
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
  // Both arguments must outlive this object.
  FiniteScan(const SafetensorsLayout& layout,
             std::span<const TensorView> tensors);

  // Scans the next bytes of the file. REQUIRES: the last byte of `block` is the
  // last byte of an element.
  void Update(std::span<const std::byte> block);

  // Returns the names of the float32 tensors for which the scanned bytes
  // contain a value that is not finite, in file order.
  std::vector<std::string> NotFiniteTensors() const;

 private:
  // A tensor in the file.
  struct Part {
    const TensorView* tensor = nullptr;
    uint64_t end = 0;  // offset in the file
    bool finite = true;
  };

  uint64_t at_ = 0;  // offset of the next block
  uint64_t data_begins_ = 0;
  std::vector<Part> parts_;
  size_t next_ = 0;  // index of the part at or after at_
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_FINITE_SCAN_H_
