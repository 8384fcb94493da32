#include "sched/pass/require_no_results.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sched/operands.h"

namespace slackline::sched {

void require_no_results(const Schedule& schedule, std::string_view pass) {
  if (schedule.argument_table().empty()) return;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const OpArguments arguments = schedule.arguments(schedule.ops()[i]);
    for (const Operand* operand : operands(arguments)) {
      if (operand->is_dynamic()) {
        throw Unsupported(fmt::format("{}: {} uses another operation's result", pass,
                                      describe(schedule, OpId(i))));
      }
    }
  }
}

}  // namespace slackline::sched
