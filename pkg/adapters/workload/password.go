/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// PasswordKey is the key of a generated password in its Secret.
	PasswordKey = "password"
	// PasswordEnv is the variable in which a server finds its generated password.
	PasswordEnv = "STORE_PASSWORD"
	// AnnotationPasswordRevision on a store's Pods changes with the password, so that
	// a server whose Secret was lost and made anew takes the new one.
	AnnotationPasswordRevision = "inferencecache.io/password-revision"

	// passwordBytes is the entropy of a generated password.
	passwordBytes = 32
	// revisionBytes is what a revision tells of a password: enough to see that two
	// differ, far too little to find 32 random bytes by.
	revisionBytes = 4
)

// PasswordRef returns where the generated password of a backend's store is kept.
func PasswordRef(backend *v1alpha1.CacheBackend) v1alpha1.SecretKeyReference {
	return v1alpha1.SecretKeyReference{Name: backend.Name + "-store-password", Key: PasswordKey}
}

// NewPassword makes a password from a source of randomness, which is
// crypto/rand.Reader but in tests. It consists of letters, digits, - and _, so that
// it stands unquoted in any configuration.
func NewPassword(random io.Reader) (string, error) {
	raw := make([]byte, passwordBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

func passwordSecret(in Input) *corev1.Secret {
	ref := PasswordRef(in.Backend)
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret"},
		ObjectMeta: objectMeta(in.Backend, ref.Name),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{ref.Key: []byte(in.Password)},
	}
}

func passwordEnv(backend *v1alpha1.CacheBackend) corev1.EnvVar {
	ref := PasswordRef(backend)
	return corev1.EnvVar{Name: PasswordEnv, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key,
	}}}
}

// passwordRevision tells passwords of one backend apart.
func passwordRevision(in Input) string {
	sum := sha256.Sum256([]byte(string(in.Backend.UID) + "\x00" + in.Password))
	return hex.EncodeToString(sum[:revisionBytes])
}
