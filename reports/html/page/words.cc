#include "reports/html/page/words.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/worker_exit_code.h"
#include "harness/record/record.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Word {
  std::string name;
  std::vector<std::string> spellings;  // as written in pages
  std::string meaning;
  bool is_number = false;  // spellings end in a number; see HasNumber
};

// Returns the explanation of an exit code, with all spellings in which pages
// print the code.
Word WordOfExitCode(int code, std::string_view meaning) {
  return {fmt::format("exit code {}", code),
          {fmt::format("code {}", code), fmt::format("exits with {}", code)},
          fmt::format("{}.", meaning),
          true};
}

// Returns the explanation of an outcome, with all spellings in which pages
// print it as expected or found.
Word WordOfOutcome(const OutcomeInfo& info) {
  return {fmt::format("outcome {}", info.name),
          {fmt::format("outcome: {}", info.name),
           fmt::format("expected {}, found", info.name),
           fmt::format(", found {}", info.name)},
          fmt::format("{}.", info.description)};
}

struct ReasonMeaning {
  RecordReason reason;
  std::string_view meaning;
};

// Reasons for which a launcher ends an attempt or kills a worker.
constexpr ReasonMeaning kLauncherReasons[] = {
    {RecordReason::kWorkerLeft,
     "A worker exited by itself with the code of an error. worker_died: it was "
     "killed, or its exit code is not one that workers use."},
    {RecordReason::kWorkerDied,
     "A worker was killed, or its exit code is not one that workers use. "
     "worker_left: it exited by itself with the code of an error."},
    {RecordReason::kWorkerDone, "A worker exited in good order."},
    {RecordReason::kResult, "The training has ended with a result."},
    {RecordReason::kChiefSilent, "Rank 0 sent no report within its limit."},
    {RecordReason::kNotStarted, "A worker could not be started."},
    {RecordReason::kTooManyLosses,
     "No restart is left, or the number of workers has to change."},
    {RecordReason::kInterrupted, "The launcher was interrupted a second time."},
    {RecordReason::kGraceOver,
     "The launcher killed the worker because it was still running when its "
     "time to end was over: 0.5 s after a loss, otherwise its grace period."},
    {RecordReason::kAttemptOver,
     "The worker was still running after the end of its attempt."},
    {RecordReason::kNoSign,
     "After a loss, the worker did not report a rejoin in time, so the "
     "launcher killed it: within cluster.step_timeout, at most 15 s (0.5 s if "
     "its heartbeats had stopped)."},
};

// Returns the explanation of a reason, as timelines print it.
Word WordOfReason(const ReasonMeaning& one) {
  const std::string name(RecordReasonName(one.reason));
  return {name, {fmt::format("({})", name)}, std::string(one.meaning)};
}

std::vector<Word> WordsOfTables() {
  std::vector<Word> words;
  for (const ReasonMeaning& one : kLauncherReasons) {
    words.push_back(WordOfReason(one));
  }
  for (const OutcomeInfo& info : AllOutcomes()) {
    words.push_back(WordOfOutcome(info));
  }
  for (const WorkerExitInfo& info : kWorkerExits) {
    if (info.exit == WorkerExit::kDone) continue;
    words.push_back(WordOfExitCode(static_cast<int>(info.exit), info.meaning));
  }
  words.push_back(WordOfExitCode(
      70, "a planned crash, or a planted bug, ended the process at once"));
  words.push_back(WordOfExitCode(
      137, "the process was killed: 128 and the number of the signal, 9"));
  return words;
}

std::vector<Word> MakeWords() {
  std::vector<Word> words = {
      {"reference run",
       {"reference run"},
       "The same training without any fault, with which every case is "
       "compared, bit for bit."},
      {"flaky",
       {"flaky"},
       "The case failed in one try and passed in a later one."},
      {"inconclusive",
       {"inconclusive"},
       "The case has no verdict: for example, a planned fault never fired."},
      {"preset",
       {"preset: "},
       "A job with a name: model, data and optimizer. gauntlet list presets "
       "describes each."},
      {"fault",
       {"Planned faults"},
       "Written as NAME: KIND worker N at POINT, OCCURRENCE. The scenario "
       "gives the name. gauntlet list faults describes the kinds, gauntlet "
       "list points the points. Save 2 is the second save that this process "
       "begins."},
      {"incarnation any",
       {"incarnation any"},
       "The fault may fire in any process of its worker; only with repeat "
       "always, it fires more than once. A fault without these words fires "
       "only in the incarnation that it names, or else in the first one. A "
       "fault that waits for another one (after) may fire in any."},
      {"partition",
       {": partition ", "(partition ", "do: partition"},
       "The process of the worker can reach no other worker, nor they it; with "
       "groups, which list workers, no group can reach another. Workers on "
       "hosts of their own (cluster.topology) cannot reach the launcher "
       "either. Messages wait until the partition ends. It does not cut off a "
       "worker that has been restarted."},
      {"is out of reach: given up",
       {"out of reach"},
       "The launcher could not reach the host of the worker for too long, so "
       "it gives the worker up: it counts it as ended."},
      {"occurrence",
       {"occurrence "},
       "Occurrence 4 of a fault point is the fourth time that the process "
       "comes to the point; at a point that ends in .write, its fourth file. "
       "Each incarnation counts from 1. Without a number it is the first."},
      {"requeue",
       {"requeue"},
       "The launcher is started again, as a job queue does after exit code 75, "
       "after a stop on a preemption notice (143), and after the launcher was "
       "killed (137). preemption.requeue is the most such starts."},
      {"incarnation",
       {"incarnation"},
       "One process of a worker or launcher, counted from 1: each restart "
       "begins the next one."},
      {"attempt",
       {"the attempt"},
       "The time from the start of all workers until none runs. It starts to "
       "end when the launcher detects the first failed worker; the launcher "
       "then kills workers that do not exit by themselves. The reason is in "
       "brackets. With restart policy rejoin, a lost worker is restarted "
       "within an attempt."},
      {"rank",
       {"rank "},
       "The number of a worker within its generation; rank 0 saves the "
       "checkpoints."},
      {"replica",
       {"replica "},
       "One part of the global batch. A worker computes one or several."},
      {"acknowledged",
       {"acknowledged"},
       "The engine has reported the save as done: from then on the checkpoint "
       "must stay loadable, also after a power loss."},
      {"(training was at step N)",
       {"(training was at step "},
       "The save is asynchronous: training continues while the checkpoint is "
       "written."},
      {"closed, silent, deadline, refused",
       {"(closed", ": closed", "(silent", ": silent", "(deadline", ": deadline",
        "(refused", ": refused"},
       "How a worker was found lost. Closed: its connections ended. Silent: "
       "it sent nothing for too long. Deadline: it took no part in an exchange "
       "in time (cluster.step_timeout). Refused: rank 0 refused to train with "
       "it."},
      {"chief", {"chief"}, "The worker of rank 0, which commits checkpoints."},
      {"disk profile",
       {"lying-fsync", "profile weak", "profile: weak", "profile ext4",
        "profile: ext4", "profile shared", "profile: shared"},
       "The durability of a simulated disk (disk.profile). Ext4: what ext4 "
       "keeps with its default mount options. Weak: as little as POSIX "
       "permits. Lying-fsync: as weak, and it reports data as synced that a "
       "power loss still takes. Shared: a file server with a cache in each "
       "host."},
      // The ports of simulated workers begin with 70.
      {"HOST:PORT #N",
       {"the connection is lost", "no frame came in time", "launcher:70"},
       "The N-th connection to that address. In a simulation, the addresses "
       "are simulated too."},
      {"no frame came in time",
       {"no frame came in time"},
       "A frame is a message of one worker to another. None arrived on that "
       "connection before the deadline (cluster.step_timeout, or "
       "cluster.save_timeout in a save)."},
      {"host, w0.1",
       {"host w", "w0.1"},
       "A machine of a simulated cluster: w0.1 is that of worker 0, "
       "incarnation 1. In lists of waiting tasks it stands for that process. "
       "Workers that share a machine have the name of the first one."},
      {"generation",
       {"generation", "-g"},
       "One membership of the cluster, counted from 1. Each restart or "
       "rejoin of the workers begins the next one. The end of a checkpoint's "
       "name is the generation that wrote it: step-000000005-g1 is of "
       "generation 1."},
      {"step-N-finished, step-N-evaluation_due, step-N-callbacks_due",
       {"-finished-g", "-evaluation_due-g", "-callbacks_due-g"},
       "A checkpoint of step N at one more boundary of the epoch, because "
       "step-N was already taken. Evaluation_due: the epoch's evaluation comes "
       "next. Callbacks_due: it is done, the callbacks come next. Finished: "
       "nothing of the step is left to do, as at the end of a run."},
      {"claim",
       {"claims generation", "claim generation"},
       "The record in the checkpoint directory by which a generation takes "
       "the directory over. Rank 0 writes it before the generation saves "
       "anything."},
      {"fenced",
       {"fenced", "Fenced"},
       "Saved by an older generation, later than the checkpoint that the "
       "newest generation resumed from. Nobody loads it."},
      {"torn",
       {"torn"},
       "Written only in part, because a crash cut the write short."},
      {"rejoin, survivor",
       {"rejoin", "survivor"},
       "After a loss, the surviving workers may keep their state in memory. "
       "The replaced worker gets it from one of them, and no checkpoint is "
       "loaded."},
      {"from memory, kept, from rank N",
       {"from memory"},
       "The worker loads no checkpoint. Kept: it still has the state in its "
       "own memory. From rank N: worker N sends its state."},
      {"whole-job, rejoin",
       {"whole-job", "policy: rejoin"},
       "Values of cluster.restart.policy. Whole-job: after a loss all workers "
       "restart from a checkpoint. Rejoin: only the lost worker restarts, and "
       "takes the state of the others."},
      {"shard",
       {"shard", "model-0000"},
       "The file with one worker's part of a checkpoint, such as "
       "model-00001-of-00002.safetensors."},
      {"MANIFEST.json",
       {"MANIFEST"},
       "The file that lists the files of a checkpoint with their sizes and "
       "digests. Its last line is its own digest: without this line it is "
       "torn."},
      {"set aside",
       {"set aside", "rejected"},
       "A checkpoint that does not verify is renamed, so that nobody loads "
       "it. An older one is loaded instead."},
      {"resumed_from",
       {"resumed_from"},
       "The step of the first checkpoint from which workers resume."},
      {"ends_at",
       {"ends_at"},
       "The expected position of training at the end of the run, in complete "
       "epochs or in steps. A recomputed step counts once."},
      {"launches",
       {"launches: "},
       "Changes to the job, one entry for each start of the launcher; the last "
       "entry counts for all later ones."},
      {"planted bug",
       {"planted bug", "planted_bugs", "A bug is planted"},
       "A known bug that the scenario switches on in the engine (a mutation "
       "test). With outcome: violates, the case passes only if the named "
       "checks catch the bug."},
      {"names of violations",
       {"Failed checks", "Violations (the scenario expects at least one)"},
       "The name of the check has its rule below it. Each violation has its "
       "own name, such as does-not-verify; its text gives the details."},
      {"bookkeeping",
       {"bookkeeping"},
       "The part of a training step after the optimizer's update: it advances "
       "step, position, random numbers and running metrics. In a timeline, "
       "events without an effect on training."},
      {"fault_fired_again",
       {"fault_fired_again"},
       "The fault had fired in this process before, and fires once more."},
      {"marks of the timeline",
       {"|&gt;", ".-"},
       "The sign .- begins an incident, |&gt; marks its effects, and `&gt; "
       "the last one. Each of several open incidents has its own column: in "
       "||&gt; the effect is of the second one. &lt;12 after a text: row 12 is "
       "its cause."},
      {"N times until T",
       {" times until "},
       "Repeated events of a process are in the row of the first. N is their "
       "number, and T the time of the last one. 5..80: the least and the "
       "greatest number in their texts. ...: a part in which they differ."},
      {"power cut, power_loss",
       {"power cut", "power_loss", "loses power", "lose power"},
       "All processes of a host end at once. All hosts lose power, as they "
       "share one disk; only the host of the fault's worker does if workers "
       "have hosts of their own (cluster.topology) and the disk is a file "
       "server (disk.profile: shared). Of what was not synced, the disk keeps "
       "what the seed draws, so one checkpoint may survive and another may "
       "not."},
      {"sim, real",
       {"sim ·", "real ·"},
       "The world of the case: a simulation of the whole cluster with its "
       "own clock, or processes of this machine."},
      {"ulps",
       {"ulps", " ulp)"},
       "Units in the last place: the distance of two floating-point numbers, "
       "counted in numbers of their type. 1 is the smallest possible "
       "difference."},
  };
  std::ranges::move(WordsOfTables(), std::back_inserter(words));
  return words;
}

const std::vector<Word>& Words() {
  static const std::vector<Word>* const words =
      new std::vector<Word>(MakeWords());
  return *words;
}

// Returns the text that a reader sees, without tags and tooltips.
std::string VisibleText(std::string_view html) {
  std::string text;
  while (!html.empty()) {
    const size_t tag = std::min(html.find('<'), html.size());
    text += html.substr(0, tag);
    html.remove_prefix(tag);
    for (const std::string_view hidden : {"title", "desc"}) {
      if (!html.substr(std::min<size_t>(1, html.size())).starts_with(hidden)) {
        continue;
      }
      const size_t end = html.find(fmt::format("</{}>", hidden));
      html.remove_prefix(std::min(end, html.size()));
    }
    const size_t end = std::min(html.find('>'), html.size());
    html.remove_prefix(std::min(end + 1, html.size()));
  }
  return text;
}

// Returns true iff the text has the spelling, and not as a part of a longer
// number.
bool HasNumber(std::string_view text, std::string_view spelling) {
  for (size_t at = text.find(spelling); at != text.npos;
       at = text.find(spelling, at + 1)) {
    const size_t end = at + spelling.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

bool Occurs(const Word& word, std::string_view text) {
  return std::ranges::any_of(word.spellings, [&](std::string_view spelling) {
    return word.is_number ? HasNumber(text, spelling)
                          : text.find(spelling) != text.npos;
  });
}

}  // namespace

std::string RenderWords(std::string_view html) {
  size_t count = 0;
  std::string entries;
  const std::string text = VisibleText(html);
  for (const Word& word : Words()) {
    if (!Occurs(word, text)) continue;
    ++count;
    entries += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word.name, word.meaning);
  }
  if (entries.empty()) return "";
  return fmt::format(
      "<details class=\"words\"><summary>Words on this page: {} explained"
      "</summary>\n<dl class=\"findings\">\n{}</dl></details>\n",
      count, entries);
}

}  // namespace gauntlet
