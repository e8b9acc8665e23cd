/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

// sharedMemory returns how engine and worker mount /dev/shm, through which blocks go
// from one to the other: the engine's own volume, or one that has to be added. It
// refuses an own one that cannot be shared or written to.
func sharedMemory(pod *corev1.Pod, engine *corev1.Container) (corev1.VolumeMount, error) {
	for _, mount := range engine.VolumeMounts {
		if path.Clean(mount.MountPath) != sharedFolder {
			continue
		}
		volume := volumeNamed(pod, mount.Name)
		switch {
		case mount.ReadOnly:
			return mount, wiring.Refuse(wiring.ReasonSharedMemory, "the engine mounts %s read-only; let it be written to", sharedFolder)
		case mount.SubPathExpr != "":
			return mount, wiring.Refuse(wiring.ReasonSharedMemory,
				"the engine mounts %s by subPathExpr, which differs between containers; use subPath", sharedFolder)
		case volume == nil || !writable(volume.VolumeSource):
			return mount, wiring.Refuse(wiring.ReasonSharedMemory,
				"the engine mounts %s from volume %s, which cannot be written to; use an emptyDir with medium Memory", sharedFolder, mount.Name)
		}
		return mount, nil
	}
	return corev1.VolumeMount{Name: sharedVolume, MountPath: sharedFolder}, nil
}

func volumeNamed(pod *corev1.Pod, name string) *corev1.Volume {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == name {
			return &pod.Spec.Volumes[i]
		}
	}
	return nil
}

// writable tells whether a volume can be written to, as far as its source says.
func writable(source corev1.VolumeSource) bool {
	switch {
	case source.ConfigMap != nil, source.Secret != nil, source.DownwardAPI != nil, source.Projected != nil, source.Image != nil:
		return false
	case source.PersistentVolumeClaim != nil:
		return !source.PersistentVolumeClaim.ReadOnly
	case source.NFS != nil:
		return !source.NFS.ReadOnly
	case source.CSI != nil:
		return source.CSI.ReadOnly == nil || !*source.CSI.ReadOnly
	case source.ISCSI != nil:
		return !source.ISCSI.ReadOnly
	case source.FC != nil:
		return !source.FC.ReadOnly
	default:
		return true
	}
}
