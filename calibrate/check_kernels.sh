#!/bin/sh
# check_kernels.sh LOG SOURCE: from what ptxas -v said while it compiled SOURCE: no kernel, on no architecture, spills
# registers or has a stack frame. Status 1 otherwise, and when it said nothing of the kind.
log=$1 source=$2
if ! grep -q 'bytes spill' "$log"; then
    echo "$source: ptxas did not say whether registers are spilled (see $log)" >&2
    exit 1
fi
if grep -E '(^|[^0-9])[1-9][0-9]* bytes (stack|spill)' "$log" >&2; then
    echo "$source: a kernel spills registers or has a stack frame (see $log)" >&2
    exit 1
fi
