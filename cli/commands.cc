#include "cli/commands.h"

#include <array>

namespace slackline::cli {
namespace {

// A new command is one line here.
constexpr std::array kCommands = {
    CommandEntry{"list", "what there is: patterns, platforms, figures, engines and more",
                 make_list},
    CommandEntry{"compile", "build a schedule, prove it, write it to a file", make_compile},
    CommandEntry{"check", "prove a schedule, or say what is wrong with it", make_check},
    CommandEntry{"export", "write the dataflow graph in another tool's format", make_export},
    CommandEntry{"simulate", "how long it takes on a platform, and what is busy", make_simulate},
    CommandEntry{"run", "carry it out for real, and prove its bytes", make_run},
    CommandEntry{"testbed", "a platform's network on this machine, and a run on it", make_testbed},
    CommandEntry{"group", "what survivors of a group do when a member fails", make_group},
    CommandEntry{"slack", "where its slack is, and what is critical", make_slack},
    CommandEntry{"validate", "what slack predicts, held against delayed runs", make_validate},
    CommandEntry{"offload", "queues that NICs work off alone, proved and emulated", make_offload},
    CommandEntry{"steal", "a tree searched by ranks that steal as it runs, and its schedule",
                 make_steal},
    CommandEntry{"advise", "the fastest pattern, block size and placement", make_advise},
    CommandEntry{"convert", "a trace as a timeline for another tool", make_convert},
    CommandEntry{"compare", "two runs of one schedule, held against each other", make_compare},
    CommandEntry{"report", "a run as a page for a browser, with its slack", make_report},
    CommandEntry{"view", "the same page, opened in a browser at once", make_view},
    CommandEntry{"sweep", "many simulations, as a study says, and what came of each", make_sweep},
    CommandEntry{"calibrate", "a machine's figures from measured points", make_calibrate},
    CommandEntry{"reproduce", "a paper's figure or table, held to what it says", make_reproduce},
};

}  // namespace

std::span<const CommandEntry> commands() { return kCommands; }

}  // namespace slackline::cli
