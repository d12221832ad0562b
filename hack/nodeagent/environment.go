package nodeagent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// expand replaces $(NAME) by the variable's value, and $$ by $. An unknown name stays in the text.
// The Container type's command, args and env have these rules.
func expand(text string, lookup func(string) (string, bool)) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		switch text[i+1] {
		case '$':
			b.WriteByte('$')
			i++
		case '(':
			end := strings.IndexByte(text[i:], ')')
			if end < 0 {
				b.WriteString(text[i:])
				return b.String()
			}
			if value, ok := lookup(text[i+2 : i+end]); ok {
				b.WriteString(value)
			} else {
				b.WriteString(text[i : i+end+1])
			}
			i += end
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// variables is an ordered environment: a later value of a name replaces the earlier one.
type variables struct {
	names  []string
	values map[string]string
}

func (v *variables) set(name, value string) {
	if v.values == nil {
		v.values = map[string]string{}
	}
	if _, ok := v.values[name]; !ok {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

func (v *variables) lookup(name string) (string, bool) {
	value, ok := v.values[name]
	return value, ok
}

// list returns the environment as NAME=value lines.
func (v *variables) list() []string {
	lines := make([]string, 0, len(v.names))
	for _, name := range v.names {
		lines = append(lines, name+"="+v.values[name])
	}
	return lines
}

// environment completes base with the container's envFrom and env. Paths of mounts are rewritten, except in values from
// a Secret: a credential is passed on byte for byte.
func environment(base *variables, pod *corev1.Pod, c *corev1.Container, objects lookups, m mounts) error {
	for _, from := range c.EnvFrom {
		values, secret, err := bulkVariables(from, pod.Namespace, objects)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			if !secret {
				value = m.rewrite(value)
			}
			base.set(from.Prefix+name, value)
		}
	}
	for _, variable := range c.Env {
		source := variable.ValueFrom
		if source == nil {
			base.set(variable.Name, m.rewrite(expand(variable.Value, base.lookup)))
			continue
		}
		value, found, err := variableFrom(source, pod, c.Name, objects)
		if err != nil {
			return fmt.Errorf("env %s: %w", variable.Name, err)
		}
		if !found {
			continue
		}
		if source.SecretKeyRef == nil {
			value = m.rewrite(value)
		}
		base.set(variable.Name, value)
	}
	return nil
}

func bulkVariables(from corev1.EnvFromSource, namespace string, objects lookups) (values map[string]string, secret bool, err error) {
	values = map[string]string{}
	switch {
	case from.SecretRef != nil:
		s, err := objects.secret(namespace, from.SecretRef.Name)
		if err != nil {
			return nil, true, unlessOptional(err, from.SecretRef.Optional)
		}
		for name, value := range s.Data {
			values[name] = string(value)
		}
		return values, true, nil
	case from.ConfigMapRef != nil:
		c, err := objects.configMap(namespace, from.ConfigMapRef.Name)
		if err != nil {
			return nil, false, unlessOptional(err, from.ConfigMapRef.Optional)
		}
		maps.Copy(values, c.Data)
	}
	return values, false, nil
}

func variableFrom(source *corev1.EnvVarSource, pod *corev1.Pod, container string, objects lookups) (value string, found bool, err error) {
	switch {
	case source.FieldRef != nil:
		value, err = fieldValue(pod, source.FieldRef.FieldPath)
		return value, true, err
	case source.ResourceFieldRef != nil:
		value, err = resourceValue(pod, container, source.ResourceFieldRef)
		return value, true, err
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		s, err := objects.secret(pod.Namespace, ref.Name)
		if err == nil {
			if data, ok := s.Data[ref.Key]; ok {
				return string(data), true, nil
			}
			err = notFoundError(fmt.Sprintf("couldn't find key %s in Secret %s/%s", ref.Key, pod.Namespace, ref.Name))
		}
		return "", false, unlessOptional(err, ref.Optional)
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		c, err := objects.configMap(pod.Namespace, ref.Name)
		if err == nil {
			if data, ok := c.Data[ref.Key]; ok {
				return data, true, nil
			}
			err = notFoundError(fmt.Sprintf("couldn't find key %s in ConfigMap %s/%s", ref.Key, pod.Namespace, ref.Name))
		}
		return "", false, unlessOptional(err, ref.Optional)
	}
	return "", false, errors.New("the node agent knows fieldRef, resourceFieldRef, secretKeyRef and configMapKeyRef only")
}

// fieldValue reads a field of the downward API.
func fieldValue(pod *corev1.Pod, path string) (string, error) {
	if name, ok := subscript(path, "metadata.annotations"); ok {
		return pod.Annotations[name], nil
	}
	if name, ok := subscript(path, "metadata.labels"); ok {
		return pod.Labels[name], nil
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return quotedLines(pod.Labels), nil
	case "metadata.annotations":
		return quotedLines(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return pod.Status.HostIP, nil
	case "status.podIP", "status.podIPs":
		return pod.Status.PodIP, nil
	}
	return "", fmt.Errorf("the node agent does not know the field %s", path)
}

func subscript(path, field string) (string, bool) {
	inner, ok := strings.CutPrefix(path, field+"['")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(inner, "']")
}

func quotedLines(values map[string]string) string {
	lines := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, fmt.Sprintf("%s=%q", name, values[name]))
	}
	return strings.Join(lines, "\n")
}
