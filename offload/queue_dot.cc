#include "offload/queue_dot.h"

#include "base/append.h"
#include "offload/completions.h"

namespace slackline::offload {
namespace {

class DotWriter {
 public:
  explicit DotWriter(const QueueProgram& program) : program_(program), completions_(program) {}

  std::string run() {
    put("digraph queues {{\n  rankdir=LR;\n  node [shape=plain, fontname=\"monospace\"];\n");
    for (std::uint32_t r = 0; r < program_.rank_count(); ++r) {
      put("  subgraph cluster_{} {{\n    label=\"rank {}\";\n", r, r);
      for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
        if (program_.queues()[q].rank.value == r) add_queue(q);
      }
      put("  }}\n");
    }
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) add_arrows(q);
    put("}}\n");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    sched::append(text_, format, std::forward<Values>(values)...);
  }

  void add_queue(std::uint32_t q) {
    const Queue& queue = program_.queues()[q];
    put("    q{} [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\">", q);
    put("<tr><td bgcolor=\"{}\">queue {}: {} {}, cq {}</td></tr>",
        queue.managed ? "lightblue" : "lightgrey", q, name(queue.purpose), name(queue.kind),
        queue.cq.value);
    const auto entries = program_.entries(queue);
    for (std::uint32_t e = 0; e < entries.size(); ++e) {
      put("<tr><td port=\"e{}\">{}", e, name(entries[e].kind));
      if (entries[e].kind == EntryKind::kWait) {
        put(" cq {} ≥ {}", entries[e].target, entries[e].count);
      } else if (is_enable(entries[e].kind)) {
        put(" queue {} to {}", entries[e].target, entries[e].count);
      } else if (entries[e].op.valid()) {
        put(" op {}, step {}", entries[e].op.value, entries[e].step);
      }
      put("</td></tr>");
    }
    put("</table>>];\n");
  }

  void add_arrows(std::uint32_t q) {
    const Queue& queue = program_.queues()[q];
    const auto entries = program_.entries(queue);
    std::uint32_t message = 0;
    for (std::uint32_t e = 0; e < entries.size(); ++e) {
      if (is_message(entries[e].kind)) {
        if (message < program_.queue(queue.peer).count) {
          put("  q{}:e{} -> q{}:e{};\n", q, e, queue.peer.value, message);
        }
        ++message;
      } else if (entries[e].kind == EntryKind::kWait) {
        const EntryRef from = completions_.maker(CqId(entries[e].target), entries[e].count);
        if (from.queue.valid()) {
          put("  q{}:e{} -> q{}:e{} [style=dashed, color=blue];\n", from.queue.value, from.entry, q,
              e);
        }
      } else if (is_enable(entries[e].kind)) {
        const Queue& target = program_.queues()[entries[e].target];
        if (entries[e].count > target.start && entries[e].count - target.start <= target.count) {
          put("  q{}:e{} -> q{}:e{} [style=dotted, color=red];\n", q, e, entries[e].target,
              entries[e].count - target.start - 1);
        }
      }
    }
  }

  const QueueProgram& program_;
  QueueCompletions completions_;
  std::string text_;
};

}  // namespace

std::string write_dot(const QueueProgram& program) { return DotWriter(program).run(); }

}  // namespace slackline::offload
