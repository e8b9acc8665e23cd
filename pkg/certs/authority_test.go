/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/mutation"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	caLife   = 1200 * time.Hour
	leafLife = 60 * time.Hour
)

func mustPair(t testing.TB, now time.Time, life time.Duration) *pair {
	t.Helper()
	p, err := newAuthorityPair(now, life)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// secretData returns the data of a Secret in the middle of a rotation.
func secretData(t testing.TB) map[string][]byte {
	t.Helper()
	old := mustPair(t, epoch.Add(-caLife), caLife+time.Hour)
	a := &authority{signer: mustPair(t, epoch, caLife), successor: mustPair(t, epoch.Add(800*time.Hour), caLife)}
	for _, p := range []*pair{old, a.signer, a.successor} {
		a.trust(p.cert)
	}
	data := map[string][]byte{"theirs": []byte("kept")}
	a.write(data)
	return data
}

func TestParseAuthority(t *testing.T) {
	whole := secretData(t)
	other := secretData(t)
	leaf, err := newLeaf(mustPair(t, epoch, caLife), []string{"a"}, epoch, leafLife)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaDER, err := x509.MarshalPKCS8PrivateKey(rsaKey)
	if err != nil {
		t.Fatal(err)
	}
	rsaPEM := pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: rsaDER})
	tests := map[string]struct {
		change map[string][]byte
		// want is a part of the error; none means that it can be read.
		want string
	}{
		"whole":                     {},
		"no bundle":                 {change: map[string][]byte{"ca.crt": nil}},
		"bundle without the signer": {change: map[string][]byte{"ca.crt": other["ca.crt"]}},
		"no successor":              {change: map[string][]byte{"next.crt": nil, "next.key": nil}},
		"no certificate":            {change: map[string][]byte{"tls.crt": nil}, want: "key tls.crt is missing"},
		"no key":                    {change: map[string][]byte{"tls.key": nil}, want: "key tls.key is missing"},
		"half a successor":          {change: map[string][]byte{"next.key": nil}, want: "key next.key is missing"},
		"no PEM":                    {change: map[string][]byte{"tls.crt": []byte("x")}, want: "key tls.crt holds no PEM block of a certificate"},
		"no certificate inside":     {change: map[string][]byte{"tls.crt": pem.EncodeToMemory(&pem.Block{Type: certificateBlock})}, want: "key tls.crt holds no certificate: "},
		"a key as certificate":      {change: map[string][]byte{"tls.crt": whole["tls.key"]}, want: `key tls.crt holds a PEM block "PRIVATE KEY", want CERTIFICATE`},
		"several certificates":      {change: map[string][]byte{"tls.crt": whole["ca.crt"]}, want: "key tls.crt holds 3 certificates, want one"},
		"a certificate as key":      {change: map[string][]byte{"tls.key": whole["tls.crt"]}, want: "key tls.key holds no PEM block of a private key"},
		"no key inside":             {change: map[string][]byte{"tls.key": pem.EncodeToMemory(&pem.Block{Type: keyBlock})}, want: "key tls.key holds no private key: "},
		"foreign key":               {change: map[string][]byte{"tls.key": other["tls.key"]}, want: "key tls.key is not the key of the certificate in tls.crt"},
		"foreign key of successor":  {change: map[string][]byte{"next.key": other["next.key"]}, want: "key next.key is not the key of the certificate in next.crt"},
		"RSA key":                   {change: map[string][]byte{"tls.key": rsaPEM}, want: "key tls.key holds a *rsa.PrivateKey, want an ECDSA key"},
		"serving certificate":       {change: map[string][]byte{"tls.crt": leaf.certPEM, "tls.key": leaf.keyPEM}, want: `key tls.crt holds the certificate "CN=a", which may not sign others`},
		"damaged bundle":            {change: map[string][]byte{"ca.crt": []byte("x")}, want: "key ca.crt holds no PEM block"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data := maps.Clone(whole)
			for key, value := range tc.change {
				data[key] = value
				if value == nil {
					delete(data, key)
				}
			}
			a, err := parseAuthority(data)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if err == nil && (!a.trusts(a.signer.cert) || a.successor != nil && !a.trusts(a.successor.cert)) {
				t.Error("what signs is not trusted")
			}
		})
	}
}

// TestWriteAuthority holds that nothing is lost between two reads of a Secret.
func TestWriteAuthority(t *testing.T) {
	want := secretData(t)
	a, err := parseAuthority(want)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{"theirs": []byte("kept"), "next.crt": []byte("stale")}
	a.write(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrote something else (-want +got):\n%s", diff)
	}
	a.successor = nil
	a.write(got)
	for _, key := range []string{"next.crt", "next.key"} {
		if _, there := got[key]; there {
			t.Errorf("%s of a successor that is gone is still there", key)
		}
	}
}

// FuzzParseAuthority feeds any Secret to the parser. It must not panic, and what it
// accepts must sign and come back the same after it was written.
func FuzzParseAuthority(f *testing.F) {
	corpus := mutation.New(f, 3000)
	data := secretData(f)
	corpus.Add(data["tls.crt"], data["tls.key"], data["next.crt"], data["next.key"], data["ca.crt"])
	corpus.Add(data["tls.crt"], data["tls.key"], []byte(nil), []byte(nil), []byte(nil))
	corpus.Fuzz(func(t *testing.T, signerCert, signerKey, successorCert, successorKey, bundle []byte) {
		a, err := parseAuthority(map[string][]byte{
			keySignerCert: signerCert, keySignerKey: signerKey, keySuccessorCert: successorCert, keySuccessorKey: successorKey, KeyBundle: bundle,
		})
		if err != nil {
			return
		}
		if _, err := newLeaf(a.signer, []string{"a"}, epoch, leafLife); err != nil {
			t.Fatalf("an accepted authority does not sign: %v", err)
		}
		written := map[string][]byte{}
		a.write(written)
		again, err := parseAuthority(written)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		rewritten := map[string][]byte{}
		again.write(rewritten)
		if diff := cmp.Diff(written, rewritten); diff != "" {
			t.Errorf("written twice, not the same (-first +second):\n%s", diff)
		}
	})
}
