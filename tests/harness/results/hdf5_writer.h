// HDF5 files, written by libhdf5 in memory.
#ifndef GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_
#define GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_

#include <functional>
#include <string>
#include <vector>

#include <hdf5.h>

namespace gauntlet {

// Returns the bytes of a file that `write` fills.
std::string Hdf5(const std::function<void(hid_t file)>& write);

// Writes a data set. `creation` is its creation property list.
void WriteFloats(hid_t group, const char* name,
                 const std::vector<hsize_t>& shape,
                 const std::vector<float>& values,
                 hid_t creation = H5P_DEFAULT);
// As WriteFloats, in chunks compressed with gzip.
void WriteChunkedFloats(hid_t group, const char* name,
                        const std::vector<hsize_t>& shape,
                        const std::vector<float>& values);
void WriteTextAttribute(hid_t object, const char* name, const char* text);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_
