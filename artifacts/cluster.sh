#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# What install.sh and uninstall.sh know of a cluster. It is sourced, not run.

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  echo "${0##*/}: bash ${BASH_VERSION} is too old; 4.4 is the oldest that works" >&2
  exit 1
fi
shopt -s inherit_errexit

readonly namespace=inference-cache-system
readonly workload=inference-cache-apiserver
# shellcheck disable=SC2034 # for those who source this
readonly manager_workload=inference-cache-manager
readonly group=inferencecache.io
readonly apiservice=v1alpha1.${group}
# On the namespace while it is uninstalled: that the objects have been seen to.
# shellcheck disable=SC2034 # for those who source this
readonly progress=${group}/uninstall

# What the flags of both scripts set: flags of kubectl, and how many seconds each
# wait may take.
kube_flags=()
timeout=300

say() { echo "$*"; }

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# k is kubectl against the cluster that was chosen.
k() { "${KUBECTL:-kubectl}" "${kube_flags[@]}" "$@"; }

# await WHAT COMMAND... runs the command every second until it succeeds; it returns
# 1 when the time is up.
await() {
  local what=$1 end=$((SECONDS + timeout))
  shift
  until "$@"; do
    if ((SECONDS >= end)); then
      echo "${0##*/}: after ${timeout} s still waiting for ${what}" >&2
      return 1
    fi
    sleep 1
  done
}

# empty runs a command and succeeds when it works and prints nothing.
empty() {
  local out
  out=$("$@") && [[ -z "${out}" ]]
}

# reach fails unless the cluster answers.
reach() {
  command -v "${KUBECTL:-kubectl}" >/dev/null || fail "kubectl is missing"
  local answer
  answer=$(k get --raw /version 2>&1) || fail "the cluster does not answer: ${answer}"
}

# registered prints who serves our group version as the cluster has it: nothing,
# "ours", "CRD", or the Service of somebody else.
registered() {
  local service
  service=$(k get apiservice "${apiservice}" --ignore-not-found -o jsonpath='{.spec.service.namespace}/{.spec.service.name}')
  case "${service}" in
  '') ;;
  "${namespace}/${workload}") echo ours ;;
  /) echo CRD ;;
  *) echo "Service ${service}" ;;
  esac
}

# definitions prints the CustomResourceDefinitions that serve our group version.
definitions() {
  k get customresourcedefinitions -o go-template="{{range .items}}{{if eq .spec.group \"${group}\"}}{{\$name := .metadata.name}}{{range .spec.versions}}{{if and .served (eq .name \"v1alpha1\")}}{{\$name}}
{{end}}{{end}}{{end}}{{end}}"
}

# phase prints the phase of our namespace, or nothing when there is none.
phase() { k get namespace "${namespace}" --ignore-not-found -o jsonpath='{.status.phase}'; }

# condition prints why the group is not available.
condition() {
  k get apiservice "${apiservice}" --ignore-not-found \
    -o jsonpath='{range .status.conditions[?(@.type=="Available")]}{.reason}: {.message}{end}'
}

# available succeeds when the cluster says that it reaches the server.
available() {
  [[ $(k get apiservice "${apiservice}" --ignore-not-found \
    -o jsonpath='{range .status.conditions[?(@.type=="Available")]}{.status}{end}') == True ]]
}
