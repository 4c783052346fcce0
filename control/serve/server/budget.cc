#include "control/serve/server/budget.hh"

#include <algorithm>

namespace sluice {

void Budget::serve(boost::asio::io_context& io, std::chrono::microseconds patience) {
    io.restart();
    unsigned done = 0;
    if (patience.count() != 0) done += static_cast<unsigned>(io.run_one_for(patience));
    const Clock::time_point end = now_() + limits_.time;
    bool more = true;
    while (more && done < limits_.handlers && now_() < end) {
        more = io.poll_one() != 0;
        if (more) ++done;
    }
    ++account_.rounds;
    account_.handlers += done;
    if (more) ++account_.used_up;
    account_.most_handlers = std::max(account_.most_handlers, done);
}

}  // namespace sluice
