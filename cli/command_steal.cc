// `steal`: a search of a tree whose steals are decided as it runs, and the schedule of what it did.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/stealing/work_stealing.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/simulation_options.h"
#include "sched/text.h"
#include "sched/verify.h"

namespace slackline::cli {
namespace {

constexpr double kSame = 1e-9;  // of a makespan, and of that of its schedule

std::optional<analysis::StealShare> share_named(std::string_view name) {
  if (name == "half") return analysis::StealShare::kHalf;
  if (name == "chunk") return analysis::StealShare::kChunk;
  return std::nullopt;
}

class Steal : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("TREE", tree_,
                         "T1, T5, T2, T3, T1L or T2L: a sample of the UTS benchmark");
    arguments.number("-n,--ranks", "N", ranks_, "how many (default: 8)", 1,
                     analysis::kMostStealRanks);
    arguments.number("--depth", "N", depth_, "of the tree, instead of its own", 1, 4096);
    arguments.option("--work", "TIME", work_, "what a vertex takes (default: 1us)",
                     sched::parse_time);
    arguments.number("--look", "N", look_, "vertices between two looks for messages (default: 8)",
                     1, 1u << 20);
    arguments.choice(
        "--give", "half|chunk", share_,
        "what a victim gives: half of what it has (default), or --chunk vertices while "
        "it has twice as many",
        share_named);
    arguments.number("--chunk", "N", chunk_,
                     "vertices that a victim gives with --give chunk (default: 20)", 1, 1u << 20);
    arguments.option("--handler", "TIME", handler_,
                     "what each message takes its rank (default: 100ns)", sched::parse_time);
    arguments.option(
        "--rest", "TIME", rest_,
        "after a refusal; after each more twice as long, up to 32 times (default: 2us)",
        sched::parse_time);
    arguments.number("--draw", "SEED", seed_, "draws the victims (default: 1)", 0);
    options_.declare(arguments);
    arguments.output("-o,--output", output_,
                     "where the schedule of what was decided goes; - for standard output (default: "
                     "nowhere)");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("T1 --ranks 32 --platform cori -o stolen.sched");
  }

  int run(Console& console) override {
    const analysis::StealOptions options = stealing();
    const RunSetting chosen = options_.resolve(console);
    if (chosen.policy != machine::IssuePolicy::kInOrder || chosen.sends_in_flight != 0) {
      throw Unsupported(
          "steal: an order of posts; expected --policy in-order and no --sends-in-flight");
    }
    console.phase("searching");
    const analysis::StolenSearch search =
        analysis::search_stealing(options, chosen.platform, chosen.delays, *chosen.engine, title());
    console.phase("proving");
    const sched::Diagnostics wrong = sched::verify(search.schedule);
    if (!wrong.empty())
      throw InternalError("what was decided is no proof: " + wrong.front().message);
    const SettledRun again(chosen, search.schedule, console);
    const sched::Trace replayed = again.run(console);
    const double replayed_s = replayed.makespan_s();
    const double found_s = search.figures.makespan_s;
    if (!(std::abs(replayed_s - found_s) <= kSame * found_s)) {
      throw InternalError(fmt::format(
          "the schedule of what was decided takes {} s, and the search {} s", replayed_s, found_s));
    }
    Answer answer({json_, false}, {title(), to_string(search.schedule.digest()), true,
                                   search.schedule.message_bytes()});
    say(answer, search, chosen, replayed.contended);
    if (output_) {
      deliver(output_, sched::write_text(search.schedule), answer, console);
    } else {
      answer.set_null({"file"});
      console.print(answer.text());
    }
    return 0;
  }

 private:
  analysis::StealOptions stealing() const {
    analysis::StealOptions options;
    const auto sample = sched::uts_sample(tree_);
    if (!sample) {
      throw InputError(fmt::format("steal: '{}'; expected T1, T5, T2, T3, T1L or T2L", tree_));
    }
    options.tree = *sample;
    if (depth_ && sample->shape == sched::UtsShape::kBinomial) {
      throw InputError(
          fmt::format("--depth: {} of {}, which is binomial; expected no depth", *depth_, tree_));
    }
    options.tree.depth = depth_.value_or(sample->depth);
    options.ranks = ranks_.value_or(8);
    options.work = work_.value_or(options.work);
    options.look = look_.value_or(options.look);
    options.share = share_.value_or(options.share);
    if (chunk_ && options.share != analysis::StealShare::kChunk) {
      throw InputError("--chunk: without --give chunk; expected both");
    }
    options.chunk = chunk_.value_or(options.chunk);
    options.handler = handler_.value_or(options.handler);
    options.rest = rest_.value_or(options.rest);
    options.seed = seed_.value_or(options.seed);
    return options;
  }

  std::string title() const {
    return fmt::format("{}{} on {} ranks, stealing", tree_,
                       depth_ ? fmt::format(" to depth {}", *depth_) : "", ranks_.value_or(8));
  }

  void say(Answer& answer, const analysis::StolenSearch& search, const RunSetting& chosen,
           bool contended) const {
    const analysis::StealFigures& figures = search.figures;
    answer.set("tree", tree_);
    answer.both("vertices", "vertices", search.vertices);
    answer.both("ranks", "ranks", search.schedule.rank_count());
    answer.both("platform", "platform", chosen.platform.name);
    answer.both("engine", "engine", chosen.engine->name);
    answer.makespan(figures.makespan_s);
    answer.both("ideal_s", "ideal", in_seconds(search.ideal_s));
    const double over_ideal = figures.makespan_s / search.ideal_s;
    // Vertices that take no time have no ideal.
    answer.both("over_ideal", "over ideal",
                search.ideal_s > 0 ? Value(over_ideal).shown_as(fmt::format("{:.4f}", over_ideal))
                                   : Value().shown_as("–"));
    answer.both("asked", "asked", figures.asked);
    answer.both("refused", "refused", figures.refused);
    answer.both("moved", "moved", figures.moved);
    answer.both("messages", "messages", figures.messages);
    answer.both("ops", "ops", search.schedule.op_count());
    answer.digest_row();
    answer.row("proved", "yes, and as long when run as a schedule");
    if (output_) answer.row("file", *output_);
    answer.set("contended", contended);
    if (contended) {
      answer.say(
          "  messages shared a NIC or a link, which this engine leaves out: the search would be "
          "another; --engine flow has it\n");
    }
  }

  std::string tree_;
  std::optional<std::uint32_t> ranks_, depth_, look_, chunk_;
  std::optional<sched::Time> work_, handler_, rest_;
  std::optional<analysis::StealShare> share_;
  std::optional<std::uint64_t> seed_;
  SimulationOptions options_{"simgrid"};
  std::optional<std::string> output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_steal() { return std::make_unique<Steal>(); }

}  // namespace slackline::cli
