#include "hw/verbs/mlx5.h"

#include <fmt/format.h>

#include "base/error.h"
#include "hw/shared_library.h"
#include "hw/verbs/device.h"
#include "hw/verbs/devx_commands.h"

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

// The answer; empty if there is none.
Mailbox answer_of(ibv_context* context, DevxQuestion about) {
  const Mailbox asked = question(about);
  Mailbox answer(answer_bytes(about), 0);
  const int error = load_mlx5_library().command(context, asked.data(), asked.size(), answer.data(),
                                                answer.size());
  return error == 0 ? answer : Mailbox();
}

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
  const Mailbox general = answer_of(context.get(), DevxQuestion::kGeneral);
  if (general.empty()) return {};
  Mailbox roce;
  Mailbox port;
  if (offers_roce(general)) {
    roce = answer_of(context.get(), DevxQuestion::kRoce);
    port = answer_of(context.get(), DevxQuestion::kPort);
  }
  return {true, offers_cross_channel(general), ignores_overrun(general),
          loops_back(general, roce, port)};
}

}  // namespace slackline::hw
