#include "sched/export/msccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/error.h"
#include "sched/export/msccl_plan.h"

namespace slackline::sched {
namespace {

// The runtime keeps so much of a name, and reads a value of 256 characters beyond its buffer's end.
constexpr std::size_t kNameLength = 63;

std::string xml_attribute(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kNameLength)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&' || c == '<' || c == '>' || c == '"' || byte < 0x20 || byte >= 0x7f) {
      out += '_';
    } else {
      out += c;
    }
  }
  return out;
}

// One wait goes on a step itself; each further one is a nop step in front of it.
std::uint32_t nops_before(const MscclStep& step) {
  return step.after.size() > 1 ? static_cast<std::uint32_t>(step.after.size() - 1) : 0;
}

class Writer {
 public:
  Writer(const Schedule& schedule, const MscclPlan& plan) : schedule_(schedule), plan_(plan) {}

  std::string write() {
    std::uint64_t chunks = 0;
    for (const MscclGpu& gpu : plan_.gpus) chunks = std::max(chunks, gpu.output_chunks);
    print(
        "<algo name=\"{}\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" "
        "coll=\"{}\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"1099511627776\">\n",
        xml_attribute(schedule_.title().empty() ? "slackline" : schedule_.title()), chunks,
        plan_.gpus.size(), plan_.broadcast ? "broadcast" : "custom");
    for (std::size_t g = 0; g < plan_.gpus.size(); ++g) {
      // The runtime wants every output that is used to have the chunks of a loop.
      print("  <gpu id=\"{}\" i_chunks=\"0\" o_chunks=\"{}\" s_chunks=\"{}\">\n", g,
            plan_.gpus[g].output_chunks == 0 ? 0 : chunks, plan_.gpus[g].scratch_chunks);
      number_steps(plan_.gpus[g]);
      for (std::size_t b = 0; b < plan_.gpus[g].blocks.size(); ++b) block(plan_.gpus[g], b);
      out_ += "  </gpu>\n";
    }
    out_ += "</algo>\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append(out_, format, std::forward<Args>(args)...);
  }

  // Final step numbers, nops included, and which steps somebody waits for.
  void number_steps(const MscclGpu& gpu) {
    number_.assign(gpu.blocks.size(), {});
    awaited_.assign(gpu.blocks.size(), {});
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      std::uint32_t next = 0;
      for (const MscclStep& step : gpu.blocks[b].steps) {
        next += nops_before(step);
        number_[b].push_back(next++);
      }
      if (next > kMscclSteps) {
        throw Unsupported(fmt::format(
            "msccl-xml: {} makes its thread block {} steps long with the waits before it; MSCCL's "
            "limit is {}",
            describe(schedule_, gpu.blocks[b].steps.back().op), next, kMscclSteps));
      }
      awaited_[b].assign(gpu.blocks[b].steps.size(), false);
    }
    for (const MscclBlock& each : gpu.blocks) {
      for (const MscclStep& step : each.steps) {
        for (const auto& [other, last] : step.after) awaited_[other][last] = true;
      }
    }
  }

  void block(const MscclGpu& gpu, std::size_t b) {
    const MscclBlock& block = gpu.blocks[b];
    print("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", b, block.send, block.recv);
    for (std::size_t s = 0; s < block.steps.size(); ++s) {
      const MscclStep& step = block.steps[s];
      const std::uint32_t nops = nops_before(step);
      for (std::uint32_t n = 0; n < nops; ++n) {
        print(
            "      <step s=\"{}\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" "
            "dstoff=\"-1\" cnt=\"0\"",
            number_[b][s] - nops + n);
        wait(&step.after[n]);
        out_ += " hasdep=\"0\"/>\n";
      }
      print(
          "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
          "dstoff=\"{}\" cnt=\"{}\"",
          number_[b][s], step.type, step.source.buffer, step.source.offset, step.target.buffer,
          step.target.offset, step.source.count);
      wait(step.after.empty() ? nullptr : &step.after.back());
      print(" hasdep=\"{}\"/>\n", awaited_[b][s] ? 1 : 0);
    }
    out_ += "    </tb>\n";
  }

  void wait(const std::pair<std::uint32_t, std::uint32_t>* after) {
    if (after == nullptr) {
      out_ += " depid=\"-1\" deps=\"-1\"";
    } else {
      print(" depid=\"{}\" deps=\"{}\"", after->first, number_[after->first][after->second]);
    }
  }

  const Schedule& schedule_;
  const MscclPlan& plan_;
  std::vector<std::vector<std::uint32_t>> number_;
  std::vector<std::vector<bool>> awaited_;
  std::string out_;
};

}  // namespace

std::string write_msccl(const Schedule& schedule) {
  const MscclPlan plan = plan_msccl(schedule);
  return Writer(schedule, plan).write();
}

}  // namespace slackline::sched
