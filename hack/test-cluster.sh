#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/test-cluster.sh [ARGUMENT-OF-GO-TEST...]
#
# Runs the tests behind the build tag "e2e", each package with a real control plane
# of its own, one after the other, and prints what each took. They find the control
# plane's programs by CONTROLPLANE and kubectl by KUBECTL; `make e2e` builds both.
# test/e2e/engine has the same tag and is not among them: it needs a real engine,
# and `make e2e-engine` runs it.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CONTROLPLANE=$(hack/tool.sh controlplane)
export CONTROLPLANE
KUBECTL="${PWD}/bin/kubectl"
export KUBECTL

mapfile -t packages < <(
  grep -rlE --include='*_test.go' '^//go:build .*\be2e\b' hack test | xargs -r -n1 dirname | sort -u | grep -vx test/e2e/engine
)
if ((${#packages[@]} == 0)); then
  echo "hack/test-cluster.sh: no test file carries the build tag e2e" >&2
  exit 1
fi

summary=()
failed=0
for package in "${packages[@]}"; do
  started=${SECONDS} outcome=ok verbose=()
  if [[ ${package} == test/scale ]]; then
    verbose=(-v) # its figures are what it is for
  fi
  # Most tests wait for controllers, which costs no processor. The programs under
  # test are no inputs that go test can see, so no earlier result may stand in.
  if ! go test -tags=e2e -count=1 -parallel=8 -timeout=15m "${verbose[@]}" "$@" "./${package}"; then
    outcome=FAILED
    failed=1
  fi
  summary+=("$(printf '%-24s %-7s %5d s' "${package}" "${outcome}" "$((SECONDS - started))")")
done
printf '%s\n' "${summary[@]}"
exit "${failed}"
