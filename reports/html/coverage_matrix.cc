#include "reports/html/coverage_matrix.h"

#include <algorithm>

#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the shade of a cell: 1 for one or two faults, up to 4 for a hundred.
int ShadeOf(uint64_t fired) {
  if (fired >= 100) return 4;
  if (fired >= 10) return 3;
  return fired >= 3 ? 2 : 1;
}

std::string PointText(const std::string& point) {
  return point.empty() ? "(no point)" : HtmlText(point);
}

void AddFired(const std::vector<RecordEvent>& events,
              std::set<std::string>& fired) {
  for (const RecordEvent& event : events) {
    if (event.kind == RecordKind::kFaultFired ||
        event.kind == RecordKind::kFaultAgain) {
      fired.insert(event.detail);
    }
  }
}

}  // namespace

std::set<std::string> FaultsThatFired(const Record& record) {
  std::set<std::string> fired;
  for (const IncarnationEvents& incarnation : record.incarnations)
    AddFired(incarnation.events, fired);
  for (const LauncherRun& run : record.launchers) AddFired(run.events, fired);
  AddFired(record.machine, fired);
  return fired;
}

CoverageMatrix::CoverageMatrix(const FaultCatalogue& catalogue)
    : kinds_(catalogue.kinds.begin(), catalogue.kinds.end()),
      points_(catalogue.points.begin(), catalogue.points.end()),
      impossible_(catalogue.impossible) {}

void CoverageMatrix::Add(const Record& record) {
  ++records_;
  const std::set<std::string> fired = FaultsThatFired(record);
  for (const RecordFault& fault : record.faults) {
    Add(fault.kind, fault.point, 1, fired.contains(fault.id) ? 1 : 0);
  }
}

void CoverageMatrix::Add(const std::string& kind, const std::string& point,
                         uint64_t planned, uint64_t fired) {
  kinds_.insert(kind);
  points_.insert(point);
  impossible_.erase({kind, point});
  Cell& cell = cells_[{kind, point}];
  cell.planned += planned;
  cell.fired += fired;
}

const CoverageMatrix::Cell* CoverageMatrix::Find(
    const std::string& kind, const std::string& point) const {
  const auto found = cells_.find({kind, point});
  return found == cells_.end() ? nullptr : &found->second;
}

bool CoverageMatrix::IsPlanned(const std::string& point) const {
  return std::ranges::any_of(
      cells_, [&](const auto& entry) { return entry.first.second == point; });
}

std::string CoverageMatrix::Row(const std::string& point) const {
  std::string cells;
  uint64_t total = 0;
  for (const std::string& kind : kinds_) {
    const Cell* cell = Find(kind, point);
    if (cell == nullptr) {
      cells += impossible_.contains({kind, point}) ? "<td></td>"
                                                   : "<td class=\"hole\"></td>";
      continue;
    }
    total += cell->fired;
    if (cell->fired == 0) {
      cells += fmt::format(
          "<td class=\"never\" title=\"{} planned, none fired\">0</td>",
          cell->planned);
      continue;
    }
    cells += fmt::format(
        "<td class=\"s{}\" title=\"{} at {}: {} of {} fired\">{}</td>",
        ShadeOf(cell->fired), HtmlText(kind), PointText(point), cell->fired,
        cell->planned, cell->fired);
  }
  // A 0 means that planned faults never fired.
  return fmt::format(
      "<tr><th scope=\"row\">{}</th>{}<td class=\"total\">{}</td></tr>\n",
      PointText(point), cells,
      IsPlanned(point) ? fmt::format("{}", total) : "");
}

std::string CoverageMatrix::Render() const {
  if (kinds_.empty()) return "<p>No faults are planned.</p>\n";
  const size_t pairs = kinds_.size() * points_.size() - impossible_.size();
  std::string out = fmt::format(
      "<p>{} of {} pairs of {} and {} are planned in a case. A number says how "
      "often a fault of the pair fired, in all cases (a case that ran in both "
      "worlds counts twice); <span class=\"key never\">0</span>: "
      "some are planned, and none fired. <span class=\"key hole\" "
      "aria-hidden=\"true\"></span> A dashed frame without a number: no case "
      "plans the pair. {}</p>\n",
      GroupedDigits(cells_.size()), GroupedDigits(pairs),
      GroupedCount(kinds_.size(), "fault kind"),
      GroupedCount(points_.size(), "fault point"),
      impossible_.empty() ? "Not every pair is possible."
                          : "The cells of impossible pairs are empty.");
  out +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"coverage matrix\"><table class=\"matrix\"><thead><tr>"
      "<th scope=\"col\">point</th>";
  for (const std::string& kind : kinds_) {
    out +=
        fmt::format("<th scope=\"col\"><span>{}</span></th>", HtmlText(kind));
  }
  out +=
      "<th scope=\"col\" class=\"total\"><span>all kinds</span></th></tr>"
      "</thead>\n<tbody>\n";
  // With one case hardly any row has a number, so empty rows are hidden.
  size_t hidden = 0;
  for (const std::string& point : points_) {
    if (records_ == 1 && !IsPlanned(point)) {
      ++hidden;
    } else {
      out += Row(point);
    }
  }
  out += "</tbody></table></div>\n";
  if (hidden > 0) {
    out += fmt::format(
        "<p class=\"muted\">{} at which no fault is planned {} "
        "not shown, as only one case ran.</p>\n",
        GroupedCount(hidden, "fault point"), hidden == 1 ? "is" : "are");
  }
  return out;
}

}  // namespace gauntlet
