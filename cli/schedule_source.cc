#include "cli/schedule_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "base/split.h"
#include "sched/compile.h"
#include "sched/file.h"
#include "sched/verify.h"
#include "sched/workloads/structures/queue.h"

namespace slackline::cli {
namespace {

LoadedSchedule from_spec(const std::string& text, const sched::MemoryLimit& memory,
                         std::uint64_t bytes_of_op, Console& console) {
  const sched::Spec spec = sched::parse_spec(text);
  sched::require_memory(spec, memory, bytes_of_op);
  console.phase("compiling");
  const std::string name = sched::format_spec(spec);
  const auto blocks = sched::block_count(spec);
  if (!sched::is_structure_pattern(spec.pattern)) {
    return {
        sched::compile(spec, memory), name, name, blocks, false, false, std::nullopt, spec.pattern};
  }
  // What compile() makes, with what it leaves out.
  sched::StructureProgram structure = sched::structure_program(spec);
  sched::Schedule schedule = std::move(structure.schedule);
  return {std::move(schedule),  name,        name, blocks, false, false,
          std::move(structure), spec.pattern};
}

// What the command does with a schedule that is there.
void require_work(const LoadedSchedule& loaded, const sched::MemoryLimit& memory,
                  std::uint64_t bytes_of_op) {
  const std::uint64_t ops = loaded.schedule.op_count();
  memory.require(ops * (bytes_of_op - sched::kMemoryOfOpMade),
                 fmt::format("{}: working on its {} operations", loaded.name, ops),
                 "a smaller schedule, or --memory SIZE if it fits all the same",
                 ops * sched::kMemoryOfOpMade);
}

LoadedSchedule from_file(const std::string& path, const sched::ImportOptions& options,
                         const sched::MemoryLimit& memory, std::uint64_t bytes_of_op,
                         Console& console) {
  console.phase("reading");
  const bool piped = path == "-";
  LoadedSchedule loaded{sched::load_schedule(piped ? "/dev/stdin" : path, memory, options),
                        piped ? "standard input" : sched::shown(path),
                        path,
                        std::nullopt,
                        true,
                        false,
                        std::nullopt,
                        std::nullopt};
  if (piped) loaded.title = loaded.schedule.title();
  require_work(loaded, memory, bytes_of_op);
  loaded.blocks = blocks_of(loaded.schedule);
  return loaded;
}

}  // namespace

void ScheduleSource::declare(Arguments& arguments, bool needed) {
  arguments.positional("SCHEDULE", schedule_, "a spec, a file, or - for standard input", needed);
  arguments.section("How the schedule is made");
  // Each stands for a key of the spec.
  arguments.option("--lower", "send|put", lower_, "two-sided, or one-sided with immediate");
  arguments.option("--ready", "send|write|none", ready_, "how a receiver says that it is ready");
  arguments.option("--start", "pairwise|all", start_, "whose readiness a first message awaits");
  arguments.option("--window", "N", window_, "receives posted ahead on each channel");
  arguments.option("--first-block", "direct|copy", first_block_,
                   "where a rank's first block lands");
  arguments.option("--in-flight", "N", in_flight_, "blocks a rank has under way; 0: no bound");
  memory_.declare(arguments);
  arguments.flag("--lockstep", lockstep_, "a barrier among all ranks between steps");
  // What those say who run what other tools have made.
  arguments.option("--eager", "SIZE", import_.goal.eager_bytes,
                   "of a GOAL program or Chakra trace: sends of up to so many bytes are buffered",
                   sched::parse_bytes);
  arguments.flag("--one-nic", import_.goal.one_nic,
                 "of a GOAL program: the NICs of a rank are its one NIC");
  arguments.number("--nics", "N", import_.goal.nics,
                   "of a GOAL program: its NICs are the rails of a platform (rails=N,rail=channel)",
                   1, 256);
  arguments.flag("--ctrl-deps", import_.chakra.control_dependencies,
                 "of a Chakra trace: ctrl_deps hold nodes back, too");
  arguments.option("--chunk", "SIZE", import_.msccl.chunk_bytes,
                   "of an MSCCL algorithm or plan: the bytes of a chunk (default: 4KiB)",
                   [](std::string_view text, std::string_view what) {
                     const std::uint64_t bytes = sched::parse_bytes(text, what);
                     if (bytes > 0) return bytes;
                     throw InputError(fmt::format("{}: 0 bytes; expected at least 1", what));
                   });
  arguments.section("");
}

void ScheduleSource::declare_proof(Arguments& arguments, Proof proof,
                                   std::string_view no_proof_help) {
  proof_ = proof;
  arguments.flag("--no-proof", no_proof_,
                 proof == Proof::kAlways ? "skip the proof" : no_proof_help);
  if (proof == Proof::kOnDemand) {
    arguments.flag("--prove", prove_, "prove a built-in pattern, too");
  }
}

std::string ScheduleSource::given() const {
  if (!schedule_.empty()) return schedule_;
  if (lower_) return "--lower";
  if (ready_) return "--ready";
  if (start_) return "--start";
  if (window_) return "--window";
  if (first_block_) return "--first-block";
  if (in_flight_) return "--in-flight";
  if (lockstep_) return "--lockstep";
  return import_option();
}

std::string ScheduleSource::import_option() const {
  if (import_.goal.eager_bytes) return "--eager";
  if (import_.goal.one_nic) return "--one-nic";
  if (import_.goal.nics) return "--nics";
  if (import_.msccl.chunk_bytes) return "--chunk";
  if (import_.chakra.control_dependencies) return "--ctrl-deps";
  return "";
}

std::optional<std::string> ScheduleSource::spec_text() const {
  if (schedule_.empty()) {
    throw InputError("SCHEDULE: none stands there; expected a spec, a file, or -");
  }
  const std::array<std::pair<std::string_view, const std::optional<std::string>*>, 6> keys = {{
      {"lower", &lower_},
      {"ready", &ready_},
      {"start", &start_},
      {"window", &window_},
      {"first-block", &first_block_},
      {"in-flight", &in_flight_},
  }};
  if (import_.goal.nics && import_.goal.one_nic) {
    throw InputError("--nics stands beside --one-nic; expected one of them");
  }
  const bool is_spec = schedule_ != "-" && sched::looks_like_spec(schedule_);
  std::string spec = schedule_;
  for (const auto& [key, value] : keys) {
    if (!*value) continue;
    if (!is_spec) {
      throw InputError(fmt::format(
          "--{}: {} is a file, whose operations are fixed; expected a spec", key, schedule_));
    }
    spec = with_key(std::move(spec), key, **value);
  }
  if (lockstep_) {
    if (!is_spec) {
      throw InputError(fmt::format(
          "--lockstep: {} is a file, whose operations are fixed; expected a spec", schedule_));
    }
    spec = with_key(std::move(spec), "order", "lockstep");
  }
  if (const std::string option = import_option(); is_spec && !option.empty()) {
    throw InputError(
        fmt::format("{}: {} is a spec; expected a file of another tool", option, schedule_));
  }
  return is_spec ? std::optional(spec) : std::nullopt;
}

void ScheduleSource::require_rails(const machine::Rails& rails) const {
  const std::optional<std::uint32_t>& nics = import_.goal.nics;
  if (!nics) return;
  const bool fits =
      rails.count == *nics && (!rails.are_several() || rails.rule == machine::RailRule::kChannel);
  if (fits) return;
  throw InputError(
      fmt::format("--nics {}: the platform has rails={},rail={}; expected rails={},rail=channel",
                  *nics, rails.count, machine::name(rails.rule), *nics));
}

std::optional<sched::Spec> ScheduleSource::spec() const {
  const auto text = spec_text();
  return text ? std::optional(sched::parse_spec_of_any_size(*text)) : std::nullopt;
}

LoadedSchedule ScheduleSource::load(Console& console) const {
  const auto text = spec_text();
  return text ? from_spec(*text, memory_.limit(), bytes_of_op_, console)
              : from_file(schedule_, import_, memory_.limit(), bytes_of_op_, console);
}

LoadedSchedule ScheduleSource::load_proved(Console& console) const {
  check_proof_options();
  LoadedSchedule loaded = load(console);
  prove(loaded, console);
  return loaded;
}

LoadedSchedule ScheduleSource::load_proved_if_static(Console& console) const {
  check_proof_options();
  return proved_if_static(load(console), console);
}

LoadedSchedule ScheduleSource::proved_if_static(LoadedSchedule loaded, Console& console) const {
  try {
    prove(loaded, console);
  } catch (const Unsupported&) {
    if (prove_) throw;
  }
  return loaded;
}

LoadedSchedule ScheduleSource::load_of_size(std::uint64_t bytes, std::string_view option,
                                            Console& console) const {
  check_proof_options();
  const auto text = spec_text();
  if (!text) {
    throw InputError(fmt::format("{}: {} is a file, whose messages have one size; expected a spec",
                                 option, schedule_));
  }
  const std::string pattern = text->substr(0, text->find(':'));
  const sched::PatternEntry* entry = sched::find_pattern(pattern);
  if (entry != nullptr && entry->find_option("bytes") == nullptr) {
    throw InputError(
        fmt::format("{}: {} has no bytes; expected a pattern with messages", option, pattern));
  }
  return proved_if_static(
      from_spec(with_key(without_key(*text, "bytes"), "bytes", fmt::to_string(bytes)),
                memory_.limit(), bytes_of_op_, console),
      console);
}

void ScheduleSource::check_proof_options() const {
  if (prove_ && no_proof_) {
    throw InputError("--prove stands beside --no-proof; expected one of them");
  }
}

void ScheduleSource::prove(LoadedSchedule& loaded, Console& console) const {
  check_proof_options();
  const bool wanted = loaded.from_file || proof_ == Proof::kAlways || prove_;
  if (!wanted || no_proof_) return;
  console.phase("proving");
  try {
    sched::VerifyOptions options;
    options.memory = memory_.limit();
    require_sound(sched::verify(loaded.schedule, options), loaded.name);
    loaded.proved = true;
  } catch (const Unsupported& error) {
    // What a run decides no proof can foresee; that nothing was proved is said, and in the answer.
    if (prove_) throw;
    console.note(fmt::format("{}: not proved: {}", loaded.name, error.what()));
  }
}

std::string with_key(std::string spec, std::string_view key, std::string_view value) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos) return fmt::format("{}:{}={}", spec, key, value);
  std::string_view rest = std::string_view(spec).substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = base::take_item(rest);
    const std::size_t equals = item.find('=');
    if (item.substr(0, equals) != key || equals == std::string_view::npos) continue;
    if (item.substr(equals + 1) == value) return spec;
    throw InputError(fmt::format("--{} {}: the spec says {}; expected it once", key, value, item));
  }
  return fmt::format("{}{}{}={}", spec, spec.ends_with(':') ? "" : ",", key, value);
}

std::string without_key(const std::string& spec, std::string_view key) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos) return spec;
  std::string kept = spec.substr(0, colon);
  bool first = true;
  for (const std::string_view item : base::split(std::string_view(spec).substr(colon + 1))) {
    if (item.substr(0, item.find('=')) == key) continue;
    kept += first ? ':' : ',';
    kept += item;
    first = false;
  }
  return kept;
}

std::optional<std::uint64_t> blocks_of(const sched::Schedule& schedule) {
  const std::vector<bool> credits = schedule.control_channels();
  std::uint64_t largest = 0;
  for (const sched::Op& op : schedule.ops()) {
    if (op.kind != sched::OpKind::kSend && op.kind != sched::OpKind::kPut) continue;
    if (!credits[op.channel.value]) largest = std::max(largest, schedule.payload_bytes(op));
  }
  const std::uint64_t bytes = schedule.message_bytes();
  if (largest == 0 || bytes == 0) return std::nullopt;
  return (bytes - 1) / largest + 1;
}

void require_sound(const sched::Diagnostics& diagnostics, std::string_view name) {
  const auto is_error = [](const sched::Diagnostic& d) {
    return d.severity == sched::Severity::kError;
  };
  const auto first = std::find_if(diagnostics.begin(), diagnostics.end(), is_error);
  if (first == diagnostics.end()) return;
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(), is_error);
  throw InputError(fmt::format(
      "{}: the schedule is broken: {}: {}{}; expected one that `slackline check` proves", name,
      sched::name(first->code), first->message,
      errors > 1 ? fmt::format(" (and {} more)", errors - 1) : ""));
}

}  // namespace slackline::cli
