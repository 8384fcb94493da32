// Where a command's schedule comes from: a spec, a file or standard input; and its proof.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/memory_option.h"
#include "machine/rails.h"
#include "sched/compile.h"
#include "sched/diagnostic.h"
#include "sched/file.h"
#include "sched/schedule.h"
#include "sched/workloads/structures/structure.h"

namespace slackline::cli {

/// What a command does about the proof. A schedule from a file is always proved before it is used,
/// unless --no-proof.
enum class Proof : std::uint8_t {
  kAlways,   // patterns are proved too: compile
  kOnDemand  // patterns are taken as proved by compile; --prove proves them again
};

struct LoadedSchedule {
  sched::Schedule schedule;
  std::string name;  // for people: the canonical spec, or the file as it was given
  /// What makes it again, for traces: the same, but for standard input what the schedule says.
  std::string title;
  /// Blocks of the message; nothing where that has no meaning.
  std::optional<std::uint64_t> blocks;
  bool from_file = false;
  bool proved = false;
  /// Of a data structure's spec: what was made beside the schedule. Its own schedule has moved to
  /// the one above, and is not to be looked at.
  std::optional<sched::StructureProgram> structure{};
  /// The pattern of its spec; nothing for a file.
  std::optional<std::string> pattern{};
};

/// SCHEDULE and the options that go with it.
class ScheduleSource {
 public:
  /// The argument, which may be left out unless `needed`, and the options that stand for keys of a
  /// spec.
  void declare(Arguments& arguments, bool needed = true);
  /// --no-proof, and --prove where it makes a difference.
  void declare_proof(Arguments& arguments, Proof proof,
                     std::string_view no_proof_help = "do not prove a schedule from a file");
  void require(std::string schedule, const MemoryOption& memory) {
    schedule_ = std::move(schedule);
    memory_ = memory;
  }
  /// What of SCHEDULE and the options for a spec was given, as in "--lower"; empty if nothing was.
  std::string given() const;
  /// SCHEDULE is standard input.
  bool is_standard_input() const { return schedule_ == "-"; }

  /// What the command does with the schedule takes so much memory, the schedule's included, at the
  /// most, in bytes an operation: loading it refuses what there is not enough memory for.
  void takes(std::uint64_t bytes_of_op) { bytes_of_op_ = std::max(bytes_of_op_, bytes_of_op); }

  /// How much memory the command may take.
  const MemoryOption& memory() const { return memory_; }

  /// Throws InputError if --nics says another number of NICs than the platform has, or the platform
  /// has channels take them otherwise than by their numbers.
  void require_rails(const machine::Rails& rails) const;

  /// The spec with the options that go with it, of any size; nothing for a file. Throws InputError.
  std::optional<sched::Spec> spec() const;
  /// A proof was asked for.
  bool proof_wanted() const { return prove_ || proof_ == Proof::kAlways; }
  /// It was said that there shall be none.
  bool proof_declined() const { return no_proof_; }

  /// Compiles or reads it, without proof. Throws InputError; EnvironmentError, before the work, if
  /// memory will not hold it.
  LoadedSchedule load(Console& console) const;
  /// The same with the proof. Throws InputError, with the first defect, if it does not hold.
  LoadedSchedule load_proved(Console& console) const;
  /// The same for what proves the bytes of a run itself: a schedule that the verifier does not take
  /// is proved only where --prove asks for it.
  LoadedSchedule load_proved_if_static(Console& console) const;
  /// The same of the spec with messages of `bytes`, whatever its own says. Throws InputError,
  /// naming `option`, for a file and for a pattern without messages.
  LoadedSchedule load_of_size(std::uint64_t bytes, std::string_view option, Console& console) const;
  /// Proves what came from elsewhere as load_proved() would.
  void prove(LoadedSchedule& loaded, Console& console) const;

 private:
  void check_proof_options() const;
  LoadedSchedule proved_if_static(LoadedSchedule loaded, Console& console) const;
  std::optional<std::string> spec_text() const;
  // The first option that was given of those for files of other tools; empty if none was.
  std::string import_option() const;

  std::string schedule_;
  MemoryOption memory_;
  std::uint64_t bytes_of_op_ = sched::kMemoryOfOp;
  std::optional<std::string> lower_, ready_, start_, window_, first_block_, in_flight_;
  bool lockstep_ = false;
  sched::ImportOptions import_;
  Proof proof_ = Proof::kOnDemand;
  bool no_proof_ = false;
  bool prove_ = false;
};

/// `spec` with one more key. Throws InputError if it says something else under that key already.
std::string with_key(std::string spec, std::string_view key, std::string_view value);

/// `spec` without what it says under a key, if it says anything.
std::string without_key(const std::string& spec, std::string_view key);

/// The blocks of a schedule that came without a Plan: its message over its largest data message,
/// rounded up. Nothing without either.
std::optional<std::uint64_t> blocks_of(const sched::Schedule& schedule);

/// Throws InputError, naming `name`, the first error and how many there are, if there are any.
void require_sound(const sched::Diagnostics& diagnostics, std::string_view name);

}  // namespace slackline::cli
