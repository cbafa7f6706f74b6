#include "engine/cli/flags/flag_synonyms.h"

#include <array>

namespace gauntlet {
namespace {

using enum SynonymUse;

constexpr std::string_view kResumes =
    "train resumes by itself if its --ckpt DIR holds checkpoints";
constexpr std::string_view kDevices =
    "--device cuda chooses GPUs, --workers N their number: one for each worker";
constexpr std::string_view kOptimizer =
    "the preset has an optimizer; job: {optimizer: {name: adam}} in a file for "
    "--job replaces it";

// A name may have several entries: the first one whose option exists in the
// command is used.
constexpr std::array kSynonyms = {
    // Job options.
    FlagSynonym{"--learning-rate", "--lr"},
    FlagSynonym{"--learning_rate", "--lr"},
    FlagSynonym{"--batch-size", "--batch"},
    FlagSynonym{"--batch_size", "--batch"},
    FlagSynonym{"--per-replica-batch-size", "--batch"},
    FlagSynonym{"--global-batch-size", "--batch", kRefused,
                "--batch is the batch of one replica: divide by --replicas"},
    FlagSynonym{"--random-seed", "--seed"},
    FlagSynonym{"--rng-seed", "--seed"},
    FlagSynonym{"--num-epochs", "--epochs"},
    FlagSynonym{"--max-epochs", "--epochs"},
    FlagSynonym{"--epoch", "--epochs"},
    FlagSynonym{"--num-steps", "--steps"},
    FlagSynonym{"--max-steps", "--steps"},
    FlagSynonym{"--iterations", "--steps"},
    FlagSynonym{"--model", "--preset"},
    FlagSynonym{"--arch", "--preset"},
    FlagSynonym{"--config", "--job"},
    FlagSynonym{"--dataset", "--data"},
    FlagSynonym{"--data-dir", "--data"},
    FlagSynonym{"--data-path", "--data"},
    FlagSynonym{"--lr-schedule", "--schedule"},
    FlagSynonym{"--lr-scheduler", "--schedule"},
    FlagSynonym{"--warmup-steps", "--warmup"},
    FlagSynonym{"--gradient-accumulation-steps", "--accumulate"},
    FlagSynonym{"--accumulate-grad-batches", "--accumulate"},
    FlagSynonym{"--max-grad-norm", "--clip", kRefused,
                "use --clip global_norm:LIMIT"},
    FlagSynonym{"--clip-grad-norm", "--clip", kRefused,
                "use --clip global_norm:LIMIT"},
    FlagSynonym{"--optimizer", "--job", kRefused, kOptimizer},
    FlagSynonym{"--pretrained", "--init-from"},
    FlagSynonym{"--load", "--init-from"},
    // Processes and devices.
    FlagSynonym{"--nproc-per-node", "--workers"},
    FlagSynonym{"--num-processes", "--workers"},
    FlagSynonym{"--num-workers", "--workers", kRefused,
                "--workers N is the number of training processes; there are no "
                "processes that only load data"},
    FlagSynonym{"--world-size", "--cluster-size", kRefused,
                "use --workers N on this host, --cluster-size N in a cluster"},
    FlagSynonym{"--devices", "--device", kRefused, kDevices},
    FlagSynonym{"--gpus", "--device", kRefused, kDevices},
    FlagSynonym{"--num-gpus", "--device", kRefused, kDevices},
    FlagSynonym{"--accelerator", "--device"},
    FlagSynonym{"--num-threads", "--threads"},
    FlagSynonym{"--backend", "--collective"},
    // Checkpoints.
    FlagSynonym{"--resume", "--ckpt", kDropped, kResumes},
    FlagSynonym{"--restore", "--ckpt", kDropped, kResumes},
    FlagSynonym{"--auto-resume", "--ckpt", kDropped, kResumes},
    FlagSynonym{"--continue", "--ckpt", kDropped, kResumes},
    FlagSynonym{"--checkpoint", "--ckpt"},
    FlagSynonym{"--checkpoint-dir", "--ckpt"},
    FlagSynonym{"--ckpt-dir", "--ckpt"},
    FlagSynonym{"--save-dir", "--ckpt"},
    FlagSynonym{"--checkpoint-every", "--save-every"},
    FlagSynonym{"--ckpt-every", "--save-every"},
    FlagSynonym{"--save-steps", "--save-every"},
    FlagSynonym{"--save-interval", "--save-every"},
    FlagSynonym{"--max-to-keep", "--keep-last"},
    FlagSynonym{"--save-total-limit", "--keep-last"},
    // Output.
    FlagSynonym{"--logdir", "--tensorboard"},
    FlagSynonym{"--log-dir", "--logs", kRefused,
                "--logs DIR is for the workers' logs, --tensorboard DIR for "
                "curves"},
    FlagSynonym{"--export-dir", "--export"},
    FlagSynonym{"--quiet", "--no-progress"},
    // Selection and reports of run and explore.
    FlagSynonym{"--filter", "--name"},
    FlagSynonym{"--tag", "--label"},
    FlagSynonym{"--tags", "--label"},
    FlagSynonym{"--marker", "--label"},
    FlagSynonym{"--labels", "--label"},
    FlagSynonym{"--dry-run", "--list"},
    FlagSynonym{"--collect-only", "--list"},
    FlagSynonym{"--lf", "--last-failed"},
    FlagSynonym{"--rerun-failed", "--last-failed"},
    FlagSynonym{"--fail-fast", "--exit-first"},
    FlagSynonym{"--exitfirst", "--exit-first"},
    FlagSynonym{"--maxfail", "--max-fail"},
    FlagSynonym{"--parallel", "--jobs"},
    FlagSynonym{"--count", "--repeat"},
    FlagSynonym{"--out", "--runs", kRefused,
                "--runs DIR names the folder of the runs"},
    FlagSynonym{"--runs", "--out", kRefused,
                "--out DIR names the folder that the command writes"},
    FlagSynonym{"--junitxml", "--junit"},
    FlagSynonym{"--junit-xml", "--junit"},
    FlagSynonym{"--partition", "--shard"},
    FlagSynonym{"--duration", "--time"},
    FlagSynonym{"--budget", "--time"},
    FlagSynonym{"--max-cases", "--cases"},
};

}  // namespace

std::span<const FlagSynonym> AllFlagSynonyms() { return kSynonyms; }

}  // namespace gauntlet
