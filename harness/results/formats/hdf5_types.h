// Types and shapes of HDF5 data sets and attributes, for the process that reads
// them (hdf5_values.h).
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_TYPES_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/element_type.h"
#include <hdf5.h>

namespace gauntlet {

// Closes an HDF5 object on destruction.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  const hid_t id_;
  herr_t (*const close_)(hid_t);
};

// Thrown if a file cannot be read. It must not pass through HDF5, which is C:
// callbacks catch it, and its reason is reported when HDF5 has returned.
struct Hdf5Failure {
  std::string reason;
};

// Type and shape of a data set or an attribute.
struct Hdf5Description {
  ElementType type;
  std::vector<hsize_t> shape;
  uint64_t elements = 1;
  uint64_t bytes = 0;
};

// Returns nullopt if there are no elements at all (H5S_NULL).
std::optional<Hdf5Description> DescribeHdf5(hid_t space, hid_t type,
                                            const std::string& name);

// Returns true iff the type is text of variable length.
bool IsHdf5Text(hid_t type);
// Returns true iff elements contain addresses: of texts, of other arrays of
// variable length, or of objects in the file.
bool HasAddresses(hid_t type);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_TYPES_H_
