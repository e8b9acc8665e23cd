/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apiserver"
)

// reviewTimeout bounds one question to the cluster, which answers from memory.
const reviewTimeout = 10 * time.Second

// rightsCheck returns the check of the rights that are needed with the flags as
// they are, asked by the users that need them.
func (o *Options) rightsCheck(c clock.Clock) (*apiserver.RightsCheck, error) {
	rights := o.neededRights()
	byFile := map[string]apiserver.Reviewer{}
	for _, r := range rights {
		file := o.kubeconfigOf(r.Asker)
		if byFile[file] != nil {
			continue
		}
		reviewer, err := newReviewer(file)
		if err != nil {
			return nil, err
		}
		byFile[file] = reviewer
	}
	return apiserver.NewRightsCheck(rights, func(a apiserver.Asker) apiserver.Reviewer {
		return byFile[o.kubeconfigOf(a)]
	}, c), nil
}

// neededRights returns the rights of the parts that are on.
func (o *Options) neededRights() []apiserver.Right {
	return slices.DeleteFunc(apiserver.ClusterRightsIn(o.Cluster.Namespace), func(r apiserver.Right) bool { return !o.asks(r.Asker) })
}

// asks reports whether a part of the server is on.
func (o *Options) asks(a apiserver.Asker) bool {
	authentication, admission := o.Recommended.Authentication, o.Recommended.Admission
	switch a {
	case apiserver.AskerServer, apiserver.AskerAuthentication, apiserver.AskerAuthorization:
		return true
	case apiserver.AskerAuthenticationConfig:
		given := authentication.ClientCert.ClientCA != "" && authentication.RequestHeader.ClientCAFile != ""
		return !given && !authentication.SkipInClusterLookup && !authentication.TolerateInClusterLookupFailure
	case apiserver.AskerCertificates:
		return o.ownCertificates()
	case apiserver.AskerEvents:
		return o.embeddedEtcd()
	case apiserver.AskerPriorityAndFairness:
		return o.Recommended.Features.EnablePriorityAndFairness
	default:
		plugin := string(a)
		return slices.Contains(admission.EnablePlugins, plugin) ||
			!slices.Contains(admission.DisablePlugins, plugin) && !admission.DefaultOffPlugins.Has(plugin)
	}
}

// kubeconfigOf returns the file that says as whom a part asks the cluster. None
// means the service account of the Pod.
func (o *Options) kubeconfigOf(a apiserver.Asker) string {
	switch a {
	case apiserver.AskerAuthentication, apiserver.AskerAuthenticationConfig:
		return o.Recommended.Authentication.RemoteKubeConfigFile
	case apiserver.AskerAuthorization:
		return o.Recommended.Authorization.RemoteKubeConfigFile
	default:
		return o.Recommended.CoreAPI.CoreAPIKubeconfigPath
	}
}

// newReviewer returns what asks as the user of a kubeconfig file. It has no rate
// limit: the questions come all at once, and then never again.
func newReviewer(file string) (apiserver.Reviewer, error) {
	config, err := clientConfig(file)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Timeout = -1, reviewTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client to ask for rights: %w", err)
	}
	return client.AuthorizationV1().SelfSubjectAccessReviews(), nil
}

// clientConfig returns how to reach the cluster as the user of a kubeconfig file, or
// of the Pod.
func clientConfig(file string) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if file == "" {
		config, err = rest.InClusterConfig()
	} else {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return config, nil
}
