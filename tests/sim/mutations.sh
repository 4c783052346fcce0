#!/bin/bash
# Proof that the tests can fail: each row of mutations.txt is one small wrong change, built in a copy; one that its
# test program does not notice is a failure. Takes minutes, all of them an hour: run by hand, or for a long run.
#   tests/sim/mutations.sh [NAME...]
#   tests/sim/mutations.sh --apply     only whether each still changes its line, which tools/check asks, too
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dry=false
if [[ ${1:-} == --apply ]]; then dry=true; shift; fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
jobs=${JOBS:-$(nproc)}
limit_s=${LIMIT_S:-600}
wanted=("$@")
survived=0

(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy")
cd "$copy"

# The program under test: its build targets, and its command.
program='' targets=() command=()
build() { ninja -C build -j "$jobs" "${targets[@]}" >build.log 2>&1; }
tests_pass() { timeout "$limit_s" "${command[@]}" >test.log 2>&1; }
is_tried=false
# Without a mutation its tests pass; asked before its first one.
try_unchanged() {
    $is_tried && return 0
    [[ -d build ]] || meson setup build -Db_lto=false -Doptimization=0 -Dwerror=false >setup.log 2>&1 || { cat setup.log; exit 1; }
    build || { tail -30 build.log; exit 1; }
    tests_pass || { tail -30 test.log; echo "the tests of $program fail without any mutation"; exit 1; }
    echo "without a mutation: the tests of $program pass"
    is_tried=true
}

who_noticed() {
    grep -ohE 'Failure in TEST\([A-Za-z]+, [A-Za-z0-9]+\)|^(FAIL|ERROR): [a-z_0-9]+' test.log | sed -E 's/^[A-Za-z :]+ in |^[A-Z]+: //' |
        sort -u | tr '\n' ' ' | grep . || echo 'a crash or the time limit'
}

# mutate NAME FILE SED: a fault that the tests must notice
mutate() {
    local name=$1 file=$2 expression=$3
    $dry || try_unchanged
    cp -p "$file" original
    sed -i "$expression" "$file"
    if cmp -s original "$file"; then
        echo "$name: does not apply to $file any more"
        survived=$((survived + 1))
    elif $dry; then
        :
    elif ! build; then
        echo "$name: does not build"
        tail -5 build.log
        survived=$((survived + 1))
    elif tests_pass; then
        echo "$name: NOT NOTICED"
        survived=$((survived + 1))
    else
        echo "$name: caught by $(who_noticed)"
    fi
    cp original "$file"
}

while read -r name rest; do
    case $name in
        '' | '#') continue ;;
        =)
            read -r program names <<<"$rest"
            read -ra targets <<<"${names:-$program}"
            command=("build/$program")
            [[ -z $names ]] || command=("$program" "${targets[@]/#/build/}")
            is_tried=false
            ;;
        *)
            [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || continue
            mutate "$name" "${rest%% *}" "${rest#* }" </dev/null
            ;;
    esac
done <tests/sim/mutations.txt

if [[ $survived -ne 0 ]]; then
    $dry || echo "$survived mutations were not caught"
    exit 1
fi
$dry || echo "every mutation was caught"
