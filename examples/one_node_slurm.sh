#!/usr/bin/env bash
# A Slurm of one node on this machine, for trying `unclass compare --cluster slurm`; ends with the command it is given.
#
#   apt-get install slurm-wlm munge        (Debian; as root)
#   examples/one_node_slurm.sh FOLDER unclass compare digits --class 3 --cluster slurm --array 2 --out FOLDER/compare
#
# Everything lies in FOLDER. Exit code 77 says that Slurm cannot run here, and why. When the script ends, is killed or
# stopped by Ctrl-C, so do the command, every job and Slurm itself.
set -euo pipefail

folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || { echo "$program is not installed: apt-get install slurm-wlm munge" >&2; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd needs root" >&2; exit 77; }

mkdir -p "$folder/spool" "$folder/state" "$folder/munge"
chmod 700 "$folder/munge"
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 400 "$folder/munge/key"
host=$(hostname -s)
cores=$(nproc)
cat >"$folder/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"

pids=()
stop() {
  trap - EXIT INT TERM HUP
  for pid in ${command:-} ${watcher:-}; do kill "$pid" 2>/dev/null || true; done
  scancel --signal=KILL --user=root 2>/dev/null || true # no job outlives its Slurm
  scancel --user=root 2>/dev/null || true
  for _ in $(seq 20); do
    [ -n "$(squeue --noheader 2>/dev/null || true)" ] || break
    sleep 0.5
  done
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait "${pids[@]}" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" &
pids+=($!)
sleep 1
slurmctld -D >>"$folder/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D >>"$folder/slurmd.out" 2>&1 &
pids+=($!)
for _ in $(seq 60); do
  state=$(sinfo --noheader --format=%T 2>/dev/null || true)
  [ "$state" = idle ] && break
  sleep 1
done
[ "${state:-}" = idle ] || { echo "Slurm's node did not come up (${state:-no answer}); see $folder/slurmd.log" >&2; exit 77; }
"$@" &
command=$!
# Whoever is killed outright cannot clean up: this looks after it.
(
  trap - EXIT INT TERM HUP
  while kill -0 $$ 2>/dev/null; do sleep 1; done
  stop
) >/dev/null 2>&1 </dev/null &
watcher=$!
code=0
wait "$command" || code=$?
command=
exit "$code"
