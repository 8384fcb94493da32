#include "cli/offload_report.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/append.h"
#include "base/units.h"
#include "base/write_folder.h"
#include "cli/json_document.h"
#include "cli/platform_report.h"
#include "cli/table.h"
#include "offload/encode_queues.h"
#include "offload/queue_text.h"

namespace slackline::cli {
namespace {

using offload::RankCosts;

struct Figure {
  const char* key;   // in JSON
  const char* text;  // for people
  std::uint64_t RankCosts::*value;
};

constexpr Figure kFigures[] = {
    {"data", "data messages sent", &RankCosts::sends},
    {"waits", "waits for data", &RankCosts::waits},
    {"enables", "enables of data", &RankCosts::enables},
    {"readiness_waits", "waits for readiness", &RankCosts::readiness_waits},
    {"grants", "handshakes or credits sent", &RankCosts::grants},
    {"grant_entries", "entries that send them", &RankCosts::grant_entries},
    {"collector", "entries of the collector", &RankCosts::collector},
    {"management_depth", "longest management queue", &RankCosts::management_depth},
    {"depth", "longest queue", &RankCosts::depth},
    {"queue_pairs", "queue pairs", &RankCosts::pairs},
    {"completion_queues", "completion queues", &RankCosts::cqs},
    {"entries", "entries the host posts", &RankCosts::entries},
    {"doorbells", "doorbells the host rings", &RankCosts::doorbells},
};

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sched::append(text, "{}{:02x}", i % 4 == 0 && i != 0 ? " " : "", bytes[i]);
  }
  return text;
}

std::string times(double part, double whole) {
  return whole > 0 ? fmt::format("{:.3f} × the software's time", part / whole) : std::string("-");
}

void set_costs(JsonDocument& document, const RankCosts& costs) {
  for (const Figure& figure : kFigures) document.set(figure.key, costs.*figure.value);
}

std::string rank_file(const offload::QueueProgram& program,
                      const std::vector<offload::EncodedQueue>& queues,
                      const offload::NicNumbers& numbers, std::uint32_t rank) {
  std::string text;
  sched::append(text, "# rank {} of {}; program {}\n", rank, program.rank_count(),
                to_string(program.digest()));
  for (const offload::EncodedQueue& encoded : queues) {
    const offload::Queue& q = program.queue(encoded.queue);
    if (q.rank.value != rank) continue;
    sched::append(text, "queue {} {} {} qpn {:#08x} cqn {:#08x} start {} entries {} stride {}{}\n",
                  encoded.queue.value, name(q.kind), name(q.purpose), numbers.qpn[q.pair],
                  numbers.cqn[q.cq.value], q.start, q.count, encoded.stride,
                  q.managed ? " managed" : "");
    for (std::uint32_t e = 0; e < q.count; ++e) {
      sched::append(
          text, "  {}  # {} {}\n",
          hex(std::span(encoded.bytes).subspan(std::size_t{e} * encoded.stride, encoded.stride)), e,
          name(program.entries(q)[e].kind));
    }
    if (encoded.doorbell_record) {
      sched::append(text, "doorbell {} record {:08x}", encoded.queue.value,
                    *encoded.doorbell_record);
      if (encoded.doorbell) sched::append(text, " register {}", hex(*encoded.doorbell));
      sched::append(text, "\n");
    }
  }
  return text;
}

}  // namespace

std::string offload_report(const OffloadAnswer& answer) {
  const offload::QueueProgram& program = answer.program;
  std::string text =
      fmt::format("{}\n{}, {}", answer.subject.name, name(program.mode()),
                  program.readiness() == offload::Readiness::kNone ? "no readiness"
                                                                   : name(program.readiness()));
  if (program.window() != 0) text += fmt::format(" of {}", program.window());
  text += fmt::format(", {} queues, program {}\n\n", program.queues().size(),
                      to_string(program.digest()));
  Table table({Align::kLeft, Align::kRight});
  table.add({"of the worst rank", ""});
  const RankCosts most = offload::worst(answer.costs);
  for (const Figure& figure : kFigures) {
    table.add({figure.text, fmt::format("{}", most.*figure.value)});
  }
  text += table.text() + "\n";
  for (const auto& found : answer.diagnostics) {
    text += fmt::format("{}: {}\n", name(found.code), found.message);
  }
  if (answer.diagnostics.empty())
    text += "proved sound: whatever the timing, it ends and is right\n";
  if (answer.runs) {
    const OffloadRuns& runs = *answer.runs;
    if (runs.fault.empty()) {
      text += fmt::format("emulated: {} timings, each sound\n", runs.timings);
    } else {
      text += fmt::format("emulated: not sound at seed {}\n", runs.seed);
      for (const std::string& fault : runs.fault) text += fmt::format("  {}\n", fault);
    }
    for (const std::string& fault : runs.faults) text += fmt::format("  timed: {}\n", fault);
    Table clock({Align::kLeft, Align::kRight, Align::kLeft});
    clock.add({"offloaded", sched::human_seconds(runs.offload_s),
               fmt::format("emulated{}, egress {}; {}",
                           runs.engine == "simgrid" ? " inside SimGrid"
                           : runs.engine == "flow"  ? " with shared links"
                                                    : "",
                           runs.egress, times(runs.offload_s, runs.software_s))});
    clock.add({"relayed by software", sched::human_seconds(runs.software_s),
               fmt::format("{} engine", runs.engine)});
    Table machine({Align::kLeft, Align::kLeft});
    add_platform_rows(machine, runs.platform.name, runs.platform,
                      static_cast<std::uint32_t>(answer.costs.size()));
    text += '\n' + machine.text() + clock.text();
    if (runs.contended) {
      text +=
          "messages shared a NIC or a link, which this engine leaves out: times are too short; "
          "--engine flow has them\n";
    }
    if (runs.not_ready != 0) {
      text += fmt::format("{} messages came before their receive was posted\n", runs.not_ready);
    }
  }
  if (answer.folder) text += fmt::format("\nwrote {}\n", *answer.folder);
  if (answer.real) {
    text += fmt::format("run on {}: {}, bytes as the contract says\n", answer.real->device,
                        sched::human_seconds(answer.real->time_s));
  } else {
    text += "No card has run this; times are the machine model's.\n";
  }
  return text;
}

std::string offload_document(const OffloadAnswer& answer) {
  const offload::QueueProgram& program = answer.program;
  JsonDocument document(answer.subject.digest, answer.subject.proved);
  document.set("mode", name(program.mode()));
  document.set("readiness", name(program.readiness()));
  document.set("window", program.window());
  document.set("program_digest", to_string(program.digest()));
  document.set("queues", std::uint64_t{program.queues().size()});
  document.set("ok", answer.sound());
  document.begin_list("diagnostics");
  for (const auto& found : answer.diagnostics) {
    document.begin_object();
    document.set("code", name(found.code));
    if (found.queue.valid()) {
      document.set("queue", found.queue.value);
    } else {
      document.set_null("queue");
    }
    document.set("message", found.message);
    document.end();
  }
  document.end();
  document.begin_list("ranks");
  for (const RankCosts& costs : answer.costs) {
    document.begin_object();
    set_costs(document, costs);
    document.end();
  }
  document.end();
  if (answer.runs) {
    const OffloadRuns& runs = *answer.runs;
    document.set("timings", runs.timings);
    document.set("emulated_sound", runs.fault.empty() && runs.faults.empty());
    set_platform(document, runs.platform, static_cast<std::uint32_t>(answer.costs.size()));
    document.set("contended", runs.contended);
    document.set("engine", runs.engine);
    document.set("egress", runs.egress);
    document.set("offload_makespan_s", runs.offload_s);
    document.set("software_makespan_s", runs.software_s);
    document.set("messages_not_ready", runs.not_ready);
  }
  if (answer.real) {
    document.set("device", answer.real->device);
    document.set("real_makespan_s", answer.real->time_s);
  }
  document.set("folder", answer.folder);
  return document.text();
}

void write_encoding(const OffloadAnswer& answer, const std::string& folder) {
  const offload::QueueProgram& program = answer.program;
  const offload::NicNumbers numbers = offload::placeholder_numbers(program);
  const auto queues = offload::encode_queues(program, numbers);
  sched::FolderWriter files(folder);
  for (std::uint32_t r = 0; r < program.rank_count(); ++r) {
    files.write(fmt::format("rank-{}.txt", r), rank_file(program, queues, numbers, r));
  }
  files.write("program.queues", offload::write_queues(program));
  JsonDocument manifest(answer.subject.digest, answer.subject.proved);
  manifest.set("schedule", answer.subject.name);
  manifest.set("program_digest", to_string(program.digest()));
  manifest.set("mode", name(program.mode()));
  manifest.set("readiness", name(program.readiness()));
  manifest.set("numbers", "placeholders");
  manifest.begin_list("queue_pairs");
  for (std::uint32_t p = 0; p < numbers.qpn.size(); ++p) {
    manifest.begin_object();
    manifest.set("qpn", numbers.qpn[p]);
    manifest.end();
  }
  manifest.end();
  manifest.begin_list("completion_queues");
  for (std::uint32_t c = 0; c < program.cqs().size(); ++c) {
    manifest.begin_object();
    manifest.set("rank", program.cqs()[c].rank.value);
    manifest.set("cqn", numbers.cqn[c]);
    manifest.set("start", program.cqs()[c].start);
    manifest.end();
  }
  manifest.end();
  manifest.begin_list("buffers");
  for (std::uint32_t b = 0; b < program.buffers().size(); ++b) {
    manifest.begin_object();
    manifest.set("rank", program.buffers()[b].rank.value);
    manifest.set("bytes", program.buffers()[b].bytes);
    manifest.set("address", numbers.memory[b].address);
    manifest.set("local_key", numbers.memory[b].local_key);
    manifest.set("remote_key", numbers.memory[b].remote_key);
    manifest.end();
  }
  manifest.end();
  manifest.begin_list("files");
  for (std::uint32_t r = 0; r < program.rank_count(); ++r) {
    manifest.begin_object();
    manifest.set("rank", r);
    manifest.set("file", fmt::format("rank-{}.txt", r));
    manifest.end();
  }
  manifest.end();
  files.write("manifest.json", manifest.text() + "\n");
  files.finish();
}

}  // namespace slackline::cli
