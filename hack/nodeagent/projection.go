package nodeagent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// lookups finds the objects that a pod refers to. If an object does not exist, the error is a [notFoundError]; if it is
// not known yet, it is another error.
type lookups interface {
	secret(namespace, name string) (*corev1.Secret, error)
	configMap(namespace, name string) (*corev1.ConfigMap, error)
	// token returns a service account token of the pod for one projected source.
	token(pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection) (string, error)
}

// notFoundError says that an object or a key does not exist. An optional reference may ignore it.
type notFoundError string

func (e notFoundError) Error() string { return string(e) }

func unlessOptional(err error, optional *bool) error {
	var missing notFoundError
	if errors.As(err, &missing) && optional != nil && *optional {
		return nil
	}
	return err
}

// files is the content of a volume, by path relative to it.
type files map[string]file

type file struct {
	data []byte
	mode int32
}

func (f files) equal(other files) bool {
	return maps.EqualFunc(f, other, func(a, b file) bool { return a.mode == b.mode && bytes.Equal(a.data, b.data) })
}

// volumeFiles returns the content of a secret, configMap, downwardAPI or projected volume.
func volumeFiles(pod *corev1.Pod, v *corev1.Volume, objects lookups) (files, error) {
	out := files{}
	switch {
	case v.Secret != nil:
		return out, addSecret(out, pod.Namespace, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional, v.Secret.DefaultMode, objects)
	case v.ConfigMap != nil:
		return out, addConfigMap(out, pod.Namespace, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional, v.ConfigMap.DefaultMode, objects)
	case v.DownwardAPI != nil:
		return out, addFields(out, pod, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if err := addSource(out, pod, &source, v.Projected.DefaultMode, objects); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("volume %s holds no files", v.Name)
}

func addSource(out files, pod *corev1.Pod, source *corev1.VolumeProjection, mode *int32, objects lookups) error {
	switch {
	case source.Secret != nil:
		return addSecret(out, pod.Namespace, source.Secret.Name, source.Secret.Items, source.Secret.Optional, mode, objects)
	case source.ConfigMap != nil:
		return addConfigMap(out, pod.Namespace, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional, mode, objects)
	case source.DownwardAPI != nil:
		return addFields(out, pod, source.DownwardAPI.Items, mode)
	case source.ServiceAccountToken != nil:
		token, err := objects.token(pod, source.ServiceAccountToken)
		if err != nil {
			return err
		}
		return out.add(source.ServiceAccountToken.Path, []byte(token), nil, mode)
	}
	return fmt.Errorf("the node agent knows the projected sources secret, configMap, downwardAPI and serviceAccountToken only")
}

func addSecret(out files, namespace, name string, items []corev1.KeyToPath, optional *bool, mode *int32, objects lookups) error {
	secret, err := objects.secret(namespace, name)
	if err != nil {
		return unlessOptional(err, optional)
	}
	return addKeys(out, "Secret "+namespace+"/"+name, secret.Data, items, optional, mode)
}

func addConfigMap(out files, namespace, name string, items []corev1.KeyToPath, optional *bool, mode *int32, objects lookups) error {
	config, err := objects.configMap(namespace, name)
	if err != nil {
		return unlessOptional(err, optional)
	}
	data := make(map[string][]byte, len(config.Data)+len(config.BinaryData))
	for key, value := range config.Data {
		data[key] = []byte(value)
	}
	maps.Copy(data, config.BinaryData)
	return addKeys(out, "ConfigMap "+namespace+"/"+name, data, items, optional, mode)
}

// addKeys adds all keys, or the keys that items name, at the paths that items give.
func addKeys(out files, of string, data map[string][]byte, items []corev1.KeyToPath, optional *bool, mode *int32) error {
	if items == nil {
		for key, value := range data {
			if err := out.add(key, value, nil, mode); err != nil {
				return err
			}
		}
		return nil
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if err := unlessOptional(notFoundError(fmt.Sprintf("%s has no key %s", of, item.Key)), optional); err != nil {
				return err
			}
			continue
		}
		if err := out.add(item.Path, value, item.Mode, mode); err != nil {
			return err
		}
	}
	return nil
}

func addFields(out files, pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, mode *int32) error {
	for _, item := range items {
		value, err := downwardValue(pod, item)
		if err != nil {
			return err
		}
		if err := out.add(item.Path, []byte(value), item.Mode, mode); err != nil {
			return err
		}
	}
	return nil
}

func downwardValue(pod *corev1.Pod, item corev1.DownwardAPIVolumeFile) (string, error) {
	switch {
	case item.FieldRef != nil:
		return fieldValue(pod, item.FieldRef.FieldPath)
	case item.ResourceFieldRef != nil:
		return resourceValue(pod, "", item.ResourceFieldRef)
	}
	return "", fmt.Errorf("file %s names no field", item.Path)
}

// add adds one file. The API server checks the paths. We check again that they stay within the volume, since we write
// to the machine's disk.
func (f files) add(path string, data []byte, own, volume *int32) error {
	if !filepath.IsLocal(path) {
		return fmt.Errorf("path %q leaves the volume", path)
	}
	mode := int32(0o644)
	switch {
	case own != nil:
		mode = *own
	case volume != nil:
		mode = *volume
	}
	f[filepath.Clean(path)] = file{data: data, mode: mode}
	return nil
}
