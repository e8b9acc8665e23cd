/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// PolicyFacts is everything that the status of a CachePolicy depends on. JudgePolicy
// changes none of it.
type PolicyFacts struct {
	// Now is the time of the observation.
	Now time.Time
	// Policy is the object with the status that was last written.
	Policy *v1alpha1.CachePolicy
	// Policies are all CachePolicies of its namespace, in any order.
	Policies []v1alpha1.CachePolicy
}

// JudgePolicy returns the status of a policy: of several in one namespace the first by
// name holds.
func JudgePolicy(facts PolicyFacts) v1alpha1.CachePolicyStatus {
	status := *facts.Policy.Status.DeepCopy()
	status.ObservedGeneration = facts.Policy.Generation
	set := setter(&status.Conditions, facts.Policy.Generation, facts.Now)
	first := facts.Policy.Name
	for i := range facts.Policies {
		first = min(first, facts.Policies[i].Name)
	}
	if first != facts.Policy.Name {
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotEffective,
			fmt.Sprintf("CachePolicy %q of this namespace holds; delete one of them", first))
		return status
	}
	set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonObserved, "Lookups of the namespace follow this policy")
	return status
}
