#include "reports/bench/scale_page.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/markup_check.h"
#include "tests/reports/sample_goodput.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns clusters of these sizes. Figures with a unit grow in proportion to
// the number of workers, the others in proportion to the root of that number.
ScaleResult Clusters(const std::vector<int>& workers) {
  ScaleResult result;
  result.context.date = "2026-11-27T10:00:00Z";
  result.context.version = "<b>0.1.0</b>";
  for (const int count : workers) {
    ScaleFigures figures = {.workers = count};
    for (const ScaleMetricInfo& info : AllScaleMetrics()) {
      figures.of(info.metric) = info.unit ? 0.01 * count : std::sqrt(count);
    }
    result.figures.push_back(figures);
  }
  return result;
}

// Returns the page from the title of a plot to the end of the plot.
std::string PlotOf(const std::string& page, const std::string& title) {
  const size_t begin = page.find("<figcaption>" + title);
  if (begin == page.npos) return "";
  return page.substr(begin, page.find("</figure>", begin) - begin);
}

TEST(ScalePageTest, IsSoundMarkup) {
  const std::vector<std::vector<int>> sizes = {{}, {4}, {4, 16, 64}};
  for (const std::vector<int>& workers : sizes) {
    const std::string page = RenderScalePage(Clusters(workers));
    EXPECT_EQ(FirstUnbalancedTag(page), "") << workers.size() << " clusters";
    EXPECT_THAT(page, Not(HasSubstr("<b>0.1")));
    EXPECT_EQ(page.find("No cluster finished.") != page.npos, workers.empty());
  }
}

TEST(ScalePageTest, PlotsGrowthOnLogarithmicAxes) {
  const std::string page = RenderScalePage(Clusters({4, 16, 64}));
  const std::string times = PlotOf(page, "Times against workers");
  for (const char* name :
       {"form", "step", "save", "detect", "restart", "rejoin"}) {
    EXPECT_THAT(times, HasSubstr(fmt::format("</svg>{}</span>", name)));
  }
  // The corners of the area that the axes enclose, and its centre, as 16 is the
  // geometric mean of 4 and 64.
  for (const char* point :
       {"cx=\"74.0\" cy=\"218.0\"", "cx=\"268.0\" cy=\"115.0\"",
        "cx=\"462.0\" cy=\"12.0\""}) {
    EXPECT_THAT(times, HasSubstr(point));
  }
  EXPECT_THAT(PlotOf(page, "Messages of a worker"),
              HasSubstr("</svg>restart_messages</span>"));
  EXPECT_THAT(PlotOf(page, "Memory of the simulation"),
              HasSubstr("</svg>memory</span>"));
}

TEST(ScalePageTest, PlotsNothingOfASingleCluster) {
  const std::string page = RenderScalePage(Clusters({4}));
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
  EXPECT_THAT(page, Not(HasSubstr("grows like")));
  EXPECT_THAT(page, HasSubstr("restart_messages"));
}

TEST(ScalePageTest, OmitsValuesWithoutALogarithm) {
  ScaleResult result = Clusters({4, 16});
  result.figures[0].of(ScaleMetric::kMemory) = 0;
  const std::string memory =
      PlotOf(RenderScalePage(result), "Memory of the simulation");
  EXPECT_THAT(memory, HasSubstr("<circle"));
  EXPECT_THAT(memory, Not(HasSubstr("inf")));
  EXPECT_THAT(memory, Not(HasSubstr("nan")));
}

TEST(ScalePageTest, TableHasTheGrowthBetweenTheLargestClusters) {
  const std::string page = RenderScalePage(Clusters({4, 16, 64}));
  EXPECT_THAT(page, HasSubstr("class=\"number\">64 workers</th>"));
  EXPECT_THAT(page, HasSubstr("N^1.00"));
  EXPECT_THAT(page, HasSubstr("N^0.50"));
}

TEST(ScalePageTest, MemoryThatFallsDoesNotGrow) {
  ScaleResult result = Clusters({4, 8});
  result.figures[1].of(ScaleMetric::kMemory) = 0.01;
  result.figures[1].of(ScaleMetric::kInterval) = 0.01;
  const std::string page = RenderScalePage(result);
  EXPECT_THAT(page, HasSubstr("does not grow"));
  EXPECT_THAT(page, HasSubstr("N^-2.00"));  // growth of the interval
}

TEST(ScalePageTest, FailureRateIsThatOfALargerJob) {
  ScaleResult result = Clusters({4, 8});
  result.setup.of_workers = 16384;
  EXPECT_THAT(RenderScalePage(result),
              HasSubstr("at the failure rate of a job with 16384 workers that "
                        "is interrupted once in "));
}

TEST(ScalePageTest, DrawsGoodputBesideFormula) {
  ScaleResult result = Clusters({4, 16});
  result.figures[1].goodput = kSampleGoodput;
  const std::string page = RenderScalePage(result);
  EXPECT_EQ(FirstUnbalancedTag(page), "");
  const std::string plot = PlotOf(page, "Goodput under 50 failures: 16 ");
  EXPECT_THAT(plot, HasSubstr("</svg>Young-Daly</span>"));
  EXPECT_THAT(plot, HasSubstr("</svg>measured</span>"));
  EXPECT_THAT(page, HasSubstr("measured 80.0 %, Daly&#39;s formula 81.0 %"));
}

TEST(ScalePageTest, NamesVoidClustersAndLeavesThemOut) {
  ScaleResult result = Clusters({4, 16, 64});
  result.figures[2].voided = "final state <i>";
  const std::string page = RenderScalePage(result);
  EXPECT_THAT(page, HasSubstr("<strong>Void:</strong> 64 workers: final state "
                              "&lt;i&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("class=\"number\">64 workers</th>")));
}

}  // namespace
}  // namespace gauntlet
