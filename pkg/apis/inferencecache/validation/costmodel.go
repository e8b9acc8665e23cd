/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

const (
	// maxTokensPerSecond is far above what any engine computes or loads, and
	// small enough that a time made of it is still one.
	maxTokensPerSecond = 1_000_000_000
	// maxRunningRequestDelay is the delay from which a running request would count
	// for more than any prompt.
	maxRunningRequestDelay = time.Minute
)

// validateCostModel refuses figures of which no time can be made: a rate of zero
// would divide by it.
func validateCostModel(costs *inferencecache.CostModel, path *field.Path) field.ErrorList {
	if costs == nil {
		return nil
	}
	errs := validateBetween(costs.PrefillTokensPerSecond, 1, maxTokensPerSecond, path.Child("prefillTokensPerSecond"))
	errs = append(errs, validateBetween(costs.T2TokensPerSecond, 1, maxTokensPerSecond, path.Child("t2TokensPerSecond"))...)
	errs = append(errs, validateBetween(costs.T3TokensPerSecond, 1, maxTokensPerSecond, path.Child("t3TokensPerSecond"))...)
	errs = append(errs, validateBetween(costs.WaitingRequestTokens, 0, maxTokens, path.Child("waitingRequestTokens"))...)
	errs = append(errs, validateDelay(costs.RunningRequestDelay, path.Child("runningRequestDelay"))...)
	if age := costs.StatsMaxAge; age != nil && age.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("statsMaxAge"), age.Duration.String(), "must be greater than zero"))
	}
	return errs
}

func validateDelay(delay *metav1.Duration, path *field.Path) field.ErrorList {
	if delay == nil || (delay.Duration >= 0 && delay.Duration <= maxRunningRequestDelay) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, delay.Duration.String(), fmt.Sprintf("must be from 0s to %s", maxRunningRequestDelay))}
}
