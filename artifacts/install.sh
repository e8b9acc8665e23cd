#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs the API server and the manager into a cluster, or brings an installation
# up to these manifests. It may be interrupted and run again. What stands in the way is said
# before anything is changed.

set -o errexit -o nounset -o pipefail
artifacts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "${artifacts}/cluster.sh"

usage() {
  cat <<'TEXT'
Usage: install.sh [--overlay NAME|DIRECTORY] [--context NAME] [--timeout SECONDS] [--force-conflicts] [--dry-run]

  --overlay          A folder of overlays/, or a kustomization of your own (with a slash
                     in it). Without it the base is installed. A folder apiservice in it
                     takes the place of artifacts/apiservice, and one named manager
                     that of artifacts/manager.
  --context          The context of the kubeconfig ($KUBECONFIG, as for kubectl).
  --timeout          How long each wait may take. Default 300.
  --force-conflicts  Take over fields that somebody else has changed in the cluster.
  --dry-run          Say what would be done, as the cluster sees it.
TEXT
}

overlay=
dry_run=
apply_flags=(--server-side --field-manager=inference-cache-install)
while (($# > 0)); do
  case "$1" in
  --overlay | --context | --timeout)
    (($# > 1)) || fail "$1 needs a value"
    case "$1" in
    --overlay) overlay=$2 ;;
    --context) kube_flags+=("--context=$2") ;;
    --timeout) timeout=$2 ;;
    esac
    shift
    ;;
  --overlay=*) overlay=${1#*=} ;;
  --context=*) kube_flags+=("$1") ;;
  --timeout=*) timeout=${1#*=} ;;
  --force-conflicts) apply_flags+=("$1") ;;
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

# choose finds the three kustomizations.
choose() {
  case "${overlay}" in
  '') directory=${artifacts}/base ;;
  */*) directory=${overlay%/} ;;
  *) directory=${artifacts}/overlays/${overlay} ;;
  esac
  [[ -f "${directory}/kustomization.yaml" ]] ||
    fail "no kustomization in ${directory}; overlays that are shipped: $(cd "${artifacts}/overlays" && echo *)"
  registration=${artifacts}/apiservice
  if [[ -f "${directory}/apiservice/kustomization.yaml" ]]; then
    registration=${directory}/apiservice
  fi
  manager=${artifacts}/manager
  if [[ -f "${directory}/manager/kustomization.yaml" ]]; then
    manager=${directory}/manager
  fi
}

# check_client fails on a kubectl whose kustomize does not know what we use.
check_client() {
  local minor
  minor=$(k version --client -o yaml | sed -n 's/^ *minor: *"\{0,1\}\([0-9]*\).*/\1/p')
  if [[ -z "${minor}" ]] || ((minor < 27)); then
    fail "this kubectl is 1.${minor:-?}; 1.27 is the oldest that builds these manifests"
  fi
}

# check_owner fails when somebody else serves our group version.
check_owner() {
  local others
  others=$(definitions)
  if [[ -n "${others}" ]]; then
    fail "a CustomResourceDefinition serves ${group}/v1alpha1 here, and the API server would hide its objects. Save them and delete the definition, or stop serving v1alpha1 there; then run this again:
${others}"
  fi
  others=$(registered)
  case "${others}" in
  '' | ours) ;;
  CRD) fail "APIService ${apiservice} belongs to a CustomResourceDefinition; it goes shortly after that is deleted" ;;
  *) fail "APIService ${apiservice} belongs to ${others}, not to ${namespace}/${workload}: uninstall that server first" ;;
  esac
}

# check_cluster fails when the cluster lacks what the server builds on.
check_cluster() {
  local authority
  authority=$(k get configmap extension-apiserver-authentication --namespace=kube-system -o jsonpath='{.data.requestheader-client-ca-file}')
  [[ -n "${authority}" ]] || fail "the aggregation layer of this cluster is off: kube-apiserver needs --requestheader-client-ca-file and what belongs to it"
  if ! grep -q -e '--disable-admission-plugins=.*MutatingAdmissionPolicy' <<<"${manifests}"; then
    k get --raw /apis/admissionregistration.k8s.io/v1 | grep -q '"mutatingadmissionpolicies"' ||
      fail "this cluster has no mutatingadmissionpolicies.admissionregistration.k8s.io/v1, for which the server would wait: give it --disable-admission-plugins=MutatingAdmissionPolicy in an overlay"
  fi
}

# check_change fails when these manifests would lose what an earlier installation
# has stored, or lack what the user has to bring.
check_change() {
  local kind=statefulset other=deployment found
  if grep -q 'etcd\.example\.com' <<<"${manifests}"; then
    fail "name your etcd in ${directory}/kustomization.yaml, in place of the example"
  fi
  if grep -q 'secretName: inference-cache-etcd-client$' <<<"${manifests}"; then
    found=$(k get secret inference-cache-etcd-client --namespace="${namespace}" --ignore-not-found -o name)
    [[ -n "${found}" ]] || fail "no Secret inference-cache-etcd-client in ${namespace}: create it there (and the namespace before) with ca.crt, tls.crt and tls.key"
  fi
  if grep -qx 'kind: Deployment' <<<"${manifests}"; then
    kind=deployment other=statefulset
  fi
  found=$(k get "${other}" "${workload}" --namespace="${namespace}" --ignore-not-found -o name)
  [[ -z "${found}" ]] || fail "${found} is installed and ${directory} has a ${kind}: objects do not move from one etcd to another; see \"Changing the storage\" in docs/operations/install.md"
  running=${kind}/${workload}
}

# rehearse lets the cluster judge everything: schema, rights, admission, conflicts.
# In a namespace that is not there yet it can judge nothing.
rehearse() {
  local kustomization answer refusals
  for kustomization in "${directory}" "${registration}" "${manager}"; do
    answer=$(k kustomize "${kustomization}" | k apply "${apply_flags[@]}" --dry-run=server -f - 2>&1) || true
    refusals=$(grep -v -e ' serverside-applied (server dry run)$' -e '^Warning: ' -e "namespaces \"${namespace}\" not found\$" <<<"${answer}") || true
    [[ -z "${refusals}" ]] || fail "the cluster refuses what would be applied; nothing was changed:
${refusals}"
    if [[ -n "${dry_run}" ]]; then
      grep -v "namespaces \"${namespace}\" not found\$" <<<"${answer}" || true
    fi
  done
}

# discovered succeeds when clients can see our resources.
discovered() {
  grep -q '^cachebackends\.' <<<"$(k api-resources --api-group="${group}" -o name 2>/dev/null)"
}

choose
reach
check_client
manifests=$(k kustomize "${directory}")
check_owner
check_cluster
check_change
if [[ -z "${dry_run}" && $(phase) == Terminating ]]; then
  say "Waiting for the namespace ${namespace} of an earlier installation to go"
  await "the end of namespace ${namespace}" empty phase
fi
rehearse
if [[ -n "${dry_run}" ]]; then
  if [[ -z $(phase) ]]; then
    say "There is no namespace ${namespace} yet, so what belongs into it is not among these lines: it was built, but the cluster could not judge it."
  fi
  say "Nothing was changed. The server, the APIService and then the manager would be applied as above."
  exit
fi

say "Applying ${directory}"
k apply "${apply_flags[@]}" -f - <<<"${manifests}"
k annotate namespace "${namespace}" "${progress}-" >/dev/null
say "Waiting for the server"
k rollout status "${running}" --namespace="${namespace}" --timeout="${timeout}s" ||
  fail "the server does not become ready. Why: kubectl --namespace=${namespace} describe pods; and kubectl --namespace=${namespace} logs ${running}"

say "Applying ${registration}"
k kustomize "${registration}" | k apply "${apply_flags[@]}" -f -
await "the APIService to be available" available || fail "the cluster does not reach the server: $(condition)"
await "the resources of ${group} in discovery" discovered
say "${group}/v1alpha1 is available."

say "Applying ${manager}"
k kustomize "${manager}" | k apply "${apply_flags[@]}" -f -
say "Waiting for the manager"
k rollout status "deployment/${manager_workload}" --namespace="${namespace}" --timeout="${timeout}s" ||
  fail "the manager does not become ready. Why: kubectl --namespace=${namespace} describe pods; and kubectl --namespace=${namespace} logs deployment/${manager_workload}"
