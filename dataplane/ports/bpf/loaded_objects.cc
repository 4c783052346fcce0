#include "dataplane/ports/bpf/loaded_objects.hh"

#include <bpf/libbpf.h>
#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "dataplane/ports/bpf/steer.h"

namespace {

// One list for the process: the driver loads without a context of ours.
std::vector<bpf_object*>& loaded() {
    static std::vector<bpf_object*> objects;
    return objects;
}

bool is_one_of(const bpf_object* object, const std::set<int>& descriptors) {
    for (const bpf_map* map = bpf_object__next_map(object, nullptr); map != nullptr;
         map = bpf_object__next_map(object, map))
        if (descriptors.contains(bpf_map__fd(map))) return true;
    return false;
}

template <class Function>
Function libbpfs(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int bpf_object__load(bpf_object* object) {
    static const auto load = libbpfs<int (*)(bpf_object*)>("bpf_object__load");
    const int result = load(object);
    if (result == 0 && bpf_object__find_program_by_name(object, STEER_PROGRAM) != nullptr)
        loaded().push_back(object);
    return result;
}

extern "C" void bpf_object__close(bpf_object* object) {
    static const auto close = libbpfs<void (*)(bpf_object*)>("bpf_object__close");
    std::erase(loaded(), object);
    close(object);
}

namespace sluice {

void close_loaded_objects(const std::set<int>& descriptors) {
    const auto all = loaded();
    for (bpf_object* object : all)
        if (is_one_of(object, descriptors)) bpf_object__close(object);
}

}  // namespace sluice
