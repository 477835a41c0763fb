// Launches a kernel on the public CPU simulator as tests/emit/cpp/pto/pto-inst.hpp does on host memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace host {

inline void lend(const void*, int64_t) {}

template <typename Kernel>
void launch(int64_t cores, Kernel kernel) {
  setenv("PTO_CPU_SIM_NUM_CORES", std::to_string(cores).c_str(), 1);
  pto::cpu_sim::InitializeRuntime();
  for (int64_t index = 0; index < cores; ++index) {
    pto::cpu_sim::set_execution_context(static_cast<uint32_t>(index), 0, 1);
    kernel();
  }
}

}  // namespace host
