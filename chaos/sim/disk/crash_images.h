// Every disk state that a power loss can leave at this moment: enumerates the
// outcomes of a SimDisk's pending changes instead of drawing one at random.
//
// An outcome is a choice of the pending changes of names that survived, and of
// one possible content for each file that is then reachable. Outcomes that
// leave equal trees (as with a name below a removed directory, or a block torn
// where old and new are equal) are one image. Without a bound, the images are
// all that SimDisk::PowerLoss can leave.
//
// Bound. For each of these choices, all outcomes are enumerated up to a limit;
// beyond it, only some:
// - names: under kExt4, all prefixes. Under the other profiles, all subsets if
//   there are at most `names_up_to`. If there are more: the prefixes, prefixes
//   with one change missing (ALICE's omit), and the subsets in which at most
//   two changes are missing or at most two survive. If there are more than 24
//   changes, the one missing from a prefix is among its newest 8, and "at most
//   two" becomes "at most one";
// - one file: if there are at most `contents_up_to` contents, all sizes with
//   all outcomes of the blocks. If there are more: each size with all blocks
//   new, with all blocks old, and with one block that differs from these, torn
//   or whole;
// - several files, for one choice of names: all combinations of their contents,
//   if there are at most `combinations_up_to` and no choice of names was left
//   out. If not: each file untouched (no pending data survived) or complete
//   (all did), in all combinations; and one file with any of its contents, with
//   the others all untouched or all complete. With more than 12 files, or if
//   choices of names were left out, at most one file then differs from the
//   others, and only if a prefix of the names survives. If choices of names
//   were left out, contents other than untouched and complete are listed only
//   if this prefix lacks at most the newest 8 names.
//
// left_out() counts the outcomes left out. This is an upper bound for the
// number of images left out.
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

// The possible contents of one file after a power loss.
struct FileOutcomes {
  struct Outcome {
    std::shared_ptr<ImageFile> file;
    Digest digest;  // of the content
    uint64_t size = 0;
    std::vector<uint64_t> blocks;  // outcomes of the dirty blocks within `size`
  };
  // First: nothing pending survived. Second, if it is another content:
  // everything survived. All are different.
  std::vector<Outcome> list;
  size_t complete = 0;  // index of the content in which everything survived
  double total = 0;  // number without the bound; list.size() if all are listed
  Digest look;       // digest over all digests in the list
};

// State of a file's data when its change of name reached the disk.
enum class FileData : uint8_t { kPending, kFlushed };

// Outcomes of files, by inode number, each with the Inode::version that it
// belongs to. So they are computed again only for a file that changed between
// two crash points. For one disk only.
using FileOutcomesCache =
    std::map<std::tuple<uint64_t, FileData>,
             std::pair<uint64_t, std::shared_ptr<const FileOutcomes>>>;

// An image, described by the choices that lead to it.
struct CrashImage {
  size_t names = 0;             // index of the choice of names
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
  // is valid only during the call.
  void ForEach(const std::function<bool(const CrashImage&)>& visit) const;
  // Returns the image in which every pending change survived; it has the
  // contents that readers see.
  CrashImage Everything() const;
  void Build(const CrashImage& image, ImageDirectory& root) const;

  uint64_t enumerated() const { return enumerated_; }
  double left_out() const { return left_out_; }
  // Returns one line for each pending change, with its outcome in the image.
  // `log` must be the disk's.
  std::vector<std::string> Describe(const CrashImage& image,
                                    const DiskLog& log) const;

 private:
  // Combinations of files' outcomes that are enumerated.
  enum class Reach : uint8_t { kAll, kCombined, kPartial, kOneDiffers, kAlike };
  // A name in one choice of names, parents before children.
  struct Entry {
    std::string name;
    size_t parent = 0;  // index; 0 for the root itself
    const Inode* inode = nullptr;
    std::shared_ptr<const FileOutcomes> outcomes;  // files only
    size_t pending = SIZE_MAX;                     // index into `files`
  };
  struct Names {
    std::vector<bool> kept;  // by index of the disk's pending changes
    std::vector<Entry> entries;
    std::vector<size_t> files;               // entries with several outcomes
    std::vector<std::vector<Digest>> terms;  // by index in `files`, outcome
    Digest base;                             // sum over entries not in `files`
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
