/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/certs"
)

const (
	// defaultCertificateLifetime is a month: a stolen key is of little use, and a
	// cluster may be away for ten days before a certificate that is due ends.
	defaultCertificateLifetime = 720 * time.Hour
	// defaultCALifetime is a year, as kubeadm's certificates.
	defaultCALifetime = 8760 * time.Hour

	// eventTimeout bounds one attempt to write an Event.
	eventTimeout = 10 * time.Second
)

// Names of flags that errors tell about.
const (
	flagNamespace           = "namespace"
	flagServiceName         = "service-name"
	flagIndexServiceName    = "index-service-name"
	flagPodName             = "pod-name"
	flagCertificateLifetime = "certificate-lifetime"
	flagCALifetime          = "ca-lifetime"
)

// ClusterOptions say where in a cluster the server is, and how long what it signs
// for itself lives.
type ClusterOptions struct {
	// Namespace is where the server's Services, Secret and ConfigMap are.
	Namespace string
	// ServiceName is the Service that the cluster reaches the API through.
	ServiceName string
	// IndexServiceName is the Service that engines and routers reach the index through.
	IndexServiceName string
	// PodName is the Pod of this replica; empty when it is not known.
	PodName string
	// CertificateLifetime is how long a serving certificate is valid.
	CertificateLifetime time.Duration
	// CALifetime is how long an authority of the server is valid.
	CALifetime time.Duration
}

func newClusterOptions() ClusterOptions {
	return ClusterOptions{
		Namespace:           apiserver.DefaultNamespace,
		ServiceName:         apiserver.DefaultServiceName,
		IndexServiceName:    apiserver.DefaultIndexServiceName,
		CertificateLifetime: defaultCertificateLifetime,
		CALifetime:          defaultCALifetime,
	}
}

func (o *ClusterOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Namespace, flagNamespace, o.Namespace,
		"The namespace of the server: its Services, and the Secret and ConfigMap of its certificate authority.")
	fs.StringVar(&o.ServiceName, flagServiceName, o.ServiceName,
		"The Service that the APIService of the group points to.")
	fs.StringVar(&o.IndexServiceName, flagIndexServiceName, o.IndexServiceName,
		"The headless Service through which engines report and routers ask.")
	fs.StringVar(&o.PodName, flagPodName, o.PodName,
		"The Pod of this replica, which its Events are about. Without it they are about the namespace.")
	fs.DurationVar(&o.CertificateLifetime, flagCertificateLifetime, o.CertificateLifetime,
		"How long a serving certificate of the server's own authority is valid. It is replaced after two thirds of that.")
	fs.DurationVar(&o.CALifetime, flagCALifetime, o.CALifetime,
		"How long a certificate authority of the server is valid. After two thirds of that its successor is published, and signs a twelfth later.")
}

// names are what the server is reached by, as clients inside the cluster resolve
// it. The domain of the cluster is left out: nobody knows it for sure.
func (o *ClusterOptions) names() []string {
	names := make([]string, 0, 7)
	for _, service := range []string{o.ServiceName, o.IndexServiceName} {
		names = append(names, service+"."+o.Namespace+".svc", service+"."+o.Namespace, service)
	}
	return append(names, "localhost")
}

func (o *ClusterOptions) lifetimes() certs.Lifetimes {
	return certs.Lifetimes{CA: o.CALifetime, Leaf: o.CertificateLifetime}
}

// validate returns every problem. ownCertificates says that no files were given.
func (o *ClusterOptions) validate(ownCertificates bool) []error {
	var errs []error
	for _, f := range []struct {
		flag, value string
		check       func(string) []string
	}{
		{flagNamespace, o.Namespace, validation.IsDNS1123Label},
		{flagServiceName, o.ServiceName, validation.IsDNS1123Label},
		{flagIndexServiceName, o.IndexServiceName, validation.IsDNS1123Label},
		{flagPodName, o.PodName, validation.IsDNS1123Subdomain},
	} {
		if f.flag == flagPodName && f.value == "" {
			continue
		}
		if problems := f.check(f.value); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("--%s: %q is no name in a cluster: %s", f.flag, f.value, strings.Join(problems, ", ")))
		}
	}
	if o.ServiceName == o.IndexServiceName {
		errs = append(errs, fmt.Errorf("--%s: %q is the name that --%s gives to another Service; give each its own", flagIndexServiceName, o.IndexServiceName, flagServiceName))
	}
	if !ownCertificates {
		return errs
	}
	if o.CertificateLifetime < certs.MinLeafLifetime {
		errs = append(errs, fmt.Errorf("--%s: %s is too short to replace a certificate in time; give at least %s", flagCertificateLifetime, o.CertificateLifetime, certs.MinLeafLifetime))
	}
	if least := certs.LeastCALifetime(o.CertificateLifetime); o.CALifetime < least {
		errs = append(errs, fmt.Errorf("--%s: %s is too short for certificates that live for %s; give at least %s, or a shorter --%s",
			flagCALifetime, o.CALifetime, o.CertificateLifetime, least, flagCertificateLifetime))
	}
	return errs
}

// spaceEvents returns what makes Events about this replica.
func (o *Options) spaceEvents() (*apiserver.SpaceEvents, error) {
	config, err := clientConfig(o.kubeconfigOf(apiserver.AskerEvents))
	if err != nil {
		return nil, err
	}
	config.Timeout = eventTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client for Events: %w", err)
	}
	return apiserver.NewSpaceEvents(client, o.Cluster.Namespace, o.Cluster.PodName), nil
}

// ownCertificates reports whether the server makes its own certificates, which it
// does when no files are given.
func (o *Options) ownCertificates() bool {
	pair := o.Recommended.SecureServing.ServerCert.CertKey
	return !o.Standalone && pair.CertFile == "" && pair.KeyFile == ""
}

// validateCertificateFiles checks that files are given whole, and nothing with
// them that only our own certificates have.
func (o *Options) validateCertificateFiles() []error {
	pair := o.Recommended.SecureServing.ServerCert.CertKey
	if (pair.CertFile == "") != (pair.KeyFile == "") {
		return []error{errors.New("--tls-cert-file, --tls-private-key-file: give both, or none to let the server make its own certificates")}
	}
	var errs []error
	for _, name := range []string{flagCertificateLifetime, flagCALifetime} {
		if o.flags == nil || o.ownCertificates() {
			break
		}
		if f := o.flags.FlagSet(groupCluster).Lookup(name); f != nil && f.Changed {
			errs = append(errs, fmt.Errorf("--%s: no effect with --tls-cert-file, whose issuer decides; give one of the two", name))
		}
	}
	return errs
}
