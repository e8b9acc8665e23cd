/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// How often quotas may be updated, in requests per second and at once. It is what
// the library allows for authorisation, because a user waits for either; the
// default of a client is made for background work.
const (
	quotaQPS   = 200
	quotaBurst = 400
)

// UseQuota makes the server count objects against the ResourceQuotas of the
// cluster, as count/<resource>.<group>. The generic chain leaves that out, and
// such quotas then look as if they worked. The check is the last of the chain, as
// in a kube-apiserver: what another check refuses must not be counted.
//
// An object is refused before it is stored, and added to the quota's used count.
// Taking deleted objects off it is what the quota controller of the cluster does.
func UseQuota(o *genericoptions.RecommendedOptions) {
	resourcequota.Register(o.Admission.Plugins)
	o.Admission.RecommendedPluginOrder = append(o.Admission.RecommendedPluginOrder, resourcequota.PluginName)
	others := o.ExtraAdmissionInitializers
	o.ExtraAdmissionInitializers = func(c *genericapiserver.RecommendedConfig) ([]admission.PluginInitializer, error) {
		initializers, err := others(c)
		if err != nil || c.ClientConfig == nil {
			return initializers, err
		}
		quotas, err := newQuotaInitializer(c.ClientConfig)
		if err != nil {
			return nil, err
		}
		return append(initializers, quotas), nil
	}
}

// quotaInitializer gives the quota plugin what the generic initializer does not.
type quotaInitializer struct {
	client        kubernetes.Interface
	configuration quota.Configuration
}

func newQuotaInitializer(config *rest.Config) (quotaInitializer, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst = quotaQPS, quotaBurst
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return quotaInitializer{}, fmt.Errorf("make client for quotas: %w", err)
	}
	return quotaInitializer{client: client, configuration: quotaConfiguration()}, nil
}

// Initialize implements admission.PluginInitializer.
func (i quotaInitializer) Initialize(plugin admission.Interface) {
	wants, ok := plugin.(initializer.WantsQuotaConfiguration)
	if !ok {
		return
	}
	wants.SetQuotaConfiguration(i.configuration)
	if wants, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		wants.SetExternalKubeClientSet(i.client)
	}
}

// quotaConfiguration names what is counted, and what is created but not stored.
// The plugin would count any other kind, too. Evaluators need no lister: only the
// quota controller asks for the usage of a whole namespace.
func quotaConfiguration() quota.Configuration {
	var evaluators []quota.Evaluator
	for _, resource := range []string{"cachebackends", "cachepolicies", "cachetenants"} {
		evaluators = append(evaluators, generic.NewObjectCountEvaluator(groupResource(resource), nil, ""))
	}
	ignored := map[schema.GroupResource]struct{}{groupResource("routelookups"): {}}
	return generic.NewConfiguration(evaluators, ignored)
}

func groupResource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: inferencecache.GroupName, Resource: resource}
}
