// The socket's methods as an OpenRPC document (spec.open-rpc.org), made from their tables: the answer of
// `rpc.discover` and the output of `sluiced --openrpc`.
//
// The tables have parameters and results in a notation of their own: "path: PATH, force?: BOOL" are members,
// of which the second may be left out; {...} is an object of them, [T] a list, T|U either. A name in capitals
// is one of the types in openrpc.cc, or of those that it puts under components.
#pragma once

#include <string_view>

#include "control/serve/server/rpc.hh"

namespace sluice {

Json openrpc_document();
// The JSON schema of a type in the notation. Throws std::logic_error when it is none: a fault of the table.
Json schema_of(std::string_view type);

}  // namespace sluice
