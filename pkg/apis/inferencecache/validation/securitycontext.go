/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	fsGroupChangePolicies = []corev1.PodFSGroupChangePolicy{corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways}

	supplementalGroupsPolicies = []corev1.SupplementalGroupsPolicy{corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict}

	seLinuxChangePolicies = []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive, corev1.SELinuxChangePolicyMountOption}

	seccompTypes = []corev1.SeccompProfileType{
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined,
	}

	appArmorTypes = []corev1.AppArmorProfileType{
		corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined,
	}

	// sysctlName is segments in lower case between points or slashes.
	sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
)

const (
	maxSysctlName = 253
	// maxProfilePath is the longest path that the kernel takes, without its end.
	maxProfilePath = 4095
)

// validatePodSecurityContext holds the security attributes of a managed store's
// Pods to the rules of a Pod on Linux, which is where stores run.
func validatePodSecurityContext(security *corev1.PodSecurityContext, store *Store, at *field.Path) field.ErrorList {
	if security == nil {
		return nil
	}
	errs := validatePodIdentity(security, at)
	errs = append(errs, validatePointerEnum(security.FSGroupChangePolicy, fsGroupChangePolicies, at.Child("fsGroupChangePolicy"))...)
	errs = append(errs, validatePointerEnum(security.SupplementalGroupsPolicy, supplementalGroupsPolicies, at.Child("supplementalGroupsPolicy"))...)
	errs = append(errs, validatePointerEnum(security.SELinuxChangePolicy, seLinuxChangePolicies, at.Child("seLinuxChangePolicy"))...)
	errs = append(errs, validateSysctls(security.Sysctls, store, at.Child("sysctls"))...)
	errs = append(errs, validateSeccomp(security.SeccompProfile, at.Child("seccompProfile"))...)
	errs = append(errs, validateAppArmor(security.AppArmorProfile, at.Child("appArmorProfile"))...)
	if security.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(at.Child("windowsOptions"), "stores run on Linux; remove it"))
	}
	return errs
}

func validatePodIdentity(security *corev1.PodSecurityContext, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(id *int64, messages func(int64) []string, at *field.Path) {
		if id == nil {
			return
		}
		for _, message := range messages(*id) {
			errs = append(errs, field.Invalid(at, *id, message))
		}
	}
	check(security.RunAsUser, utilvalidation.IsValidUserID, at.Child("runAsUser"))
	check(security.RunAsGroup, utilvalidation.IsValidGroupID, at.Child("runAsGroup"))
	check(security.FSGroup, utilvalidation.IsValidGroupID, at.Child("fsGroup"))
	for i, group := range security.SupplementalGroups {
		check(&group, utilvalidation.IsValidGroupID, at.Child("supplementalGroups").Index(i))
	}
	return errs
}

// validateSysctls refuses names that no kernel has, and those of the network
// where the Pod shares the node's.
func validateSysctls(sysctls []corev1.Sysctl, store *Store, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, sysctl := range sysctls {
		name := at.Index(i).Child("name")
		switch {
		case sysctl.Name == "":
			errs = append(errs, field.Required(name, "name the sysctl"))
		case len(sysctl.Name) > maxSysctlName || !sysctlName.MatchString(sysctl.Name):
			errs = append(errs, field.Invalid(name, sysctl.Name, `must be the name of a sysctl, such as "net.core.somaxconn"`))
		case store != nil && store.HostNetwork && strings.HasPrefix(strings.ReplaceAll(sysctl.Name, "/", "."), "net."):
			errs = append(errs, field.Invalid(name, sysctl.Name, "would change the node, on whose network a managed "+string(store.Provider)+" runs; remove it"))
		}
	}
	return append(errs, validateDistinct(sysctls, func(sysctl corev1.Sysctl) string { return sysctl.Name }, at, "name")...)
}

func validateSeccomp(profile *corev1.SeccompProfile, at *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := validateEnum(profile.Type, seccompTypes, at.Child("type"))
	local := at.Child("localhostProfile")
	switch file := profile.LocalhostProfile; {
	case profile.Type != corev1.SeccompProfileTypeLocalhost:
		if file != nil {
			errs = append(errs, field.Invalid(local, *file, "only allowed with type Localhost; remove it"))
		}
	case file == nil || *file == "":
		errs = append(errs, field.Required(local, "type Localhost needs the path of a profile on the node"))
	case path.IsAbs(*file) || slices.Contains(strings.Split(*file, "/"), ".."):
		errs = append(errs, field.Invalid(local, *file, `must be a path below the node's directory of profiles; remove a leading "/" and every ".."`))
	}
	return errs
}

func validateAppArmor(profile *corev1.AppArmorProfile, at *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := validateEnum(profile.Type, appArmorTypes, at.Child("type"))
	local := at.Child("localhostProfile")
	switch name := profile.LocalhostProfile; {
	case profile.Type != corev1.AppArmorProfileTypeLocalhost:
		if name != nil {
			errs = append(errs, field.Invalid(local, *name, "only allowed with type Localhost; remove it"))
		}
	case name == nil || *name == "":
		errs = append(errs, field.Required(local, "type Localhost needs the name of a profile that the node has loaded"))
	case strings.TrimSpace(*name) != *name:
		errs = append(errs, field.Invalid(local, *name, "must not begin or end with a blank; remove it"))
	case len(*name) > maxProfilePath:
		errs = append(errs, field.TooLong(local, "", maxProfilePath))
	}
	return errs
}
