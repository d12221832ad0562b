package dev

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Manifests are the objects that dev works with, as files give them.
type Manifests struct {
	Endpoints []v1alpha1.MCPEndpoint
	Exposures []v1alpha1.MCPModelExposure
	Tokens    []v1alpha1.MCPToken
	Secrets   map[types.NamespacedName]map[string][]byte
	// WebhookHosts are the hosts that Secrets may be sent to, by their annotations.
	WebhookHosts map[types.NamespacedName]string
	ConfigMaps   map[types.NamespacedName]map[string][]byte
	// NamespaceLabels are the labels of namespaces, by their names.
	NamespaceLabels map[string]map[string]string
	// Ignored are the other objects, as "Kind name": dev needs nothing of them.
	Ignored []string
	// leftOut are the tables for which no model was guessed, with the reasons.
	leftOut []string
}

func newManifests() *Manifests {
	return &Manifests{
		Secrets:         map[types.NamespacedName]map[string][]byte{},
		WebhookHosts:    map[types.NamespacedName]string{},
		ConfigMaps:      map[types.NamespacedName]map[string][]byte{},
		NamespaceLabels: map[string]map[string]string{},
	}
}

// ReadManifests reads YAML and JSON files, and those of folders and their subfolders. It is as strict as the API
// server: an unknown field, a field given twice, or an object given twice is an error that names the file and the object.
func ReadManifests(paths []string) (*Manifests, error) {
	m := newManifests()
	seen := map[string]string{}
	var errs []error
	for _, path := range paths {
		files, err := manifests.Files(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := m.readFile(file, seen); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return m, errors.Join(errs...)
}

func (m *Manifests) readFile(file string, seen map[string]string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var errs []error
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err == nil {
			err = m.readDocument(document, file, seen)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
		}
	}
}

func (m *Manifests) readDocument(document []byte, file string, seen map[string]string) error {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	if bytes.Equal(encoded, []byte("null")) {
		return nil // nothing but comments
	}
	var head metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &head); err != nil {
		return err
	}
	if head.Kind == "" || head.APIVersion == "" {
		return errors.New("an object without apiVersion and kind")
	}
	if head.Kind == "Kustomization" {
		return nil
	}
	key := types.NamespacedName{Namespace: namespaceOr(head.Namespace), Name: head.Name}
	name := fmt.Sprintf("%s %s", head.Kind, key)
	if head.Name == "" {
		return fmt.Errorf("%s: metadata.name is missing", head.Kind)
	}
	if other, twice := seen[head.APIVersion+" "+name]; twice {
		return fmt.Errorf("%s is in %s too", name, other)
	}
	seen[head.APIVersion+" "+name] = file
	if err := m.add(head.APIVersion+" "+head.Kind, key, encoded); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// add decodes an object and keeps it under its kind.
func (m *Manifests) add(kind string, key types.NamespacedName, encoded []byte) error {
	switch kind {
	case "mcpadmin.dev/v1alpha1 MCPEndpoint":
		return appendStrict(&m.Endpoints, key, encoded, func(e *v1alpha1.MCPEndpoint) { e.Namespace = key.Namespace })
	case "mcpadmin.dev/v1alpha1 MCPModelExposure":
		return appendStrict(&m.Exposures, key, encoded, func(e *v1alpha1.MCPModelExposure) { e.Namespace = key.Namespace })
	case "mcpadmin.dev/v1alpha1 MCPToken":
		return appendStrict(&m.Tokens, key, encoded, func(t *v1alpha1.MCPToken) { t.Namespace = key.Namespace })
	case "v1 Namespace":
		var namespaces []corev1.Namespace
		if err := appendStrict(&namespaces, key, encoded, func(*corev1.Namespace) {}); err != nil {
			return err
		}
		m.NamespaceLabels[key.Name] = labels.Merge(namespaces[0].Labels, labels.Set{corev1.LabelMetadataName: key.Name})
	case "v1 Secret":
		var secrets []corev1.Secret
		if err := appendStrict(&secrets, key, encoded, func(*corev1.Secret) {}); err != nil {
			return err
		}
		m.Secrets[key] = withStrings(secrets[0].Data, secrets[0].StringData)
		if err := checkKeys(m.Secrets[key]); err != nil {
			return err
		}
		m.WebhookHosts[key] = secrets[0].Annotations[v1alpha1.WebhookHostAnnotation]
	case "v1 ConfigMap":
		var maps []corev1.ConfigMap
		if err := appendStrict(&maps, key, encoded, func(*corev1.ConfigMap) {}); err != nil {
			return err
		}
		m.ConfigMaps[key] = withStrings(maps[0].BinaryData, maps[0].Data)
		return checkKeys(m.ConfigMaps[key])
	default:
		if strings.HasPrefix(kind, v1alpha1.GroupVersion.Group+"/") {
			return fmt.Errorf("%s is no kind of %s", kind, v1alpha1.GroupVersion)
		}
		m.Ignored = append(m.Ignored, kind[strings.Index(kind, " ")+1:]+" "+key.Name)
	}
	return nil
}

// appendStrict decodes one object. It refuses fields that its kind does not have, and names that the API server refuses.
func appendStrict[T any](list *[]T, key types.NamespacedName, encoded []byte, complete func(*T)) error {
	if err := checkName(key); err != nil {
		return err
	}
	var object T
	strict, err := kjson.UnmarshalStrict(encoded, &object)
	if err = errors.Join(append(strict, err)...); err != nil {
		return err
	}
	complete(&object)
	*list = append(*list, object)
	return nil
}

// checkName refuses names that the API server refuses. Files of the state are named like objects.
func checkName(key types.NamespacedName) error {
	if wrong := validation.IsDNS1123Label(key.Namespace); len(wrong) > 0 {
		return fmt.Errorf("metadata.namespace: %s", strings.Join(wrong, "; "))
	}
	if wrong := validation.IsDNS1123Subdomain(key.Name); len(wrong) > 0 {
		return fmt.Errorf("metadata.name: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// checkKeys refuses keys that the API server refuses in a ConfigMap or a Secret.
func checkKeys(data map[string][]byte) error {
	for key := range data {
		if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
			return fmt.Errorf("data: key %q: %s", key, strings.Join(wrong, "; "))
		}
	}
	return nil
}

func withStrings(data map[string][]byte, texts map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for key, value := range data {
		all[key] = value
	}
	for key, value := range texts {
		all[key] = []byte(value)
	}
	return all
}

// secret is the data of the Secret that an endpoint's field names.
func (m *Manifests) secret(field, namespace, name string) (map[string][]byte, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	data, ok := m.Secrets[key]
	if !ok {
		return nil, fmt.Errorf("%s: the manifests hold no Secret %s", field, key)
	}
	return data, nil
}

// webhookSecrets are the Secrets of a namespace, as webhooks use them.
func (m *Manifests) webhookSecrets(namespace string) map[string]compile.WebhookSecret {
	secrets := map[string]compile.WebhookSecret{}
	for key, data := range m.Secrets {
		if key.Namespace == namespace {
			secrets[key.Name] = compile.WebhookSecret{Host: m.WebhookHosts[key], Data: data}
		}
	}
	return secrets
}

func namespaceOr(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// Endpoint returns the endpoint of that name ("name" or "namespace/name"), or the only one if the name is empty.
func (m *Manifests) Endpoint(name string) (*v1alpha1.MCPEndpoint, error) {
	var names []string
	var found []*v1alpha1.MCPEndpoint
	for i := range m.Endpoints {
		e := &m.Endpoints[i]
		full := e.Namespace + "/" + e.Name
		names = append(names, full)
		if name == "" || name == e.Name || name == full {
			found = append(found, e)
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the manifests hold no MCPEndpoint")
	case len(found) == 0:
		return nil, fmt.Errorf("the manifests hold no MCPEndpoint %s, but %s", name, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("the manifests hold several MCPEndpoints: say which with --endpoint %s", strings.Join(names, " or --endpoint "))
	}
	return found[0], nil
}

// strays are the objects whose endpoint is not among the manifests.
func (m *Manifests) strays() []string {
	known := map[types.NamespacedName]bool{}
	for _, e := range m.Endpoints {
		known[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = true
	}
	var strays []string
	check := func(kind, namespace, name string, endpoint types.NamespacedName) {
		if !known[endpoint] {
			strays = append(strays, fmt.Sprintf("%s %s/%s, since there is no MCPEndpoint %s", kind, namespace, name, endpoint))
		}
	}
	for _, e := range m.Exposures {
		check("MCPModelExposure", e.Namespace, e.Name, types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.EndpointRef.Name})
	}
	for i := range m.Tokens {
		check("MCPToken", m.Tokens[i].Namespace, m.Tokens[i].Name, m.Tokens[i].Endpoint())
	}
	return strays
}
