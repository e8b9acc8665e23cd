/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parse returns the certificate of a pair that an authority made.
func parse(t *testing.T, pair keyPair, err error) *x509.Certificate {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Leaf
}

func verify(certificate *x509.Certificate, by *authority, name string, usage x509.ExtKeyUsage) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(by.certificate)
	_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestAuthority(t *testing.T) {
	ours, err := newAuthority("ours")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := newAuthority("theirs")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ours.client("somebody", "a", "b")
	client := parse(t, pair, err)
	pair, err = ours.server("something", []string{"kubernetes"}, net.ParseIP("10.96.0.1"))
	server := parse(t, pair, err)

	if diff := cmp.Diff([]string{"a", "b"}, client.Subject.Organization); diff != "" || client.Subject.CommonName != "somebody" {
		t.Errorf("the client is %s (-want +got):\n%s", client.Subject, diff)
	}
	tests := map[string]struct {
		certificate *x509.Certificate
		by          *authority
		name        string
		usage       x509.ExtKeyUsage
		good        bool
	}{
		"client":             {certificate: client, by: ours, usage: x509.ExtKeyUsageClientAuth, good: true},
		"client as a server": {certificate: client, by: ours, usage: x509.ExtKeyUsageServerAuth},
		"client elsewhere":   {certificate: client, by: theirs, usage: x509.ExtKeyUsageClientAuth},
		"loopback":           {certificate: server, by: ours, name: "127.0.0.1", usage: x509.ExtKeyUsageServerAuth, good: true},
		"localhost":          {certificate: server, by: ours, name: "localhost", usage: x509.ExtKeyUsageServerAuth, good: true},
		"a further name":     {certificate: server, by: ours, name: "kubernetes", usage: x509.ExtKeyUsageServerAuth, good: true},
		"a further address":  {certificate: server, by: ours, name: "10.96.0.1", usage: x509.ExtKeyUsageServerAuth, good: true},
		"another name":       {certificate: server, by: ours, name: "example.com", usage: x509.ExtKeyUsageServerAuth},
		"server elsewhere":   {certificate: server, by: theirs, name: "localhost", usage: x509.ExtKeyUsageServerAuth},
	}
	for name, test := range tests {
		if err := verify(test.certificate, test.by, test.name, test.usage); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
