#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/text_scan.h"
#include "base/units.h"
#include "base/write_folder.h"
#include "cli/commands.h"
#include "cli/offload_report.h"
#include "cli/output_file.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/traced_schedule.h"
#include "hw/offload_run.h"
#include "offload/compile_queues.h"
#include "offload/emulate_timed.h"
#include "offload/encode_queues.h"
#include "offload/message_graph.h"
#include "offload/queue_dot.h"
#include "offload/queue_names.h"
#include "offload/queue_text.h"

namespace slackline::cli {
namespace {

std::optional<hw::OffloadPath> path_named(std::string_view name) {
  constexpr base::EnumNames<hw::OffloadPath, 2> kPaths = {"raw", "devx"};
  return kPaths.find(name);
}

// Only the first of it is looked at: schedules can be large.
bool begins_as_program(const std::string& path) {
  std::array<char, 4096> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  std::string_view text(begin.data(), static_cast<std::size_t>(file.gcount()));
  if (text.starts_with(sched::kUtf8Mark)) text.remove_prefix(sched::kUtf8Mark.size());
  sched::TextScanner in(text, path);
  if (!in.next_line() || in.word("slackline") != "slackline") return false;
  return in.peek() == "queues";
}

// The program in the file; nothing if `path` is no file that begins as one.
std::optional<offload::QueueProgram> read_queue_file(const std::string& path) {
  std::error_code ignored;
  if (sched::looks_like_spec(path) || !std::filesystem::is_regular_file(path, ignored) ||
      !begins_as_program(path)) {
    return std::nullopt;
  }
  return offload::read_queues(sched::read_file(path), path);
}

class Offload : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    arguments.option("--schedule", "SCHEDULE", schedule_,
                     "what a queue program read from a file carries out, if it does not say so");
    arguments.choice("--mode", "MODE", mode_,
                     "sq-wait (default): waits in the send queues; mq-enable: a management queue "
                     "enables them; rdmc-mq: step by step, as RDMC would",
                     offload::mode_named, "sq-wait|mq-enable|rdmc-mq");
    arguments.choice("--readiness", "HOW", readiness_,
                     "how a sender knows that receives are posted: handshake (default), window of "
                     "--ahead receives, none (rdmc-mq)",
                     offload::readiness_named, "handshake|window|none");
    arguments.number("--ahead", "N", ahead_, "receives enabled ahead (default: 16)", 1, 1u << 30);
    arguments.number("--depth", "N", depth_, "entries a queue holds (default: 32768)", 4, 1u << 15);
    arguments.flag("--no-split", no_split_, "refuse what does not fit one queue");
    arguments.flag("--emulate", emulate_,
                   "run the queues: first under many timings, then with the platform's figures, "
                   "beside the same schedule relayed by software, both with --engine");
    arguments.number("--timings", "N", timings_, "with --emulate: under how many (default: 500)", 1,
                     1u << 30);
    arguments.choice("--egress", "ORDER", egress_,
                     "which queue a NIC serves next: fifo (default), round-robin, least-slack",
                     offload::egress_named, "fifo|round-robin|least-slack");
    arguments.option("--entry-time", "TIME", entry_time_,
                     "what a NIC takes for a wait or an enable (default: 0)", sched::parse_time);
    options_.declare(arguments);
    arguments.option("--encode", "FOLDER", folder_,
                     "write there, for every rank, the queues as an mlx5 NIC reads them");
    arguments.choice("--run", "raw|devx", path_,
                     "run it on a ConnectX, all ranks on one port: raw entries through libibverbs "
                     "(sq-wait), or objects made by DevX; no card has run it yet",
                     path_named);
    arguments.option("--device", "NAME[:PORT]", device_, "the NIC (default: the first that can)");
    arguments.output("-o,--output", output_, "write the queue program there, as text");
    arguments.output("--dot", dot_, "draw it there, for Graphviz");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB --emulate");
    arguments.example("chain:ranks=4,bytes=4MiB,block=1MiB --mode mq-enable --encode chain.wqe");
    arguments.example("chain:ranks=4,bytes=4MiB,block=1MiB -o chain.queues");
    arguments.example("chain.queues --emulate");
  }

  int run(Console& console) override {
    if (folder_) require_folder();
    check();
    std::optional<RunSetting> setting;
    if (emulate_) {
      setting = options_.resolve(console);
      source_.require_rails(setting->platform.node.rails);
    }
    const std::optional<offload::QueueProgram> written = read_queue_file(source_.given());
    const LoadedSchedule loaded = load(written, console);
    console.phase("compiling queues");
    const offload::QueueProgram program =
        written ? *written : compile_queues(loaded.schedule, queues_);
    const offload::MessageGraph graph(loaded.schedule);
    OffloadAnswer answer{subject_of(loaded), program, costs_of(program), {}, {}, {}, {}};
    console.phase("proving");
    answer.diagnostics = check_queues(program, loaded.schedule, graph, {queues_.limits, 100});
    if (emulate_ && can_be_emulated(answer.diagnostics))
      answer.runs = emulate(loaded, program, graph, *setting, console);
    console.phase("writing");
    if (path_ && answer.diagnostics.empty()) answer.real = run_for_real(loaded, program, console);
    if (output_) write_output_file(*output_, write_queues(program));
    if (dot_) write_output_file(*dot_, write_dot(program));
    if (folder_) {
      write_encoding(answer, *folder_);
      answer.folder = folder_;
    }
    Answer said({json_, false}, answer.subject);
    answer_offload(said, answer);
    console.print(said.text());
    return answer.sound() ? 0 : 1;
  }

 private:
  void require_folder() const {
    try {
      sched::require_writable_folder(*folder_);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--encode {}", error.what()));
    }
  }

  // Of a program from a file, the schedule that it says it carries out.
  LoadedSchedule load(const std::optional<offload::QueueProgram>& written, Console& console) const {
    if (!written) {
      if (schedule_) {
        throw InputError(fmt::format("--schedule: {} is no queue program; expected one beside it",
                                     source_.given()));
      }
      return source_.load_proved(console);
    }
    for (const auto& [given, option] :
         {std::pair{mode_.has_value(), "--mode"}, std::pair{readiness_.has_value(), "--readiness"},
          std::pair{no_split_, "--no-split"}}) {
      if (given) {
        throw InputError(
            fmt::format("{}: {} is a queue program, which is compiled already; "
                        "expected a schedule",
                        option, source_.given()));
      }
    }
    source_.spec();  // Says what is wrong with options for a spec.
    LoadedSchedule loaded = schedule_of(written->schedule(), written->title(), source_.given(),
                                        schedule_, source_.memory(), console);
    source_.prove(loaded, console);
    return loaded;
  }

  // A program that is not the schedule's, or that nobody can tell the course of, has no runs.
  static bool can_be_emulated(const offload::QueueDiagnostics& diagnostics) {
    return diagnostics.empty() || (diagnostics.front().code != offload::QueueCode::kSchedule &&
                                   diagnostics.front().code != offload::QueueCode::kProducer);
  }

  // The NIC's numbers become the encoder's.
  hw::OffloadRun run_for_real(const LoadedSchedule& loaded, const offload::QueueProgram& program,
                              Console& console) const {
    console.phase("running");
    return hw::run_offloaded(
        program, loaded.schedule, *path_, device_.value_or(""), [&](const hw::NicObjects& objects) {
          offload::NicNumbers numbers{objects.qpn, objects.cqn, {}};
          for (const hw::NicObjects::Memory& memory : objects.memory) {
            numbers.memory.push_back({memory.address, memory.local_key, memory.remote_key});
          }
          std::vector<hw::QueueBytes> queues;
          for (offload::EncodedQueue& encoded : encode_queues(program, numbers)) {
            queues.push_back({encoded.queue, encoded.stride, std::move(encoded.bytes),
                              encoded.doorbell_record, encoded.doorbell});
          }
          return queues;
        });
  }

  void check() {
    if (device_ && !path_) {
      throw InputError("--device speaks of a run on a NIC; expected --run beside it");
    }
    queues_.mode = mode_.value_or(offload::Mode::kSqWait);
    queues_.readiness = readiness_.value_or(offload::default_readiness(queues_.mode));
    if (ahead_ && queues_.readiness != offload::Readiness::kWindow) {
      throw InputError("--ahead: there is no window; expected --readiness window beside it");
    }
    queues_.window = ahead_.value_or(queues_.window);
    queues_.limits.queue_depth = depth_.value_or(queues_.limits.queue_depth);
    queues_.split = !no_split_;
    timing_.egress = egress_.value_or(offload::Egress::kFifo);
    timing_.entry_time = entry_time_.value_or(timing_.entry_time);
    timings_count_ = timings_.value_or(timings_count_);
    if (emulate_) return;
    for (const auto& [given, option] :
         {std::pair{timings_.has_value(), std::string_view("--timings")},
          std::pair{egress_.has_value(), std::string_view("--egress")},
          std::pair{entry_time_.has_value(), std::string_view("--entry-time")},
          std::pair{!options_.given().empty(), options_.given()}}) {
      if (given) {
        throw InputError(fmt::format("{} speaks of a run; expected --emulate beside it", option));
      }
    }
  }

  OffloadRuns emulate(const LoadedSchedule& loaded, const offload::QueueProgram& program,
                      const offload::MessageGraph& graph, const RunSetting& setting,
                      Console& console) const {
    OffloadRuns runs;
    offload::Emulator emulator(program, loaded.schedule, graph);
    const std::uint64_t first = setting.seed.value_or(0);
    for (; runs.timings < timings_count_; ++runs.timings) {
      if (runs.timings % 16 == 0) console.progress("emulating", runs.timings, timings_count_);
      const std::uint64_t seed = first + runs.timings;
      if (emulator.is_sound(seed)) continue;
      runs.seed = seed;
      runs.fault = emulator.run(static_cast<offload::Timing>(seed % 4), seed).faults;
      break;
    }
    console.phase("simulating");
    runs.platform = setting.platform;
    runs.egress = name(timing_.egress);
    time(runs, loaded, program, graph, setting, console);
    return runs;
  }

  // In the place of an engine that leaves out that messages share links, the flow engine.
  void time(OffloadRuns& runs, const LoadedSchedule& loaded, const offload::QueueProgram& program,
            const offload::MessageGraph& graph, RunSetting setting, Console& console) const {
    const SettledRun settled(setting, loaded.schedule, console);
    const machine::Engine& engine = settled.engine();
    offload::NicClock clock;
    if (engine.shares_links) clock.engine = fmt::format("offload:{}", engine.name);
    clock.drive = [&](const machine::Paths& paths, const machine::MakeRun& make) {
      return engine.drive(settled.setting(), paths, make);
    };
    const offload::Emulation timed =
        emulate_timed(program, settled.setting(), graph, timing_, clock);
    runs.faults = timed.faults;
    runs.not_ready = timed.not_ready;
    runs.offload_s = timed.trace.makespan_s();
    const sched::Trace software = settled.run(console);
    runs.software_s = software.makespan_s();
    runs.contended = software.contended || timed.trace.contended;
    runs.engine = engine.name;
    if (const auto* other = options_.engine_that_shares(settled.setting(), runs.contended)) {
      setting.engine = other;
      time(runs, loaded, program, graph, setting, console);
    }
  }

  ScheduleSource source_;
  SimulationOptions options_{"analytic"};
  std::optional<std::string> schedule_, folder_, output_, dot_, device_;
  std::optional<offload::Mode> mode_;
  std::optional<offload::Readiness> readiness_;
  std::optional<std::uint32_t> ahead_, depth_;
  std::optional<std::uint64_t> timings_;
  std::optional<offload::Egress> egress_;
  std::optional<sched::Time> entry_time_;
  std::optional<hw::OffloadPath> path_;
  bool no_split_ = false;
  bool emulate_ = false;
  bool json_ = false;
  // As check() reads them.
  offload::QueueOptions queues_;
  offload::NicTiming timing_;
  std::uint64_t timings_count_ = 500;
};

}  // namespace

std::unique_ptr<Command> make_offload() { return std::make_unique<Offload>(); }

}  // namespace slackline::cli
