// Faults of a run as a matrix of fault kinds and fault points.
#ifndef GAUNTLET_REPORTS_HTML_COVERAGE_MATRIX_H_
#define GAUNTLET_REPORTS_HTML_COVERAGE_MATRIX_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Names that plans can use, in addition to those in the records. A name that no
// case uses is an empty row or column.
struct FaultCatalogue {
  std::vector<std::string> kinds;   // "torn_write"
  std::vector<std::string> points;  // "ckpt.shard.write"
  // Pairs of kind and point that make no fault. Empty: not known.
  std::set<std::pair<std::string, std::string>> impossible = {};
};

class CoverageMatrix {
 public:
  explicit CoverageMatrix(const FaultCatalogue& catalogue);

  void Add(const Record& record);
  // Adds faults of one kind at one point; `fired` of `planned` fired.
  void Add(const std::string& kind, const std::string& point, uint64_t planned,
           uint64_t fired);
  // Returns a table with a row for each point and a column for each kind. With
  // a single record, points without a planned fault are only counted.
  std::string Render() const;
  // Returns the number of pairs of kind and point that have a planned fault.
  size_t planned_pairs() const { return cells_.size(); }

 private:
  struct Cell {
    uint64_t planned = 0;
    uint64_t fired = 0;
  };

  bool IsPlanned(const std::string& point) const;
  const Cell* Find(const std::string& kind, const std::string& point) const;
  std::string Row(const std::string& point) const;

  std::set<std::string> kinds_;
  std::set<std::string> points_;  // "": a fault without a point
  std::set<std::pair<std::string, std::string>> impossible_;
  std::map<std::pair<std::string, std::string>, Cell> cells_;
  size_t records_ = 0;  // number of added records
};

// Returns the ids of the faults that fired.
std::set<std::string> FaultsThatFired(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_COVERAGE_MATRIX_H_
