// libmlx5, loaded when it is needed, and what an mlx5 NIC offers to queues that wait.
#pragma once

#include <infiniband/mlx5dv.h>

namespace slackline::hw {

struct Mlx5Library {
  decltype(&mlx5dv_is_supported) is_supported = nullptr;
  decltype(&mlx5dv_open_device) open_device = nullptr;
  decltype(&mlx5dv_create_qp) create_qp = nullptr;
  decltype(&mlx5dv_qp_ex_from_ibv_qp_ex) raw_of = nullptr;
  decltype(&mlx5dv_init_obj) init_object = nullptr;
  decltype(&mlx5dv_devx_general_cmd) command = nullptr;
  decltype(&mlx5dv_devx_obj_create) make_object = nullptr;
  decltype(&mlx5dv_devx_obj_modify) modify_object = nullptr;
  decltype(&mlx5dv_devx_obj_destroy) destroy_object = nullptr;
  decltype(&mlx5dv_devx_umem_reg) show_memory = nullptr;
  decltype(&mlx5dv_devx_umem_dereg) hide_memory = nullptr;
  decltype(&mlx5dv_devx_alloc_uar) open_page = nullptr;
  decltype(&mlx5dv_devx_free_uar) close_page = nullptr;
  decltype(&mlx5dv_devx_query_eqn) event_queue = nullptr;
};

/// Throws EnvironmentError, with the cure.
const Mlx5Library& load_mlx5_library();

struct Mlx5Capability {
  bool devx = false;             // objects may be made, and the rest be asked for
  bool cross_channel = false;    // waits, enables and managed queues
  bool overrun_ignored = false;  // completion queues that nobody reads
  bool loops_back = false;       // reliable connections without an address
};

/// Throws EnvironmentError, naming the device, if it is no mlx5 NIC.
Mlx5Capability mlx5_capability(ibv_device* device);

}  // namespace slackline::hw
