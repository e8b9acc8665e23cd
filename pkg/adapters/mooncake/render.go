/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// DefaultImage is the image of a managed master.
	DefaultImage = "docker.io/kvcacheai/mooncake:0.3.11.post1"
	// Port is the port on which clients call the master.
	Port int32 = 50051
	// MetadataPort is the port of the HTTP server on which clients find each other.
	MetadataPort int32 = 8080
	// MetricsPort is the port of the metrics and of the administration.
	MetricsPort int32 = 9003

	containerName       = "mooncake-master"
	user          int64 = 65532
)

// Render returns the objects of a managed Mooncake master. It fails for a backend
// whose store is none.
func Render(in workload.Input) (workload.Objects, error) {
	storage, err := in.Storage(v1alpha1.StorageProviderMooncake)
	if err != nil {
		return workload.Objects{}, err
	}
	settings := ptr.Deref(storage.Mooncake, v1alpha1.MooncakeStorage{})
	server := workload.Server{
		Provider:  v1alpha1.StorageProviderMooncake,
		Name:      containerName,
		Image:     settings.Image,
		Command:   []string{"mooncake_master"},
		Args:      args(),
		Resources: settings.Resources,
		Ports: []workload.Port{
			{Name: "mooncake-rpc", Number: Port},
			{Name: "mooncake-meta", Number: MetadataPort},
			{Name: "metrics", Number: MetricsPort, Private: true},
		},
		ReadyDelay: 5,
		Scratch:    true,
		User:       user,
		Egress:     true,
	}
	if server.Image == "" {
		server.Image = DefaultImage
	}
	server.Env = env(server.Image)
	if len(settings.Command) > 0 {
		server.Command, server.Args = settings.Command[:1], settings.Command[1:]
	}
	return workload.Render(in, server)
}

func args() []string {
	return []string{
		fmt.Sprintf("--rpc_port=%d", Port),
		fmt.Sprintf("--metrics_port=%d", MetricsPort),
		"--enable_http_metadata_server=true",
		"--http_metadata_server_host=0.0.0.0",
		fmt.Sprintf("--http_metadata_server_port=%d", MetadataPort),
	}
}

// publishedRepository is where the makers of Mooncake publish its image; mirrors
// keep the end of the name.
const publishedRepository = "kvcacheai/mooncake"

// publishedPath finds the programs of the published image's Python package before
// those of the system. What is called mooncake_master there is a script up to 0.3.11,
// which changes the mode of the program before it runs it: for a user who does not
// own it, and on a file system that is read only, that fails. The script also keeps
// the signal that ends a Pod from the program.
const publishedPath = "/usr/local/lib/python3.10/dist-packages/mooncake:/usr/local/lib/python3.12/dist-packages/mooncake:" +
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// env is the environment of a master. Images that are not Mooncake's own find their
// programs themselves.
func env(image string) []corev1.EnvVar {
	repository, _, _ := strings.Cut(image, "@")
	if slash, colon := strings.LastIndex(repository, "/"), strings.LastIndex(repository, ":"); colon > slash {
		repository = repository[:colon]
	}
	if repository != publishedRepository && !strings.HasSuffix(repository, "/"+publishedRepository) {
		return nil
	}
	return []corev1.EnvVar{{Name: "PATH", Value: publishedPath}}
}
