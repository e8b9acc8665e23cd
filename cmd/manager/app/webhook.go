/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"inferencecache.io/inference-cache/pkg/controller/trustbundle"
	"inferencecache.io/inference-cache/pkg/webhook/pod"
	"inferencecache.io/inference-cache/pkg/webhook/registration"
)

const (
	// webhookConfiguration is what sends the cluster's questions here.
	webhookConfiguration = "inference-cache-manager"
	// indexService and indexPort are where engines report.
	indexService = "inference-cache-index"
	indexPort    = "9090"
)

// nativeSidecarsSince is the first release that keeps init containers running whose
// restart policy is Always.
var nativeSidecarsSince = version.MustParseGeneric("1.29")

// podWebhook is what makes the webhook, or nothing when it is switched off.
type podWebhook struct {
	options   *Options
	client    kubernetes.Interface
	publisher *registration.Publisher
	// sidecars is what the cluster said, once it has said anything.
	sidecars atomic.Pointer[bool]
}

func newPodWebhook(cluster *rest.Config, options *Options) (*podWebhook, error) {
	if options.WebhookPort == 0 {
		return nil, nil
	}
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, err
	}
	return &podWebhook{
		options: options, client: client,
		publisher: registration.New(registration.Config{
			Configurations: client.AdmissionregistrationV1().MutatingWebhookConfigurations(), Name: webhookConfiguration,
			Service: types.NamespacedName{Namespace: options.Namespace, Name: serviceName}, Clock: clock.RealClock{},
		}),
	}, nil
}

// published returns what says whether the cluster knows an authority.
func (w *podWebhook) published() func([]byte) bool {
	if w == nil {
		return nil
	}
	return w.publisher.Published
}

// server returns where the webhook is served; nil leaves that to the library, which
// serves nothing that nobody has registered.
func (w *podWebhook) server(served *certificate) webhook.Server {
	if w == nil {
		return nil
	}
	return webhook.NewServer(webhook.Options{Port: w.options.WebhookPort, TLSOpts: []func(*tls.Config){served.serve}})
}

// add puts the webhook into a manager, whether or not that leads.
func (w *podWebhook) add(manager ctrl.Manager, served *certificate) error {
	if w == nil {
		return nil
	}
	index := w.options.IndexServer
	if index == "" {
		index = net.JoinHostPort(indexService+"."+w.options.Namespace+".svc", indexPort)
	}
	handler, err := pod.NewHandler(pod.Options{
		Backends: manager.GetCache(), Pods: manager.GetCache(), Decoder: admission.NewDecoder(manager.GetScheme()),
		Settings:       pod.Settings{SubscriberImage: w.options.SubscriberImage, IndexServer: index, CAConfigMap: trustbundle.Name},
		NativeSidecars: w.nativeSidecars, Namespace: w.options.Namespace, Registerer: metrics.Registry,
	})
	if err != nil {
		return err
	}
	server := manager.GetWebhookServer()
	server.Register(pod.Path, &admission.Webhook{Handler: handler})
	w.publisher.Follow(served)
	return errors.Join(manager.Add(w.publisher), manager.AddReadyzCheck("webhook", server.StartedChecker()))
}

// nativeSidecars asks the cluster for its version until it has answered.
func (w *podWebhook) nativeSidecars(ctx context.Context) (bool, error) {
	if known := w.sidecars.Load(); known != nil {
		return *known, nil
	}
	raw, err := w.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return false, err
	}
	native, err := hasNativeSidecars(raw)
	if err != nil {
		return false, err
	}
	w.sidecars.Store(&native)
	return native, nil
}

// hasNativeSidecars reads the answer of a cluster about its version.
func hasNativeSidecars(answer []byte) (bool, error) {
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return false, fmt.Errorf("read the version of the cluster: %w", err)
	}
	parsed, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return false, fmt.Errorf("read the version of the cluster: %w", err)
	}
	return parsed.AtLeast(nativeSidecarsSince), nil
}
