// Extracts the values of an HDF5 file in a separate process.
//
// libhdf5 is not hardened: a damaged file can crash it or make it run forever.
// So a forked process reads the file and writes the values to a plain file,
// which the parent checks and reads:
//
//   record*: u64 tag | name | type | u64 bytes of an element | u64 1 if they
//            are big-endian | u64 number of dimensions | u64 length of each
//            dimension | u64 number of bytes of the value | its bytes
//
// Each text is preceded by its length, a u64. In a record with tag kInFile, a
// u64 replaces the bytes: their offset in the HDF5 file. The last record is
// kEnd or kFailure, with one text. A file with neither comes from a process
// that crashed.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_VALUES_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_VALUES_H_

#include <cstdint>

namespace gauntlet {

enum class Hdf5Tag : uint64_t {
  kHere = 1,
  kInFile = 2,
  kEnd = 3,
  kFailure = 4
};

// Writes the values of the HDF5 file to another file, at most `limit` bytes of
// values; both arguments are descriptors. Loads no plugins and follows no
// external links, external storage or virtual data sets. Call it in a process
// that ends afterwards.
void WriteHdf5Values(int hdf5, int values, uint64_t limit);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_VALUES_H_
