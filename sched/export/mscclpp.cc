#include "sched/export/mscclpp.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sched/export/mscclpp_plan.h"

namespace slackline::sched {
namespace {

using Json = nlohmann::ordered_json;

// A GPU of the plan. Operations name channels and memory of others by their places in lists of the
// thread block, and these by their places in lists of the GPU.
class GpuWriter {
 public:
  GpuWriter(const MscclppPlan& plan, std::uint32_t gpu) : plan_(plan), gpu_(gpu) {}

  Json write() {
    const MscclppLayout& layout = plan_.layout;
    Json blocks = Json::array();
    const MscclppGpu& gpu = plan_.gpus[gpu_];
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) blocks.push_back(block(b));
    Json channels = Json::array();
    if (!gpu.peers.empty()) {
      channels.push_back({{"channel_type", "memory"}, {"connected_to", gpu.peers}});
    }
    Json memory = Json::array();
    for (const auto& [rank, type] : remote_) {
      memory.push_back({{"rank", rank},
                        {"type", std::string(1, type)},
                        {"access_channel_types", Json::array({"memory"})}});
    }
    return {{"id", gpu_},
            {"input_chunks", layout.input_chunks()},
            {"output_chunks", layout.output_chunks()},
            {"scratch_chunks", layout.scratch_chunks(RankId(gpu_))},
            {"threadblocks", std::move(blocks)},
            {"channels", std::move(channels)},
            {"remote_buffers", std::move(memory)},
            {"semaphores", Json::array()}};
  }

 private:
  Json block(std::size_t b) {
    const MscclppBlock& block = plan_.gpus[gpu_].blocks[b];
    buffers_.clear();
    Json ops = Json::array();
    for (const MscclppOperation& operation : block.operations) {
      ops.push_back(written(block, operation));
    }
    Json channels;
    channels["channel_type"] = "memory";
    channels["channel_ids"] = block.channels;
    Json buffers;
    buffers["access_channel_type"] = "memory";
    buffers["remote_buffer_ids"] = buffers_;
    Json out;
    out["id"] = b;
    out["ops"] = std::move(ops);
    out["channels"].push_back(std::move(channels));
    out["remote_buffer_refs"].push_back(std::move(buffers));
    return out;
  }

  Json written(const MscclppBlock& block, const MscclppOperation& operation) {
    Json out;
    out["name"] = operation.name;
    if (operation.name == "barrier") {
      out["barrier_id"] = operation.barrier;
      out["num_threadblocks"] = 2;
    }
    if (operation.channel >= 0) {
      const auto at = std::find(block.channels.begin(), block.channels.end(), operation.channel);
      out["channel_ids"] = Json::array({at - block.channels.begin()});
      out["channel_type"] = "memory";
    }
    if (operation.from.empty()) return out;
    out["src_buff"] = sides(operation.from);
    out["dst_buff"] = sides(operation.to);
    if (operation.name == "re") {
      out["reduce_op"] = "sum";
    } else if (operation.name != "copy") {
      out["channel_type"] = "memory";
    }
    return out;
  }

  Json sides(const std::vector<MscclppSide>& all) {
    Json out = Json::array();
    for (const MscclppSide& side : all) {
      Json one;
      if (side.gpu == gpu_) {
        one["type"] = std::string(1, side.place.buffer);
      } else {
        one["buffer_id"] = place_of(side);
      }
      one["index"] = side.place.first;
      one["size"] = side.place.count;
      out.push_back(std::move(one));
    }
    return out;
  }

  // Of memory of another GPU, in the thread block's list.
  std::size_t place_of(const MscclppSide& side) {
    const std::size_t of_gpu = listed(remote_, std::pair(side.gpu, side.place.buffer));
    return listed(buffers_, of_gpu);
  }
  template <class Entry>
  static std::size_t listed(std::vector<Entry>& list, const Entry& entry) {
    const auto at = std::find(list.begin(), list.end(), entry);
    if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
    list.push_back(entry);
    return list.size() - 1;
  }

  const MscclppPlan& plan_;
  const std::uint32_t gpu_;
  std::vector<std::pair<std::uint32_t, char>> remote_;
  std::vector<std::size_t> buffers_;  // of the thread block
};

}  // namespace

std::string write_mscclpp(const Schedule& schedule) {
  const MscclppPlan plan = plan_mscclpp(schedule);
  Json gpus = Json::array();
  for (std::uint32_t g = 0; g < plan.gpus.size(); ++g) gpus.push_back(GpuWriter(plan, g).write());
  const Json out = {{"name", schedule.title().empty() ? "slackline" : schedule.title()},
                    {"collective", plan.layout.collective()},
                    {"protocol", "Simple"},
                    {"inplace", plan.layout.in_place()},
                    {"reuse_resources", false},
                    {"gpus", std::move(gpus)},
                    {"num_threads_per_block", 1024},
                    {"use_double_scratch_buffer", false},
                    {"buffer_alignment", 16},
                    {"min_message_size", 0},
                    {"max_message_size", std::uint64_t{1} << 62}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slackline::sched
