// Every disk that a power loss can leave at this moment: the outcomes of a
// SimDisk's pending changes, enumerated instead of drawn at random.
//
// An outcome is a choice of the pending changes of names that survived, and for
// each file that can then be reached one of its possible contents. Outcomes
// that look alike (a name below a directory that is gone, a block torn where
// old and new agree) are one image. Without a bound the images are those that
// SimDisk::PowerLoss leaves over all answers of its ChoiceSource.
//
// The bound. All outcomes are taken as far as they are few:
// - names: all subsets (under kExt4 all prefixes) up to `names_up_to`; beyond,
//   the prefixes, those with one change missing (ALICE's omit; of more than 24
//   changes, one of a prefix's newest 8), and the subsets in which at most two
//   changes are missing or at most two are there (one, of more than 24);
// - the contents of one file: all sizes and all ways of its blocks up to
//   `contents_up_to`; beyond, each size with all blocks new, with all old, and
//   with one block differing from these, torn or whole;
// - files together: all combinations up to `combinations_up_to` for one choice
//   of names; beyond, each file untouched or complete, in all combinations, and
//   one file in any of its contents with the others all untouched or all
//   complete. Of more than 12 files at most one differs from the others. Where
//   not all choices of names are taken, so it is with a prefix of the names
//   only, contents that are neither of the two come only where at most the
//   newest 8 names are missing, and with other names all files are alike.
// Outcomes left out are counted: an upper bound of the images left out.
#ifndef GAUNTLET_CHAOS_SIM_DISK_CRASH_IMAGES_H_
#define GAUNTLET_CHAOS_SIM_DISK_CRASH_IMAGES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "chaos/sim/disk/disk_image.h"
#include "chaos/sim/disk/disk_log.h"
#include "chaos/sim/disk/sim_disk.h"
#include "engine/digest.h"

namespace gauntlet {

struct CrashBound {
  uint64_t names_up_to = 4096;
  uint64_t contents_up_to = 300;
  uint64_t combinations_up_to = 4096;
};

// The contents that a power loss can leave of one file.
struct FileOutcomes {
  struct Outcome {
    std::shared_ptr<ImageFile> file;
    Digest digest;  // the content's
    uint64_t size = 0;
    std::vector<uint64_t> blocks;  // an outcome for each dirty block in reach
  };
  // The first: nothing pending survived; the second: all of it. No two alike.
  std::vector<Outcome> list;
  double total = 0;  // without the bound; the list's size if that is complete
  Digest look;       // digest over all digests in the list
};

// State of a file's data when the change of its name reached the disk.
enum class FileData : uint8_t { kPending, kFlushed };

// Outcomes of files that did not change from one crash point to the next.
// Serves one disk.
using FileOutcomesCache =
    std::map<std::tuple<uint64_t, FileData>,
             std::pair<uint64_t, std::shared_ptr<const FileOutcomes>>>;

// An image, by the choices that make it.
struct CrashImage {
  size_t names = 0;             // which choice of names
  std::vector<uint32_t> files;  // index of each pending file's outcome
  // Digest of the tree of names and contents: equal for equal images.
  Digest hash;
};

class CrashImages {
 public:
  // The disk must not change while this is in use.
  CrashImages(const SimDisk& disk, const CrashBound& bound,
              FileOutcomesCache& cache);

  // Visits each outcome within the bound until `visit` returns false. The image
  // is valid during the call.
  void ForEach(const std::function<bool(const CrashImage&)>& visit) const;
  // The image in which every pending change survived: the one readers see.
  CrashImage Everything() const;
  void Build(const CrashImage& image, ImageDirectory& root) const;

  uint64_t enumerated() const { return enumerated_; }
  double left_out() const { return left_out_; }
  // One line for each change that was pending, with its outcome in the image.
  // `log` is the disk's.
  std::vector<std::string> Describe(const CrashImage& image,
                                    const DiskLog& log) const;

 private:
  // The combinations of files that are taken.
  enum class Reach : uint8_t { kAll, kCombined, kPartial, kOneDiffers, kAlike };
  // A name in one choice of names, parents before children.
  struct Entry {
    std::string name;
    size_t parent = 0;  // index; of the root itself 0
    const Inode* inode = nullptr;
    std::shared_ptr<const FileOutcomes> outcomes;  // files only
    size_t pending = SIZE_MAX;                     // index into `files`
  };
  struct Names {
    std::vector<bool> kept;  // by index of the disk's pending changes
    std::vector<Entry> entries;
    std::vector<size_t> files;               // entries with several outcomes
    std::vector<std::vector<Digest>> terms;  // by index in `files`, outcome
    Digest base;                             // sum over the other entries
    Digest look;                             // sum over all possible contents
    Reach reach = Reach::kAll;
  };
  using Visit = std::function<bool(const CrashImage&)>;

  std::vector<std::vector<bool>> ChoicesOfNames() const;
  void AddNames(const std::vector<bool>& kept);
  void AddEntries(const SimDisk::KeptNames& kept, const Inode& directory,
                  Digest path, Names& names);
  double TotalOf(const Names& names) const;
  void Count(Names& names);
  std::shared_ptr<const FileOutcomes> OutcomesOf(const Inode& file,
                                                 FileData data);
  FileOutcomes ListOutcomes(const Inode& file, FileData data) const;

  bool VisitWhole(const Names& names, CrashImage& image,
                  const Visit& visit) const;
  bool VisitPlain(const Names& names, CrashImage& image,
                  const Visit& visit) const;
  bool VisitPartial(const Names& names, CrashImage& image,
                    const Visit& visit) const;

  const SimDisk& disk_;
  const CrashBound bound_;
  FileOutcomesCache& cache_;
  std::vector<Names> names_;
  size_t everything_ = 0;  // the choice of all names
  uint64_t enumerated_ = 0;
  double names_left_out_ = 0;
  double left_out_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_CRASH_IMAGES_H_
