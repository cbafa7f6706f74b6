// Values of an HDF5 file, written out by a process of their own.
//
// libhdf5 is not hardened: a damaged file can crash it or let it run for ever.
// So a forked process reads the file and writes what it finds to a plain file,
// which the parent checks and reads:
//
//   record*: u64 tag | name | type | u64 bytes of an element | u64 1 if they
//            are big-endian | u64 dimensions | u64 each | u64 size | bytes
//
// Texts have their length, u64, before them. A value of tag kInFile has, in
// place of the bytes, u64 the offset at which they stand in the HDF5 file. The
// last record is kEnd or kFailure, which have one text; a file without either
// is that of a process that crashed.
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

// Writes the values of the HDF5 file to another one; both are descriptors. At
// most `limit` bytes of values. No plugins are loaded, and external links,
// external storage and virtual data sets are not followed. To be called in a
// process that ends afterwards.
void WriteHdf5Values(int hdf5, int values, uint64_t limit);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_HDF5_VALUES_H_
