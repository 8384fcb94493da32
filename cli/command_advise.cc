#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analysis/advice/advise.h"
#include "analysis/synthesis/exact.h"
#include "base/error.h"
#include "base/split.h"
#include "base/units.h"
#include "cli/advice_report.h"
#include "cli/commands.h"
#include "cli/cores.h"
#include "cli/human.h"
#include "cli/inline_delays.h"
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/synthesis_run.h"
#include "engines/network.h"
#include "sched/pass/stripe.h"
#include "sched/text.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/makespans.h"
#endif

namespace slackline::cli {
namespace {

constexpr std::uint32_t kDefaultConfirm = 5;
constexpr std::uint32_t kDefaultSamples = 40;
constexpr std::uint32_t kNoisy = 8;  // how many of the fastest are tried with noise
constexpr std::string_view kDefaultNoise = "exponential,mean=1us,chance=10%";
constexpr std::string_view kDefaultRackMap = "racks.txt";

std::vector<std::string> items_of(std::string_view text, std::string_view what) {
  std::vector<std::string> items;
  for (const std::string_view item : base::split(text)) {
    if (item.empty()) {
      throw InputError(fmt::format("{}: an empty item; expected a list as a,b,c", what));
    }
    items.emplace_back(item);
  }
  return items;
}

#ifdef SLACKLINE_HAVE_SIMGRID
analysis::Confirm simgrid(std::uint32_t jobs, Console& console) {
  return [jobs, &console](std::span<const analysis::Candidate* const> candidates) {
    sim::MakespanRuns runs;
    runs.count = static_cast<std::uint32_t>(candidates.size());
    runs.jobs = jobs;
    runs.schedule = [&](std::uint32_t i) { return sched::compile(candidates[i]->spec); };
    runs.platform = [&](std::uint32_t i) -> const machine::Platform& {
      return candidates[i]->platform;
    };
    std::uint32_t done = 0;
    runs.ended = [&] { console.progress("confirming in SimGrid", ++done, candidates.size()); };
    return sim::simgrid_makespans(runs);
  };
}
#endif

class Advise : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.number("--ranks", "N", ranks_, "how many ranks; needed", 1, 1u << 24);
    arguments.option("--bytes", "SIZE", bytes_, "the message; needed");
    arguments.option(
        "-p,--platform", "PLATFORM", platform_,
        fmt::format("a preset's name, a TOML file, or TOPOLOGY:key=value,… (default: {})",
                    machine::kDefaultPlatform));
    arguments.option("--collective", "NAME", collective_,
                     "multicast, allgather, reduce-scatter or allreduce (default: multicast)");
    arguments.option("--patterns", "NAME,…", patterns_,
                     "which to try, or what to make the collective of (default: every one)");
    arguments.option("--blocks", "SIZE,…", blocks_,
                     "block sizes to try (default: powers of two that suit the message)");
    arguments.option("--placements", "NAME,…", placements_,
                     "which to try: packed, round-robin, random:SEED, file:PATH (default: the "
                     "first three, unless the platform says where ranks are)");
    arguments.option("--stripes", "N,…", stripes_,
                     "parts of a message to try, each on a channel of its own (default: 1, and the "
                     "platform's rails where they would take several)");
    arguments.number("--most-ops", "N", most_ops_,
                     "candidates that may have more operations are skipped (default: 1000000)", 1,
                     sched::kMaxOps);
    arguments.option(
        "--confirm", "N|all", confirm_,
        fmt::format("run at least so many of the best in SimGrid (default: {})", kDefaultConfirm));
    arguments.number("--confirm-ops", "N", confirm_ops_,
                     "stop confirming those that might still be faster after so many operations "
                     "(default: 20000000)",
                     0);
    arguments.number(
        "--samples", "N", samples_,
        fmt::format("noisy runs of each of the fastest; 0: none (default: {})", kDefaultSamples), 0,
        1u << 20);
    arguments.repeatable("--noise", "KIND,key=value", noise_,
                         fmt::format("as simulate has it (default: {})", kDefaultNoise));
    arguments.number("--seed", "N", seed_, "of random placement, noise and synthesis (default: 0)",
                     0);
    arguments.flag("--synthesize", synthesize_,
                   "also make a schedule for this platform, of no pattern");
    arguments.number("--attempts", "N", attempts_,
                     "synthesis: schedules to make of each block size (default: 100)", 1, 1u << 20);
    arguments.number("--improvements", "N", improvements_,
                     "synthesis: changes to try on each of the best (default: 1000)", 0, 1u << 20);
    arguments.number("--descend", "N", descend_,
                     "synthesis: at last try changes where a delay costs most, in so many runs "
                     "(default: 0)",
                     0);
    arguments.flag("--exact", exact_,
                   "synthesis: also search for the fewest steps, of up to 8 ranks");
    arguments.number("--nodes", "N", nodes_,
                     "of that search: choices to look at for each block size (default: 500000)", 1);
    arguments.file("--out", out_, "write the synthesized schedule there");
    declare_jobs(arguments, jobs_, "at a time (default: all cores)");
    arguments.file("--rack-map", rack_map_,
                   "write the racks there, if the advice needs a file that says them");
    arguments.file("--report", report_file_, "write the candidates there as a page for a browser");
    arguments.file("--csv", csv_, "write every candidate there, best first");
    arguments.drawing("--plot", plot_, "draw the times of the best there (SVG)");
    reader_.declare(arguments, "every candidate, not the first few");
    arguments.example("--ranks 48 --bytes 64MiB --platform apt");
    arguments.example(
        "--ranks 8 --bytes 1MiB -p torus:dims=2x4 --collective allgather --synthesize");
    arguments.example("--ranks 16 --bytes 1MiB -p two-level:racks=4,hosts=4,oversubscription=4");
  }

  int run(Console& console) override {
    const analysis::AdviceRequest request = read_request();
    if (csv_ && csv_ == plot_) {
      throw InputError(
          fmt::format("--csv and --plot both go to {}; expected a place for each", *csv_));
    }
    if (!synthesize_ && (attempts_ || improvements_ || out_ || exact_ || descend_)) {
      throw InputError(fmt::format("{}: without --synthesize nothing is made; expected both",
                                   attempts_  ? "--attempts"
                                   : out_     ? "--out"
                                   : exact_   ? "--exact"
                                   : descend_ ? "--descend"
                                              : "--improvements"));
    }
    if (nodes_ && !exact_) {
      throw InputError("--nodes: without --exact nothing is searched; expected both");
    }
    const std::uint32_t jobs = jobs_of(jobs_);
    const std::uint32_t samples = samples_.value_or(kDefaultSamples);
    if (samples == 0 && !noise_.empty()) {
      throw InputError("--noise beside --samples 0: no noisy run is made; expected one of them");
    }
    if (confirm_ == "all" && confirm_ops_) {
      throw InputError("--confirm-ops beside --confirm all: all are run; expected one of them");
    }
    machine::DelayPlan noise;
    noise.seed = seed_.value_or(0);
    if (noise_.empty()) add_noise(noise, kDefaultNoise);
    for (const std::string& text : noise_) add_noise(noise, text);
    analysis::ConfirmRequest confirming;
    confirming.at_least = kDefaultConfirm;
    if (confirm_ == "all") {
      confirming.at_least = std::numeric_limits<std::uint32_t>::max();
    } else if (confirm_) {
      confirming.at_least =
          static_cast<std::uint32_t>(sched::parse_count(*confirm_, "--confirm", 1, 1u << 20));
    }
    confirming.most_ops = confirm_ops_.value_or(confirming.most_ops);

    analysis::CandidateTable table = analysis::candidates_of(request);
    const analysis::AdviceProgress progress = [&](std::string_view what, std::uint64_t done,
                                                  std::uint64_t of) {
      console.progress(what, done, of);
    };
    // A network that SimGrid reads is read in children of this process, one at a time.
    const bool by_simgrid = request.platform.topology.kind() == machine::TopologyKind::kSimgridFile;
    analysis::predict(table.candidates, engines::wiring_of, by_simgrid ? 1 : jobs, progress);
    std::optional<analysis::Confirmed> confirmed;
    if (!table.candidates.empty()) {
#ifdef SLACKLINE_HAVE_SIMGRID
      confirmed = analysis::confirm(table.candidates, confirming, simgrid(jobs, console), progress);
#else
      console.note("this program was built without SimGrid: predictions are not confirmed");
#endif
    }
    analysis::sample_noise(table.candidates, engines::wiring_of, noise, samples, kNoisy, jobs,
                           progress);
    const std::vector<std::uint32_t> ranking = analysis::ranking(table.candidates);

    AdviceReport report{request,
                        table,
                        ranking,
                        confirmed,
                        platform_.value_or(std::string(machine::kDefaultPlatform)),
                        rack_map_.value_or(std::string(kDefaultRackMap)),
                        false,
                        noise,
                        samples};
    Subject subject{
        fmt::format("{}{} {} {} on {}",
                    request.collective.empty() ? "" : request.collective + " of ",
                    human_bytes(request.bytes), request.collective.empty() ? "to" : "among",
                    human_count(request.ranks, "rank"), request.platform.name),
        std::nullopt};
    if (!ranking.empty()) {
      const analysis::Candidate& best = table.candidates[ranking.front()];
      console.phase("compiling");
      subject.digest = to_string(sched::compile(best.spec).digest());
      if (synthesize_) {
        std::vector<const analysis::Candidate*> ranked;
        for (const std::uint32_t i : ranking) ranked.push_back(&table.candidates[i]);
        SynthesisRun synthesis = run_synthesis(request, ranked, synthesis_options(jobs), console);
        if (out_) write_output_file(*out_, sched::write_text(synthesis.schedule));
        report.synthesis = std::move(synthesis.report);
      }
      if (best.needs_rack_map && rack_map_) {
        write_output_file(*rack_map_, rack_map_text(best));
        report.rack_map_written = true;
      } else if (rack_map_) {
        console.note(fmt::format(
            "--rack-map {}: not written, since the advice names no file of racks", *rack_map_));
      }
    }
    write_answer_page(
        report_file_, subject, [&](Answer& answer) { report.say(answer); }, console);
    if (csv_) write_output_file(*csv_, report.csv());
    if (plot_) write_output_file(*plot_, report.plot(subject.name));
    Answer answer(reader_, subject);
    report.say(answer);
    console.print(answer.text());
    return ranking.empty() ? 1 : 0;
  }

 private:
  analysis::AdviceRequest read_request() const {
    if (!ranks_) throw InputError("--ranks: missing; expected how many, as --ranks 16");
    if (!bytes_)
      throw InputError("--bytes: missing; expected the message's size, as --bytes 64MiB");
    analysis::AdviceRequest request;
    request.ranks = *ranks_;
    request.bytes = sched::parse_bytes(*bytes_, "--bytes");
    request.platform =
        machine::load_platform(platform_ ? *platform_ : std::string(machine::kDefaultPlatform));
    request.most_ops = most_ops_.value_or(request.most_ops);
    if (collective_ && *collective_ != "multicast") request.collective = *collective_;
    if (patterns_) {
      request.patterns = items_of(*patterns_, "--patterns");
    } else {
      for (const std::string_view name : analysis::patterns_for(request.collective)) {
        request.patterns.emplace_back(name);
      }
    }
    if (blocks_) {
      for (const std::string& text : items_of(*blocks_, "--blocks")) {
        request.blocks.push_back(sched::parse_bytes(text, "--blocks"));
        if (request.blocks.back() == 0) {
          throw InputError("--blocks: 0 bytes; expected at least 1");
        }
      }
    } else {
      request.blocks = analysis::usual_blocks(request.bytes);
    }
    request.stripes = analysis::usual_stripes(request.platform);
    if (stripes_) {
      request.stripes.clear();
      for (const std::string& text : items_of(*stripes_, "--stripes")) {
        request.stripes.push_back(static_cast<std::uint32_t>(
            sched::parse_count(text, "--stripes", 1, sched::kMostStripes)));
      }
    }
    if (placements_) {
      for (const std::string& text : items_of(*placements_, "--placements")) {
        request.placements.push_back(machine::parse_placement(text, "--placements"));
      }
    } else {
      request.placements.push_back(request.platform.placement);
      if (request.platform.placement == machine::Placement{}) {
        request.placements.push_back({machine::Placement::Kind::kRoundRobin, 0, ""});
        request.placements.push_back({machine::Placement::Kind::kRandom, seed_.value_or(0), ""});
      }
    }
    return request;
  }

  SynthesisOptions synthesis_options(std::uint32_t jobs) const {
    SynthesisOptions options;
    options.attempts = attempts_.value_or(options.attempts);
    options.improvements = improvements_.value_or(options.improvements);
    options.seed = seed_.value_or(0);
    options.jobs = jobs;
    if (exact_) options.exact_nodes = nodes_.value_or(analysis::kMostSearchNodes);
    options.descent_runs = descend_.value_or(0);
    return options;
  }

  static std::string rack_map_text(const analysis::Candidate& candidate) {
    std::string text = "# the rack of every rank\n";
    for (const std::uint32_t rack : candidate.spec.multicast.rack_of_rank) {
      text += fmt::format("{}\n", rack);
    }
    return text;
  }

  std::optional<std::string> bytes_, platform_, patterns_, blocks_, placements_, stripes_, confirm_,
      rack_map_, csv_, plot_, report_file_, collective_, out_;
  std::optional<std::uint32_t> ranks_, samples_, jobs_, attempts_, improvements_;
  std::optional<std::uint64_t> most_ops_, confirm_ops_, seed_, nodes_, descend_;
  std::vector<std::string> noise_;
  bool synthesize_ = false;
  bool exact_ = false;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_advise() { return std::make_unique<Advise>(); }

}  // namespace slackline::cli
