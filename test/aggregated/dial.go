/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"k8s.io/client-go/rest"
)

// GRPCName is the name that clients of the gRPC port know the servers by.
const GRPCName = IndexService + "." + Namespace + ".svc"

// TrustBundle returns the certificates that the cluster trusts the servers by, in
// PEM form.
func (i *Installation) TrustBundle(ctx context.Context) ([]byte, error) {
	service, err := i.GetAPIService(ctx)
	if err != nil {
		return nil, err
	}
	if len(service.Spec.CABundle) == 0 {
		return nil, errors.New("the APIService has no bundle")
	}
	return service.Spec.CABundle, nil
}

// Dial connects to the gRPC port of a replica. Without a token the caller is nobody.
func (i *Installation) Dial(ctx context.Context, r *Replica, token string) (*grpc.ClientConn, error) {
	bundle, err := i.TrustBundle(ctx)
	if err != nil {
		return nil, fmt.Errorf("trust the server: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("trust the server: its bundle has no certificate")
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		ServerName: GRPCName, RootCAs: roots, MinVersion: tls.VersionTLS12,
	}))}
	if token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
	}
	return grpc.NewClient(r.grpc, options...)
}

// bearer sends a token with every call.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// ConfigOf is for clients that ask one replica and not the cluster, as its
// administrator.
func (i *Installation) ConfigOf(ctx context.Context, r *Replica) (*rest.Config, error) {
	bundle, err := i.TrustBundle(ctx)
	if err != nil {
		return nil, err
	}
	config := i.options.Cluster.Config()
	config.Host = "https://" + r.api
	config.CAData, config.ServerName = bundle, Name+"."+Namespace+".svc"
	return config, nil
}
