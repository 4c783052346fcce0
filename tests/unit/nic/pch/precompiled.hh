// The headers that every test on cards includes, compiled once.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/unit/nic/on_cards.hh"
