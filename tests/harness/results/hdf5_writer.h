// HDF5 files, written by libhdf5 in memory.
#ifndef GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_
#define GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_

#include <functional>
#include <string>
#include <vector>

#include <hdf5.h>

namespace gauntlet {

// Bytes of a file that `write` fills; it gets its id.
std::string Hdf5(const std::function<void(hid_t file)>& write);

// `creation` is a list of properties of data sets.
void WriteFloats(hid_t group, const char* name,
                 const std::vector<hsize_t>& shape,
                 const std::vector<float>& values,
                 hid_t creation = H5P_DEFAULT);
// The same, in chunks that gzip compresses.
void WriteChunkedFloats(hid_t group, const char* name,
                        const std::vector<hsize_t>& shape,
                        const std::vector<float>& values);
void WriteTextAttribute(hid_t object, const char* name, const char* text);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RESULTS_HDF5_WRITER_H_
