#include "cli/offload_report.h"

#include <fmt/format.h>

#include <span>

#include "base/append.h"
#include "base/units.h"
#include "base/write_folder.h"
#include "cli/platform_report.h"
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

void add_runs(Answer& answer, const OffloadRuns& runs, std::uint32_t ranks) {
  answer.set("timings", runs.timings);
  answer.set("emulated_sound", runs.fault.empty() && runs.faults.empty());
  if (answer.json() != nullptr) set_platform(*answer.json(), runs.platform, ranks);
  answer.set("contended", runs.contended);
  answer.set("engine", runs.engine);
  answer.set("egress", runs.egress);
  answer.set("offload_makespan_s", runs.offload_s);
  answer.set("software_makespan_s", runs.software_s);
  answer.set("messages_not_ready", runs.not_ready);
  if (runs.fault.empty()) {
    answer.say(fmt::format("emulated: {} timings, each sound\n", runs.timings));
  } else {
    answer.say(fmt::format("emulated: not sound at seed {}\n", runs.seed));
  }
  for (const std::string& fault : runs.fault) answer.say(fmt::format("  {}\n", fault));
  for (const std::string& fault : runs.faults) answer.say(fmt::format("  timed: {}\n", fault));
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
  add_platform_rows(machine, runs.platform.name, runs.platform, ranks);
  answer.say('\n' + machine.text() + clock.text());
  if (runs.contended) {
    answer.say(
        "messages shared a NIC or a link, which this engine leaves out: times are too short; "
        "--engine flow has them\n");
  }
  if (runs.not_ready != 0) {
    answer.say(fmt::format("{} messages came before their receive was posted\n", runs.not_ready));
  }
}

}  // namespace

void answer_offload(Answer& answer, const OffloadAnswer& found) {
  const offload::QueueProgram& program = found.program;
  answer.set("mode", name(program.mode()));
  answer.set("readiness", name(program.readiness()));
  answer.set("window", program.window());
  answer.set("program_digest", to_string(program.digest()));
  answer.set("queues", program.queues().size());
  answer.set("ok", found.sound());
  answer.say(fmt::format(
      "{}, {}{}, {} queues, program {}\n\n", name(program.mode()),
      program.readiness() == offload::Readiness::kNone ? "no readiness" : name(program.readiness()),
      program.window() != 0 ? fmt::format(" of {}", program.window()) : "", program.queues().size(),
      to_string(program.digest())));
  Table table({Align::kLeft, Align::kRight});
  table.add({"of the worst rank", ""});
  Columns columns;
  const RankCosts most = offload::worst(found.costs);
  for (const Figure& figure : kFigures) {
    table.add({figure.text, fmt::to_string(most.*figure.value)});
    columns.push_back({figure.key, nullptr, [&found, value = figure.value](auto rank) {
                         return found.costs[rank].*value;
                       }});
  }
  answer.say(table.text() + "\n");
  const auto& diagnostics = found.diagnostics;
  answer.list("diagnostics", rows_of(diagnostics.size()),
              {{"code", nullptr, [&](auto i) { return name(diagnostics[i].code); }},
               {"queue", nullptr,
                [&](auto i) {
                  const offload::QueueId queue = diagnostics[i].queue;
                  return queue.valid() ? Value(queue.value) : Value();
                }},
               {"message", nullptr, [&](auto i) { return diagnostics[i].message; }}});
  for (const auto& diagnostic : diagnostics) {
    answer.say(fmt::format("{}: {}\n", name(diagnostic.code), diagnostic.message));
  }
  if (diagnostics.empty()) answer.say("proved sound: whatever the timing, it ends and is right\n");
  answer.list("ranks", rows_of(found.costs.size()), columns);
  if (found.runs) add_runs(answer, *found.runs, static_cast<std::uint32_t>(found.costs.size()));
  if (found.folder) answer.say(fmt::format("\nwrote {}\n", *found.folder));
  if (found.real) {
    answer.set("device", found.real->device);
    answer.set("real_makespan_s", found.real->time_s);
    answer.say(fmt::format("run on {}: {}, bytes as the contract says\n", found.real->device,
                           sched::human_seconds(found.real->time_s)));
  } else {
    answer.say("No card has run this; times are the machine model's.\n");
  }
  answer.set("folder", found.folder);
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
  JsonOutput manifest(answer.subject.digest, answer.subject.proved);
  manifest.set("schedule", answer.subject.name);
  manifest.set("program_digest", to_string(program.digest()));
  manifest.set("mode", name(program.mode()));
  manifest.set("readiness", name(program.readiness()));
  manifest.set("numbers", "placeholders");
  manifest.list("queue_pairs", numbers.qpn, [&](std::uint32_t qpn) { manifest.set("qpn", qpn); });
  manifest.list("completion_queues", rows_of(program.cqs().size()), [&](std::uint32_t c) {
    manifest.set("rank", program.cqs()[c].rank.value);
    manifest.set("cqn", numbers.cqn[c]);
    manifest.set("start", program.cqs()[c].start);
  });
  manifest.list("buffers", rows_of(program.buffers().size()), [&](std::uint32_t b) {
    manifest.set("rank", program.buffers()[b].rank.value);
    manifest.set("bytes", program.buffers()[b].bytes);
    manifest.set("address", numbers.memory[b].address);
    manifest.set("local_key", numbers.memory[b].local_key);
    manifest.set("remote_key", numbers.memory[b].remote_key);
  });
  manifest.list("files", rows_of(program.rank_count()), [&](std::uint32_t r) {
    manifest.set("rank", r);
    manifest.set("file", fmt::format("rank-{}.txt", r));
  });
  files.write("manifest.json", manifest.text() + "\n");
  files.finish();
}

}  // namespace slackline::cli
