/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/certs"
)

// Names of a usual installation.
const (
	// DefaultNamespace is where the server's Services are.
	DefaultNamespace = "inference-cache-system"
	// DefaultServiceName is the Service of the API.
	DefaultServiceName = "inference-cache-apiserver"
	// DefaultIndexServiceName is the Service of the index.
	DefaultIndexServiceName = "inference-cache-index"
)

const (
	// caName is the Secret that holds the server's authority, and the ConfigMap that
	// holds the bundle for clients of the gRPC port.
	caName = "inference-cache-ca"

	// clusterRoleName is the role of the server. The APIService is owned by it, so
	// that one is collected which an uninstallation forgets.
	clusterRoleName = "inference-cache-apiserver"

	// fieldManager owns what the server writes into the cluster.
	fieldManager = "inference-cache-apiserver"
)

// apiServiceName returns the name that the cluster requires of the APIService of
// our group and version.
func apiServiceName() string {
	return v1alpha1.SchemeGroupVersion.Version + "." + v1alpha1.SchemeGroupVersion.Group
}

// What the registration reads without a generated client.
func apiServices() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
}

func customResourceDefinitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// registrationRights returns the rights to look at how the cluster reaches our
// group, and to publish our own certificates from namespace.
func registrationRights(namespace string) []Right {
	const registration, extensions, rbac = "apiregistration.k8s.io", "apiextensions.k8s.io", "rbac.authorization.k8s.io"
	return []Right{
		// Their names are not known before: any of our group may hide it.
		{Verbs: []string{"get", "list"}, Group: extensions, Resource: "customresourcedefinitions", Asker: AskerServer, Without: Unready},
		{Verbs: []string{"get"}, Group: registration, Resource: "apiservices", Name: apiServiceName(), Asker: AskerServer, Without: Unready},
		{
			Verbs: []string{"list", "watch", "patch"}, Group: registration, Resource: "apiservices", Name: apiServiceName(),
			Asker: AskerCertificates, Without: Unready,
		},
		{Verbs: []string{"get"}, Group: rbac, Resource: "clusterroles", Name: clusterRoleName, Asker: AskerCertificates, Without: Degraded},
		// Whoever creates cannot be held to a name.
		{Verbs: []string{"create"}, Resource: "secrets", Namespace: namespace, Asker: AskerCertificates, Without: Unstarted},
		{Verbs: []string{"get", "update"}, Resource: "secrets", Namespace: namespace, Name: caName, Asker: AskerCertificates, Without: Unstarted},
		// It is created by a patch, whose name is known.
		{Verbs: []string{"get", "create", "patch"}, Resource: "configmaps", Namespace: namespace, Name: caName, Asker: AskerCertificates, Without: Degraded},
	}
}

// RegistrationConfig is what a Registration needs.
type RegistrationConfig struct {
	// Client reaches the cluster.
	Client *rest.Config
	// Namespace and ServiceName are the Service that the cluster reaches us through.
	Namespace, ServiceName string
	// Names are what our own certificates are for.
	Names []string
	// Lifetimes are those of our own certificates. Nil means that certificates are
	// given, so none are made and nothing is published.
	Lifetimes *certs.Lifetimes
	// Clock is the time of certificates and of waits.
	Clock clock.Clock
	// Registerer receives the metrics.
	Registerer prometheus.Registerer
	// Logger tells about certificates.
	Logger logr.Logger
}

// Registration is how the cluster comes to this server: through an APIService that
// somebody else creates, with certificates that it can verify. It is a readiness
// check that holds the server back while something else has our group.
type Registration struct {
	preflight *preflight
	// rotator and publisher are nil when certificates are given.
	rotator   *certs.Rotator
	publisher *publisher
}

// NewRegistration returns a Registration that has not asked the cluster yet.
func NewRegistration(config RegistrationConfig) (*Registration, error) {
	clients, err := newRegistrationClients(config.Client)
	if err != nil {
		return nil, err
	}
	metrics, err := newRegistrationMetrics(config.Registerer)
	if err != nil {
		return nil, err
	}
	self := serviceRef{namespace: config.Namespace, name: config.ServiceName}
	r := &Registration{preflight: newPreflight(clients, self, config.Clock, metrics)}
	if config.Lifetimes == nil {
		return r, nil
	}
	r.publisher, err = newPublisher(clients, self, config.Clock, metrics)
	if err != nil {
		return nil, err
	}
	r.rotator, err = certs.New(certs.Config{
		Secrets:    clients.kube.CoreV1().Secrets(config.Namespace),
		Namespace:  config.Namespace,
		Name:       caName,
		Names:      config.Names,
		Lifetimes:  *config.Lifetimes,
		Published:  r.publisher.published,
		Clock:      config.Clock,
		Jitter:     rand.Float64,
		Registerer: config.Registerer,
		Logger:     config.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	r.publisher.follow(r.rotator)
	return r, nil
}

// Prepare returns when there is a serving certificate, or with the context's
// error. It returns at once when certificates are given.
func (r *Registration) Prepare(ctx context.Context) error {
	if r.rotator == nil {
		return nil
	}
	return r.rotator.Prepare(ctx)
}

// Run looks at the cluster, rotates and publishes until ctx ends.
func (r *Registration) Run(ctx context.Context) {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { r.preflight.run(ctx) })
	if r.rotator == nil {
		return
	}
	parts.Go(func() { r.publisher.run(ctx) })
	parts.Go(func() { r.rotator.Run(ctx) })
}

// Name implements healthz.HealthChecker.
func (r *Registration) Name() string {
	return "registration"
}

// Check implements healthz.HealthChecker. Once it has passed it always passes: an
// API that goes away blocks the deletion of every namespace of the cluster.
func (r *Registration) Check(*http.Request) error {
	return r.preflight.check()
}

// registrationClients are how the cluster is asked.
type registrationClients struct {
	kube     kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

func newRegistrationClients(config *rest.Config) (registrationClients, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return registrationClients{}, fmt.Errorf("make client for certificates: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return registrationClients{}, fmt.Errorf("make client for the APIService: %w", err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return registrationClients{}, fmt.Errorf("make client for CustomResourceDefinitions: %w", err)
	}
	return registrationClients{kube: kube, dynamic: dyn, metadata: meta}, nil
}
