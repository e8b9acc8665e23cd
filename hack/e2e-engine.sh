#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/e2e-engine.sh DURATION SEED [ARGUMENT-OF-GO-TEST...]
#
# Drives real engines for a time such as 10m, and compares our answers with
# theirs. Seed 0 draws one. The first run installs the engine, which takes 6 GB.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1:?usage: hack/e2e-engine.sh DURATION SEED}
seed=${2:?usage: hack/e2e-engine.sh DURATION SEED}
shift 2

engine=$(hack/engine-env.sh)
VLLM="${engine}/bin/vllm"
export VLLM
# Starting and waiting come on top of the duration; nothing here is cached.
nice go test -tags=e2e -count=1 -timeout=0 -v "$@" ./test/e2e/engine -args -duration="${duration}" -seed="${seed}"
