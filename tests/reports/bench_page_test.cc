#include "reports/bench/bench_page.h"

#include <gtest/gtest.h>

#include "reports/bench/waterfall.h"
#include "reports/bench/xy_plot.h"
#include "tests/reports/markup_check.h"
#include "tests/reports/sample_goodput.h"

namespace gauntlet {
namespace {

CheckpointFigures FiguresOf(std::optional<SaveMode> mode, uint64_t state,
                            uint64_t every) {
  CheckpointFigures figures = {
      .config = {
          .mode = mode, .state_bytes = state, .every = every, .workers = 1}};
  figures.of(Metric::kStep) = {0.001, 0.002, 0.003};
  if (!mode) return figures;
  figures.of(Metric::kStall) = {0.004, 0.005, 0.006};
  for (const Metric part : kRecoveryParts) figures.of(part) = {0.1, 0.2, 0.3};
  figures.of(Metric::kRecovery) = {0.5, 1.0, 1.5};
  return figures;
}

CheckpointResult Sample() {
  CheckpointResult result;
  result.context = {.date = "2026-11-27T10:00:00Z",
                    .host = "<b>host</b>",
                    .cpu = "EPYC",
                    .cpus = 2,
                    .version = "0.1.0",
                    .file_system = "ext4"};
  for (const uint64_t state : {uint64_t{1'000'000}, uint64_t{10'000'000}}) {
    for (const uint64_t every : {1, 10}) {
      result.figures.push_back(FiguresOf(std::nullopt, state, every));
      result.figures.push_back(FiguresOf(SaveMode::kAsync, state, every));
    }
  }
  result.machine = {{.bytes = 1'000'000, .values = {}}};
  result.machine[0].values[0] = {8e9};
  return result;
}

TEST(BenchPage, IsSoundMarkup) {
  EXPECT_EQ(FirstUnbalancedTag(RenderBenchPage(Sample())), "");
  EXPECT_EQ(FirstUnbalancedTag(RenderBenchPage(CheckpointResult())), "");
}

TEST(BenchPage, EscapesHost) {
  const std::string page = RenderBenchPage(Sample());
  EXPECT_EQ(page.find("<b>host"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;host"), std::string::npos);
}

TEST(BenchPage, PlotsFiguresWithSeveralValues) {
  const std::string page = RenderBenchPage(Sample());
  EXPECT_NE(page.find("Step against interval: 1MB, 1 worker"),
            std::string::npos);
  EXPECT_NE(page.find("Stall against state: a save every 10 steps, 1 worker"),
            std::string::npos);
  CheckpointResult one = Sample();
  one.figures.resize(2);
  const std::string small = RenderBenchPage(one);
  EXPECT_EQ(small.find("Step against interval"), std::string::npos);
  EXPECT_EQ(small.find("Stall against state"), std::string::npos);
  EXPECT_NE(small.find("class=\"waterfall\""), std::string::npos);
}

// Returns the waterfall of the page.
std::string WaterfallOf(const CheckpointResult& result) {
  const std::string page = RenderBenchPage(result);
  const size_t begin = page.find("<figure class=\"waterfall\">");
  return page.substr(begin, page.find("</figure>", begin) - begin);
}

TEST(BenchPage, WaterfallShowsMediansOfAllTrials) {
  CheckpointResult result = Sample();
  result.figures = {FiguresOf(SaveMode::kAsync, 1'000'000, 1)};
  CheckpointFigures& figures = result.figures.front();
  // The median of four trials lies between the two values in the middle.
  figures.of(Metric::kJoin) = {9, 0.01, 0.04, 0.02};
  figures.of(Metric::kRecovery) = {1, 2, 3, 4};
  std::string waterfall = WaterfallOf(result);
  EXPECT_NE(waterfall.find("title=\"detect: 200 ms\""), std::string::npos);
  EXPECT_NE(waterfall.find("title=\"join: 30.0 ms\""), std::string::npos);
  EXPECT_NE(waterfall.find("<span class=\"total\">830 ms</span>"),
            std::string::npos);
  EXPECT_NE(waterfall.find("the median of 4 trials, the total their sum"),
            std::string::npos);
  EXPECT_NE(waterfall.find("async 1MB, 1 worker<"), std::string::npos);
  result.figures.push_back(FiguresOf(SaveMode::kAsync, 1'000'000, 10));
  waterfall = WaterfallOf(result);
  EXPECT_NE(waterfall.find("the median of 3 to 4 trials"), std::string::npos);
  EXPECT_NE(waterfall.find("async 1MB, a save every 10 steps, 1 worker<"),
            std::string::npos);
}

TEST(BenchPage, DrawsGoodputBesideFormula) {
  CheckpointResult result = Sample();
  result.figures[1].goodput = kSampleGoodput;
  const std::string page = RenderBenchPage(result);
  EXPECT_EQ(FirstUnbalancedTag(page), "");
  EXPECT_NE(page.find("Goodput under 50 kills"), std::string::npos);
  EXPECT_NE(page.find("async, Young-Daly"), std::string::npos);
}

TEST(BenchPage, NamesVoidFigures) {
  CheckpointResult result = Sample();
  result.figures[1].voided = "trial 1: another state";
  const std::string page = RenderBenchPage(result);
  EXPECT_NE(page.find("<strong>Void:</strong>"), std::string::npos);
  EXPECT_NE(page.find("trial 1: another state"), std::string::npos);
}

TEST(XyPlot, PlacesPointsByValue) {
  const XyPlot plot = {
      .title = "t",
      .x_name = "x",
      .y_name = "y",
      .x_axis = PlotAxis::kLinear,
      .x_text = [](double x) { return std::to_string(static_cast<int>(x)); },
      .y_text = [](double y) { return std::to_string(static_cast<int>(y)); },
      .series = {{.name = "s",
                  .points = {{.x = 0, .y = 0}, {.x = 10, .y = 100}}}}};
  const std::string svg = RenderXyPlot(plot);
  // The corners of the area that the axes enclose.
  EXPECT_NE(svg.find("cx=\"74.0\" cy=\"218.0\""), std::string::npos);
  EXPECT_NE(svg.find("cx=\"462.0\" cy=\"12.0\""), std::string::npos);
  EXPECT_EQ(RenderXyPlot({.title = "t",
                          .x_name = "",
                          .y_name = "",
                          .x_text = nullptr,
                          .y_text = nullptr,
                          .series = {}}),
            "");
}

TEST(Waterfall, LongestRowFillsWidth) {
  const std::string html =
      RenderWaterfall({.title = "t",
                       .parts = {"a", "b"},
                       .rows = {{.name = "long", .seconds = {3, 1}},
                                {.name = "short", .seconds = {1, 1}}}});
  EXPECT_NE(html.find("part-0\" style=\"width: 75.00%\""), std::string::npos);
  EXPECT_NE(html.find("part-1\" style=\"width: 25.00%\""), std::string::npos);
  EXPECT_NE(html.find("<span class=\"total\">2.00 s</span>"),
            std::string::npos);
}

}  // namespace
}  // namespace gauntlet
