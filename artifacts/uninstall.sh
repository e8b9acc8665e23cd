#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Takes the API server and the manager out of a cluster, with their objects: first the
# objects and what belongs to them, while somebody can still delete them, then the
# manager, the registration, the server and its data, and what they were allowed at
# last. It may be interrupted and
# run again.

set -o errexit -o nounset -o pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/cluster.sh"

usage() {
  cat <<'TEXT'
Usage: uninstall.sh [--context NAME] [--timeout SECONDS] [--abandon-objects] [--dry-run]

  --context          The context of the kubeconfig ($KUBECONFIG, as for kubectl).
  --timeout          How long each wait may take. Default 300.
  --abandon-objects  Go on although the server is out of reach and its objects cannot
                     be deleted. They are lost with its volume, or stay in the external
                     etcd. Nobody runs their finalizers, and what they own (Deployments,
                     Services) is deleted or stays, as the garbage collector happens to
                     notice.
  --dry-run          Say what would be deleted.
TEXT
}

abandon=
dry_run=
while (($# > 0)); do
  case "$1" in
  --context | --timeout)
    (($# > 1)) || fail "$1 needs a value"
    case "$1" in
    --context) kube_flags+=("--context=$2") ;;
    --timeout) timeout=$2 ;;
    esac
    shift
    ;;
  --context=*) kube_flags+=("$1") ;;
  --timeout=*) timeout=${1#*=} ;;
  --abandon-objects) abandon=yes ;;
  --dry-run) dry_run=yes ;;
  -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    exit 2
    ;;
  esac
  shift
done
[[ "${timeout}" =~ ^[1-9][0-9]*$ ]] || fail "--timeout is a number of seconds, not ${timeout}"

# change runs kubectl, or says what it would run.
change() {
  if [[ -n "${dry_run}" ]]; then
    say "would run: kubectl $*"
  else
    k "$@"
  fi
}

# check_namespace fails when the namespace holds what others run in it.
check_namespace() {
  local others
  others=$(k get deployments,statefulsets,daemonsets,jobs,cronjobs,pods,persistentvolumeclaims --namespace="${namespace}" \
    --selector='app.kubernetes.io/part-of!=inference-cache' -o name)
  [[ -z "${others}" ]] || fail "the namespace ${namespace} would be deleted, but holds what is not ours; move it away first:
${others}"
}

# objects prints what is stored in our group, with what keeps it.
objects() {
  local kind
  for kind in ${kinds}; do
    k get "${kind}" --all-namespaces -o go-template="{{range .items}}${kind%%.*} {{.metadata.namespace}}/{{.metadata.name}}{{if .metadata.finalizers}}  finalizers: {{.metadata.finalizers}}{{end}}
{{end}}" || return
  done
}

# dependants prints what our objects own, of the types that are given, separated by
# commas. A type that cannot be listed must not keep us from going on.
dependants() {
  k get "$1" --all-namespaces -o go-template="{{range .items}}{{\$object := .}}{{range .metadata.ownerReferences}}{{if eq .apiVersion \"${group}/v1alpha1\"}}{{with \$object}}{{.apiVersion}} {{.kind}} {{.metadata.namespace}}/{{.metadata.name}}{{with .metadata.finalizers}}  finalizers: {{.}}{{end}}
{{end}}{{end}}{{end}}{{end}}" || echo "${0##*/}: what cannot be listed is left out" >&2
}

# types makes the argument of dependants of what it prints: kinds with version and
# group, as kubectl takes them.
types() {
  local version kind
  while read -r version kind _; do
    case "${version}" in
    */*) echo "${kind}.${version#*/}.${version%/*}" ;;
    *) echo "${kind}.${version}." ;;
    esac
  done | sort -u | paste -s -d, -
}

# delete_objects deletes everything in our group and waits until it is gone with
# what it owns. The collector cannot do that once the kinds are gone.
delete_objects() {
  local kind all owned
  kinds=$(k api-resources --api-group="${group}" --verbs=list,delete -o name)
  [[ -n "${kinds}" ]] || fail "the resources of ${group} are not in the cluster's discovery; run this again"
  if [[ -n "${dry_run}" ]]; then
    say "would delete these objects, and wait until what they own is gone:"
    objects
    return
  fi
  for kind in ${kinds}; do
    say "Deleting all ${kind}"
    k delete "${kind}" --all --all-namespaces --cascade=foreground --wait=false
  done
  await "the objects to go" empty objects || fail "these objects stay, because of their finalizers or because somebody makes them anew:
$(objects)
Nothing else was removed. Let the owner of each finalizer do its work, or take the finalizer away if that owner is gone for good; then run this again"

  say "Looking for what they own"
  all=$(k api-resources --verbs=list,delete -o name) || say "Some API group is out of order; what it serves is left out"
  # Events have no owners and are many.
  owned=$(dependants "$(grep -v -x -e events -e 'events\.events\.k8s\.io' <<<"${all}" | paste -s -d, -)" | types)
  [[ -z "${owned}" ]] || await "the garbage collector" empty dependants "${owned}" || fail "what our objects owned is still there:
$(dependants "${owned}")
Nothing else was removed; run this again when it is gone"
}

# reason says why the server, whose APIService is OWNER's, cannot be asked; ANSWER is
# what it said, if anything.
reason() {
  case "$1" in
  '') echo "there is no APIService ${apiservice}" ;;
  ours) echo "${2:-$(condition)}" ;;
  *) echo "APIService ${apiservice} belongs to $1" ;;
  esac
}

# settle_objects deletes the objects, or makes sure that it is known why not.
settle_objects() {
  local mark owner stored answer
  owner=$(registered)
  mark=$(k get namespace "${namespace}" --ignore-not-found -o go-template="{{with .metadata.annotations}}{{with index . \"${progress}\"}}{{.}}{{end}}{{end}}")
  stored=$(k get statefulset,deployment,persistentvolumeclaim --namespace="${namespace}" --selector=app.kubernetes.io/name="${workload}" -o name)
  if [[ "${owner}" == ours ]] && available && answer=$(k get --raw "/apis/${group}/v1alpha1" 2>&1); then
    delete_objects
  elif [[ "${owner}" != ours && "${mark}" == objects-settled ]]; then
    say "The objects were deleted or abandoned before"
  elif [[ "${owner}" != ours && -z "${stored}" ]]; then
    say "No server is installed here that could have objects"
  elif [[ -n "${abandon}" ]]; then
    say "Leaving the objects as they are: nobody runs their finalizers, and what they own may stay in the cluster"
  else
    fail "the server is out of reach, so that its objects cannot be deleted: $(reason "${owner}" "${answer:-}").
Bring it back, as install.sh does, and run this again. Or give --abandon-objects: then the objects are lost with the volume or stay in the external etcd, nobody runs their finalizers, and what they own may stay in the cluster"
  fi
  if [[ $(phase) == Active ]]; then
    change annotate namespace "${namespace}" --overwrite "${progress}=objects-settled"
  fi
}

# pods prints the Pods of a workload.
pods() { k get pods --namespace="${namespace}" --selector=app.kubernetes.io/name="$1" -o name; }

# delete_manager ends what asks the server and is asked about Pods.
delete_manager() {
  change delete mutatingwebhookconfiguration/inference-cache-manager --ignore-not-found --timeout="${timeout}s"
  change delete poddisruptionbudget,deployment --selector=app.kubernetes.io/name="${manager_workload}" \
    --namespace="${namespace}" --ignore-not-found --timeout="${timeout}s"
  if [[ -z "${dry_run}" ]]; then
    await "the Pods of the manager to end" empty pods "${manager_workload}"
  fi
}

# unregister takes the group out of the API, if it is ours.
unregister() {
  if [[ $(registered) == ours ]]; then
    change delete apiservice "${apiservice}" --timeout="${timeout}s"
  fi
}

# delete_server deletes what runs and what it wrote, in the namespace.
delete_server() {
  local in=(--namespace="${namespace}" --ignore-not-found --timeout="${timeout}s")
  change delete poddisruptionbudget,deployment,statefulset --selector=app.kubernetes.io/part-of=inference-cache "${in[@]}"
  if [[ -z "${dry_run}" ]]; then
    await "the Pods of the server to end" empty pods "${workload}"
  fi
  change delete persistentvolumeclaim --selector=app.kubernetes.io/name="${workload}" "${in[@]}"
  change delete secret/inference-cache-ca configmap/inference-cache-ca "${in[@]}"
}

# delete_rights deletes what is outside of the namespace.
delete_rights() {
  local gone=(--ignore-not-found --timeout="${timeout}s")
  change delete role/inference-cache-apiserver rolebinding/inference-cache-apiserver --namespace=kube-system "${gone[@]}"
  change delete clusterrolebinding/inference-cache-apiserver clusterrolebinding/inference-cache-manager "${gone[@]}"
  change delete clusterrole/inference-cache-apiserver clusterrole/inference-cache-manager "${gone[@]}"
  change delete clusterrole/inference-cache-view clusterrole/inference-cache-edit "${gone[@]}"
  change delete clusterrolebinding/inference-cache-metrics clusterrole/inference-cache-metrics "${gone[@]}"
  change delete flowschema/inference-cache-apiserver "${gone[@]}"
}

reach
check_namespace
settle_objects
delete_manager
unregister
delete_server
delete_rights
change delete namespace "${namespace}" --ignore-not-found --timeout="${timeout}s" ||
  fail "the namespace does not end: $(k get namespace "${namespace}" -o jsonpath='{range .status.conditions[?(@.status=="True")]}{.message}; {end}')"
if [[ -z "${dry_run}" ]]; then
  say "Nothing of inference-cache is left."
fi
