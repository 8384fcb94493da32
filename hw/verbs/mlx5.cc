#include "hw/verbs/mlx5.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>

#include "hw/shared_library.h"
#include "hw/verbs/device.h"
#include "sched/error.h"

namespace slackline::hw {
namespace {

Mlx5Library load() {
  const SharedLibrary library("offload: libmlx5", "libmlx5.so.1",
                              "rdma-core 30 or later (Debian: ibverbs-providers)");
  Mlx5Library calls;
  library.find("mlx5dv_is_supported", calls.is_supported);
  library.find("mlx5dv_open_device", calls.open_device);
  library.find("mlx5dv_create_qp", calls.create_qp);
  library.find("mlx5dv_qp_ex_from_ibv_qp_ex", calls.raw_of);
  library.find("mlx5dv_init_obj", calls.init_object);
  library.find("mlx5dv_devx_general_cmd", calls.command);
  library.find("mlx5dv_devx_obj_create", calls.make_object);
  library.find("mlx5dv_devx_obj_modify", calls.modify_object);
  library.find("mlx5dv_devx_obj_destroy", calls.destroy_object);
  library.find("mlx5dv_devx_umem_reg", calls.show_memory);
  library.find("mlx5dv_devx_umem_dereg", calls.hide_memory);
  library.find("mlx5dv_devx_alloc_uar", calls.open_page);
  library.find("mlx5dv_devx_free_uar", calls.close_page);
  library.find("mlx5dv_devx_query_eqn", calls.event_queue);
  return calls;
}

// QUERY_HCA_CAP: big-endian, the capabilities behind a head of 16 bytes each way.
constexpr std::uint8_t kQueryCapability = 0x01;  // of 0x0100
constexpr std::uint8_t kGeneralCurrent = 0x01;   // the general ones, as they are now
constexpr std::size_t kHead = 16;
constexpr std::size_t kAnswer = kHead + 4096;
constexpr std::size_t kFlags = kHead + 0x44;
constexpr std::uint32_t kOverrunIgnored = 1u << 31;
constexpr std::uint32_t kCrossChannel = 1u << 19;

}  // namespace

const Mlx5Library& load_mlx5_library() {
  static const Mlx5Library library = load();
  return library;
}

Mlx5Capability mlx5_capability(ibv_device* device) {
  const Mlx5Library& mlx5 = load_mlx5_library();
  if (!mlx5.is_supported(device)) {
    throw EnvironmentError(
        fmt::format("offload: {} is no mlx5 NIC; expected a ConnectX-4 or later, whose queues can "
                    "wait for completions",
                    ibv_get_device_name(device)));
  }
  mlx5dv_context_attr attributes{};
  attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  const Verbs<ibv_context> context(mlx5.open_device(device, &attributes));
  if (!context) return {};
  std::array<std::uint8_t, kHead> question{};
  question[0] = kQueryCapability;
  question[7] = kGeneralCurrent;
  std::array<std::uint8_t, kAnswer> answer{};
  if (mlx5.command(context.get(), question.data(), question.size(), answer.data(), answer.size()) !=
      0) {
    return {};
  }
  std::uint32_t flags = 0;
  for (std::size_t i = 0; i < 4; ++i) flags = flags << 8 | answer[kFlags + i];
  return {true, (flags & kCrossChannel) != 0, (flags & kOverrunIgnored) != 0};
}

}  // namespace slackline::hw
