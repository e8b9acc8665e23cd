/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/programs"
)

// GetAPIService reads how the cluster knows the group.
func (i *Installation) GetAPIService(ctx context.Context) (*apiregistrationv1.APIService, error) {
	ctx, cancel := context.WithTimeout(ctx, programs.CallTimeout)
	defer cancel()
	body, err := i.client.Discovery().RESTClient().Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/" + APIService).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	service := &apiregistrationv1.APIService{}
	return service, json.Unmarshal(body, service)
}

// Await waits until the cluster calls the group available and tells clients of it.
func (i *Installation) Await(ctx context.Context) error {
	if err := i.AwaitAvailable(ctx, true); err != nil {
		return err
	}
	return programs.Poll(ctx, func() error {
		groups, err := i.client.Discovery().ServerGroups()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == v1alpha1.GroupName }) {
			return fmt.Errorf("discovery has no group %s", v1alpha1.GroupName)
		}
		return nil
	})
}

// AwaitAvailable waits until the condition Available of the APIService is true, or
// is not.
func (i *Installation) AwaitAvailable(ctx context.Context, want bool) error {
	return programs.Poll(ctx, func() error {
		service, err := i.GetAPIService(ctx)
		if err != nil {
			return err
		}
		if got := isAvailable(service); got != want {
			return fmt.Errorf("wait for the APIService to be available=%t: its conditions are %+v", want, service.Status.Conditions)
		}
		return nil
	})
}

func isAvailable(service *apiregistrationv1.APIService) bool {
	return slices.ContainsFunc(service.Status.Conditions, func(c apiregistrationv1.APIServiceCondition) bool {
		return c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionTrue
	})
}
