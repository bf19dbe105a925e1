#include "hypertape/autodiff/size_probe.hpp"

namespace hypertape {

SizeTally*& SizeProbe::tally() {
  thread_local SizeTally* current = nullptr;
  return current;
}

}  // namespace hypertape
