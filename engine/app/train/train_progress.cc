#include "engine/app/train/train_progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/cli/terminal/status_line.h"
#include "engine/epoch_text.h"
#include "engine/finite.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Duration kPlainLineEvery = std::chrono::seconds(10);
// Shortest time, in seconds, over which a rate is accurate enough to show.
constexpr double kMeasurable = 0.2;
constexpr size_t kBarCells = 20;

double Share(const ProgressFacts& facts) {
  return std::min(
      1.0, static_cast<double>(facts.step) / static_cast<double>(facts.steps));
}

// Draws eighths of a cell if the encoding has them, else whole cells of '#'.
std::string Bar(double share, const TerminalStyle& style) {
  constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                        "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(
      std::floor(share * static_cast<double>(kBarCells * 8)));
  const size_t full = eighths / 8;
  const bool partial = style.utf8() && eighths % 8 != 0;
  std::string bar;
  for (size_t i = 0; i < full; ++i) bar += style.utf8() ? "█" : "#";
  if (partial) bar += kEighths[eighths % 8];
  bar.append(kBarCells - full - (partial ? 1 : 0), ' ');
  return bar;
}

std::string Remaining(const ProgressFacts& facts, double samples_per_step) {
  const double steps = static_cast<double>(facts.steps - facts.step);
  const double seconds = steps * samples_per_step / facts.samples_per_second;
  if (!(seconds < 360'000.0)) return "";
  return "eta " + ClockText(seconds);
}

// A part of the line and its width in columns.
struct Part {
  std::string text;
  size_t columns = 0;
};

// Returns as many of the parts as fit, with two spaces between them.
std::string Fit(const std::vector<Part>& parts, size_t columns) {
  std::string line;
  size_t used = 0;
  for (const Part& part : parts) {
    const size_t gap = used == 0 ? 0 : 2;
    if (used + gap + part.columns > columns) break;
    line.append(gap, ' ').append(part.text);
    used += gap + part.columns;
  }
  return line;
}

}  // namespace

std::string RenderProgress(const ProgressFacts& facts,
                           const TerminalStyle& style) {
  std::vector<Part> parts;
  const auto add = [&parts](std::string text) {
    const size_t columns = text.size();
    if (columns > 0) parts.push_back({std::move(text), columns});
  };
  add(fmt::format("{}/{}", EpochName(std::min(facts.epoch, facts.epochs - 1)),
                  facts.epochs));
  if (facts.steps == 0) {
    add(fmt::format("step {}", facts.step));
  } else {
    add(fmt::format("step {}/{}", facts.step, facts.steps));
    if (style.animates()) {
      parts.push_back({Bar(Share(facts), style), kBarCells});
    }
    add(fmt::format("{:.0f}%", std::floor(Share(facts) * 100.0)));
  }
  if (facts.loss) add(fmt::format("loss {:.4f}", CanonicalNan(*facts.loss)));
  if (facts.samples_per_second > 0.0) {
    add(fmt::format("{:.0f} samples/s", facts.samples_per_second));
    if (facts.steps > facts.step) add(Remaining(facts, facts.samples_per_step));
  }
  const size_t columns =
      style.animates() ? static_cast<size_t>(std::max(style.columns() - 1, 0))
                       : std::string::npos;
  return Fit(parts, columns);
}

TrainProgress::TrainProgress(const Clock& clock, const TrainCommand& command,
                             std::ostream& out, const TerminalStyle& style)
    : clock_(clock),
      horizon_(command.options.horizon),
      samples_per_step_(static_cast<double>(command.options.job.replicas) *
                        command.options.job.batch),
      choice_(command.progress),
      out_(out),
      style_(style) {}

void TrainProgress::WriteLine(std::string_view line) {
  Clear();
  out_ << line << '\n' << std::flush;
}

void TrainProgress::Clear() {
  if (line_shown_) out_ << kEraseLine << std::flush;
  line_shown_ = false;
}

bool TrainProgress::IsDue(const WorkerProgress& progress, Time now) const {
  if (choice_ == ProgressChoice::kOff) return false;
  if (!last_drawn_) return true;
  if (style_.animates()) return now - *last_drawn_ >= kRedrawEvery;
  return progress.epoch != last_epoch_ || now - *last_drawn_ >= kPlainLineEvery;
}

ProgressFacts TrainProgress::FactsOf(const WorkerProgress& progress,
                                     Time now) const {
  ProgressFacts facts{.epoch = progress.epoch,
                      .epochs = horizon_.epochs,
                      .step = progress.step,
                      .steps = progress.steps_per_epoch * horizon_.epochs,
                      .loss = progress.loss ? progress.loss : last_loss_,
                      .samples_per_step = samples_per_step_};
  if (horizon_.max_steps && facts.steps > 0) {
    facts.steps = std::min(facts.steps, *horizon_.max_steps);
    // With a limit on steps, the last epochs may not be reached.
    facts.epochs =
        std::min(facts.epochs, (facts.steps + progress.steps_per_epoch - 1) /
                                   progress.steps_per_epoch);
  }
  const auto& [step, time] = *measured_from_;
  const double seconds = std::chrono::duration<double>(now - time).count();
  if (progress.step > step && seconds >= kMeasurable) {
    facts.samples_per_second =
        static_cast<double>(progress.step - step) * samples_per_step_ / seconds;
  }
  return facts;
}

void TrainProgress::Progress(const WorkerProgress& progress) {
  if (!progress.line.empty()) WriteLine(progress.line);
  // A report without `steps_per_epoch` has no progress, only a line to print.
  if (progress.steps_per_epoch == 0) return;
  if (progress.loss) last_loss_ = progress.loss;
  const Time now = clock_.Now();
  if (!measured_from_ || progress.step < measured_from_->first) {
    measured_from_ = {progress.step, now};
  }
  // The report's own line states the epoch and the loss, so no progress line
  // follows it.
  const bool has_own_line = !progress.line.empty() && progress.loss;
  if (has_own_line && !style_.animates()) {
    last_epoch_ = progress.epoch;
    return;
  }
  if (!IsDue(progress, now)) return;
  const std::string line = RenderProgress(FactsOf(progress, now), style_);
  if (style_.animates()) {
    out_ << kEraseLine << line << std::flush;
    line_shown_ = true;
  } else {
    WriteLine(line);
  }
  last_drawn_ = now;
  last_epoch_ = progress.epoch;
}

void TrainProgress::Restarting(int restart, const std::string& reason,
                               Duration pause) {
  measured_from_.reset();
  last_loss_.reset();
  WriteLine(fmt::format("{} {} in {:.1f} s: {}",
                        style_.Paint(Ink::kWarning, "restart"), restart,
                        std::chrono::duration<double>(pause).count(), reason));
}

}  // namespace gauntlet
