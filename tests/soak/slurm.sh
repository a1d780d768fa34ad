#!/bin/bash
# scenarios/cluster/slurm.sbatch under a real Slurm: a sweep of 64 points as an array of 8. One task is
# killed in the middle of its work and requeued; merged, the tables are those of a sweep on this machine,
# byte for byte. TAP on stdout.
#
# munged, slurmctld and slurmd are started from a temporary folder (own key, sockets, ports, state; no
# cgroups, no systemd, no accounting) and ended with it: on success, failure, SIGINT and SIGTERM by a
# trap, after SIGKILL by a process that waits for that. A Slurm that runs on this machine is neither used
# nor touched. As root or as a user; needs slurmctld, slurmd, slurm-client, munge.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
skip() { echo "ok slurm # SKIP $*"; exit 0; }
for tool in munged slurmctld slurmd sbatch squeue sinfo scontrol scancel; do
    command -v $tool >/dev/null || skip "$tool is not installed (Debian: apt-get install slurm-wlm munge)"
done
GPUSIM=$(realpath "${GPUSIM_BIN:-build/gpusim}") && export GPUSIM
[ -x "$GPUSIM" ] || skip "no program $GPUSIM"
for v in $(compgen -e | grep -E '^(SLURM|SBATCH|SQUEUE|SCANCEL|SCONTROL)_'); do unset "$v"; done

tmp=$(mktemp -d /tmp/gpusim-slurm.XXXXXX) && chmod 711 "$tmp" || exit 1
export GPUSIM_SLURM_TEST=$tmp SLURM_CONF=$tmp/slurm.conf # in the environment of all that is started here

# Processes with our mark or a file below our folder open (a step daemon writes its title over its
# environment): daemons, step daemons, tasks; not the shell that asks.
ours() {
    (
        unset GPUSIM_SLURM_TEST # these here do not count
        { grep -lzsxF "GPUSIM_SLURM_TEST=$tmp" /proc/[0-9]*/environ
          find /proc/[0-9]*/fd -lname "$tmp/*" 2>/dev/null; } | cut -d / -f 3 | sort -u | grep -vx $$
    )
}
stop() {
    local i pids
    trap '' INT TERM HUP
    for i in 1 1 1 1 1 9 9 9; do # who has not gone after three seconds is killed
        mapfile -t pids < <(ours)
        [ ${#pids[@]} -gt 0 ] || break
        if [ $i = 1 ]; then kill -TERM "${pids[@]}" 2>/dev/null; else kill -KILL "${pids[@]}" 2>/dev/null; fi
        sleep 0.6
    done
    rm -rf "$tmp"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
export -f ours stop
export tmp
setsid bash -c "while kill -0 $$ 2>/dev/null; do sleep 1; done; stop" </dev/null >/dev/null 2>&1 & # if we are killed

logs() { for f in munged slurmctld slurmd; do [ ! -e "$tmp/$f.log" ] || tail -n 15 "$tmp/$f.log" | sed "s/^/# $f: /"; done; }
die() { echo "not ok slurm: $*"; logs; exit 1; }
# until SECONDS COMMAND...: wait for it to be true.
until_true() {
    local end=$((SECONDS + $1)); shift
    until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}
bad=0
check() { local what=$1; shift; if "$@"; then echo "ok $what"; else echo "not ok $what"; bad=1; fi; }

# ---- daemons -------------------------------------------------------------------------------------
free_port() { # below the ports that the system hands out, so that nobody gets it before we do
    local p i
    for i in 1 2 3 4 5 6 7 8 9; do
        p=$((20000 + RANDOM % 12000))
        (exec 3<>/dev/tcp/127.0.0.1/$p) 2>/dev/null || break
    done
    echo $p
}
# Credentials live 15 s: so long a requeued job waits too, and so long a busy machine may take to start one.
configure() {
    cat >"$SLURM_CONF" <<CONF
ClusterName=gpusim
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$tmp/munge.socket,cred_expire=15
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=local NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=local Default=YES MaxTime=INFINITE State=UP
CONF
}
start() { # NAME COMMAND...
    local name=$1; shift
    "$@" </dev/null >"$tmp/$name.log" 2>&1 &
}
node_is_up() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }
mkdir "$tmp/state" "$tmp/spool"
(umask 077; head -c 128 /dev/urandom >"$tmp/munge.key")
start munged munged --foreground --key-file="$tmp/munge.key" --socket="$tmp/munge.socket" \
    --pid-file="$tmp/munged.pid" --seed-file="$tmp/munged.seed" --log-file="$tmp/munged.file.log"
munged=$!
until_true 20 test -S "$tmp/munge.socket" || { logs; skip 'munged does not start here'; }
up=
for _ in 1 2 3; do # again with other ports: somebody may have taken one
    configure
    start slurmctld slurmctld -D -f "$SLURM_CONF"; ctld=$!
    start slurmd slurmd -D -f "$SLURM_CONF"; slurmd=$!
    settled() { node_is_up || ! kill -0 $ctld 2>/dev/null || ! kill -0 $slurmd 2>/dev/null; }
    until_true 30 settled
    if node_is_up; then up=1; break; fi
    kill $ctld $slurmd 2>/dev/null; wait $ctld $slurmd 2>/dev/null
done
[ -n "$up" ] || { logs; skip 'slurmctld and slurmd do not start here'; }
echo "# $(slurmctld -V), up after $SECONDS s; munged $munged, slurmctld $ctld, slurmd $slurmd"

# ---- the sweep -----------------------------------------------------------------------------------
# Point i belongs to task i mod 8, so each task has one horizon; the last one takes seconds.
sweep=(scenarios/sizing-erlang.json --vary fleet.pool.nodes=4..11 --vary
       'horizon=300 s,310 s,320 s,330 s,340 s,350 s,360 s,100000 s' --set 'warmup=20 s')
victim=8 out=$tmp/out/array
mkdir "$tmp/out"
job=$(sbatch --parsable --array=1-8 --output="$tmp/out/%a.log" --open-mode=append \
    scenarios/cluster/slurm.sbatch "${sweep[0]}" "$out" "${sweep[@]:1}") || die 'sbatch refuses the array'

states() { squeue -h -r -t all -j "$job" -o '%K %T'; } # one line a task: "3 COMPLETED"
tasks() {
    local f
    states | sed 's/^/# task /'
    for f in "$tmp"/out/*.log; do tail -n 3 "$f" | sed "s|^|# task ${f##*/}: |"; done
}
state_is() { states | grep -qx "$1 $2"; }
all_done() { [ "$(states | grep -c ' COMPLETED$')" = 8 ]; }
# Files of finished runs of one task: the manifest names the points in order.
files_of() {
    sed -n '/"points"/,$s/^ *"\([0-9a-f]\{64\}\)".*/\1/p' "$out/manifest.json" 2>/dev/null |
        awk -v k="$1" 'NR % 8 == k % 8' |
        while read -r sha; do ls "$out/runs/${sha:0:2}/${sha:0:16}-r0.json" 2>/dev/null; done
}
count_of() { files_of "$1" | wc -l; }
has_begun() { [ "$(count_of $victim)" -gt 0 ] || state_is $victim FAILED; }

until_true 120 has_begun || die "task $victim does not begin"
killed() {
    scancel --signal=KILL --batch "${job}_$victim" 2>/dev/null
    state_is $victim FAILED || state_is $victim COMPLETED # the latter: it was too late
}
until_true 60 killed && state_is $victim FAILED || { tasks; die "task $victim survives its killing"; }
others_done() { [ "$(states | grep -c ' COMPLETED$')" = 7 ]; }
until_true 120 others_done || { tasks; die 'the other tasks do not end'; }
done_before=$(files_of $victim)
n=$(wc -l <<<"$done_before")
echo "# task $victim was killed after $n of its 8 runs, at $SECONDS s"
check 'a task is killed in the middle of its work' test "$n" -ge 1 -a "$n" -lt 8
check 'signal 9 ended it' grep -q 'ExitCode=0:9' <(scontrol show job "${job}_$victim")
# shellcheck disable=SC2086
before=$(stat -c '%n %i %z' $done_before)
"$GPUSIM" merge "$out" --quiet >/dev/null 2>"$tmp/refusal"
check 'merge refuses while its runs are missing' test $? = 3
scontrol requeue "${job}_$victim" || die 'scontrol refuses to requeue'

"$GPUSIM" sweep "${sweep[@]}" -o "$tmp/out/local" --quiet >"$tmp/local.txt" || die 'the local sweep fails'
until_true 180 all_done || { tasks; die 'the requeued task does not end'; }
echo "# requeued and done at $SECONDS s"
check 'Slurm has restarted it' grep -q 'Restarts=1' <(scontrol show job "${job}_$victim")
# shellcheck disable=SC2086
check 'nothing is computed twice' test "$before" = "$(stat -c '%n %i %z' $done_before)"
"$GPUSIM" merge "$out" --quiet >"$tmp/merged.txt"
check 'merge takes the folder' test $? = 0
check 'sixty-four runs' test "$(find "$out/runs" -name '*-r0.json' | wc -l)" = 64
for table in sweep.csv sweep.json; do check "$table is that of a local sweep" cmp "$out/$table" "$tmp/out/local/$table"; done
check 'so is the table on standard output' cmp "$tmp/merged.txt" "$tmp/local.txt"
[ $bad = 0 ] || { tasks; logs; }
exit $bad
