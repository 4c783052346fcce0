// What most files of the dataplane include, compiled once: two thirds of the time that such a file takes to
// compile.
#include <immintrin.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <boost/lockfree/spsc_queue.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/path/worker_context.hh"
