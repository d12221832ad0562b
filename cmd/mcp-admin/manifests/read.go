package manifests

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/admission"
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Objects are the contents of files: the objects that an API server would take, and its messages about the others.
type Objects struct {
	Endpoints []v1alpha1.MCPEndpoint
	Exposures []v1alpha1.MCPModelExposure
	Tokens    []v1alpha1.MCPToken
	Secrets   map[types.NamespacedName]map[string][]byte
	// WebhookHosts are the hosts that Secrets may be sent to, by their annotations.
	WebhookHosts map[types.NamespacedName]string
	ConfigMaps   map[types.NamespacedName]map[string][]byte
	// NamespaceLabels are the labels of namespaces, by their names.
	NamespaceLabels map[string]map[string]string
	// Ignored are the objects of other kinds, as "Kind name".
	Ignored []string
	// Problems are in the order of the files; Refused are the objects of the API that they are about.
	Problems []Problem
	Refused  []Refused
	// Files and Read count the files, and the objects in them.
	Files, Read int

	namespace string
	// places are the documents of the objects, by "group/version Kind namespace/name" and by their names.
	places, named map[string]*document
}

// Problem is why an object cannot be used, and its place.
type Problem struct {
	Place
	// Object is the kind, namespace and name; "" if they cannot be read. Field is the path in it; "" is none.
	Object, Field, Message string
}

// Place is where something stands. Line is 0 if it is not known.
type Place struct {
	File string
	Line int
}

// Refused is an object of the API that cannot be used.
type Refused struct {
	Kind string
	Key  types.NamespacedName
	// Endpoint is the name of the endpoint that it names; "" if it names none.
	Endpoint string
}

// New returns no objects.
func New() *Objects {
	return &Objects{
		Secrets:         map[types.NamespacedName]map[string][]byte{},
		WebhookHosts:    map[types.NamespacedName]string{},
		ConfigMaps:      map[types.NamespacedName]map[string][]byte{},
		NamespaceLabels: map[string]map[string]string{},
		places:          map[string]*document{},
		named:           map[string]*document{},
	}
}

// Read reads YAML and JSON files, also in folders and their subfolders, as strictly as an API server: an object with an
// unknown field, a field given twice, a value that the schema or its rules refuse, or an object given twice is a problem.
// Objects that name no namespace are of the one given.
func Read(ctx context.Context, paths []string, namespace string) (*Objects, error) {
	o := New()
	o.namespace = namespace
	for _, path := range paths {
		files, err := Files(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			o.Files++
			for _, piece := range split(content) {
				if err := o.take(ctx, &document{file: file, before: piece.before}, piece.text); err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
			}
		}
	}
	return o, nil
}

// Err is all problems as one error; nil if there is none.
func (o *Objects) Err() error {
	var errs []error
	for _, p := range o.Problems {
		errs = append(errs, errors.New(p.String()))
	}
	return errors.Join(errs...)
}

// String is "file:line: object: field: message".
func (p Problem) String() string {
	text := p.File
	if p.Line > 0 {
		text += fmt.Sprintf(":%d", p.Line)
	}
	for _, part := range []string{p.Object, p.Field, p.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// PlaceOf is where a field of an object stands, or what is there of its path. The object is "Kind namespace/name".
func (o *Objects) PlaceOf(object, path string) Place {
	d := o.named[object]
	if d == nil {
		return Place{}
	}
	return d.place(path)
}

func (o *Objects) problem(d *document, object, path, message string) {
	o.Problems = append(o.Problems, Problem{d.place(path), object, path, message})
}

// take reads one document, and keeps its object.
func (o *Objects) take(ctx context.Context, d *document, text []byte) error {
	encoded, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		o.Problems = append(o.Problems, Problem{Place: d.placeOf(err), Message: "it cannot be read: " + readerPlace.ReplaceAllString(err.Error(), "")})
		return nil
	}
	if bytes.Equal(encoded, []byte("null")) {
		return nil // nothing but comments
	}
	d.parse(text)
	h := headOf(encoded)
	key := types.NamespacedName{Namespace: cmp.Or(h.Metadata.Namespace, o.namespace), Name: h.Metadata.Name}
	object := h.Kind + " " + key.String()
	switch {
	case h.Kind == "Kustomization":
		return nil
	case h.Kind == "" || h.APIVersion == "":
		o.problem(d, "", "", "it is no object of Kubernetes: apiVersion or kind is missing")
		return nil
	}
	o.Read++
	if key.Name == "" {
		o.problem(d, h.Kind, "metadata.name", "it is missing")
		return nil
	}
	if first := o.places[h.APIVersion+" "+object]; first != nil {
		place := first.place("metadata.name")
		o.Problems = append(o.Problems, Problem{Place: d.place("metadata.name"), Object: object, Message: fmt.Sprintf("it is in %s, line %d, too", place.File, place.Line)})
		return nil
	}
	o.places[h.APIVersion+" "+object], o.named[object] = d, d
	if strings.HasPrefix(h.APIVersion, v1alpha1.GroupVersion.Group+"/") {
		return o.takeOurs(ctx, d, h, key, encoded)
	}
	if err := o.takeOther(h, key, encoded); err != nil {
		o.problem(d, object, "", err.Error())
	}
	return nil
}

// takeOurs keeps an object of the API if an API server would take it.
func (o *Objects) takeOurs(ctx context.Context, d *document, h head, key types.NamespacedName, encoded []byte) error {
	object := h.Kind + " " + key.String()
	known, err := admission.Knows(h.APIVersion, h.Kind)
	if err != nil {
		return err
	}
	if !known {
		o.problem(d, object, "kind", fmt.Sprintf("%s has no kind %s", h.APIVersion, h.Kind))
		return nil
	}
	var errs field.ErrorList
	switch h.Kind {
	case "MCPEndpoint":
		errs, err = keep(ctx, encoded, key.Namespace, &o.Endpoints)
	case "MCPModelExposure":
		errs, err = keep(ctx, encoded, key.Namespace, &o.Exposures)
	case "MCPToken":
		errs, err = keep(ctx, encoded, key.Namespace, &o.Tokens)
	case "MCPApproval": // the manager makes them: from a file they are good for nothing
		errs, err = keep(ctx, encoded, key.Namespace, &[]v1alpha1.MCPApproval{})
	}
	if err != nil {
		o.problem(d, object, "", err.Error())
	}
	for _, e := range errs {
		o.problem(d, object, strings.TrimPrefix(e.Field, "<nil>"), e.ErrorBody())
	}
	if err != nil || len(errs) > 0 {
		o.Refused = append(o.Refused, Refused{h.Kind, key, h.Spec.EndpointRef.Name})
	}
	return nil
}

// keep adds an object to the list if an API server would take it.
func keep[T any, P interface {
	*T
	client.Object
}](ctx context.Context, encoded []byte, namespace string, list *[]T) (field.ErrorList, error) {
	var object T
	errs, err := admission.Read(ctx, encoded, namespace, P(&object))
	if err == nil && len(errs) == 0 {
		*list = append(*list, object)
	}
	return errs, err
}

// takeOther keeps what is needed of an object of Kubernetes itself.
func (o *Objects) takeOther(h head, key types.NamespacedName, encoded []byte) error {
	switch h.APIVersion + " " + h.Kind {
	case "v1 Namespace":
		var namespace corev1.Namespace
		if err := strictly(encoded, &namespace); err != nil {
			return err
		}
		o.NamespaceLabels[key.Name] = labels.Merge(namespace.Labels, labels.Set{corev1.LabelMetadataName: key.Name})
	case "v1 Secret":
		var secret corev1.Secret
		if err := strictly(encoded, &secret); err != nil {
			return err
		}
		o.Secrets[key], o.WebhookHosts[key] = withStrings(secret.Data, secret.StringData), secret.Annotations[v1alpha1.WebhookHostAnnotation]
		return errors.Join(checkName(key), checkKeys(o.Secrets[key]))
	case "v1 ConfigMap":
		var configMap corev1.ConfigMap
		if err := strictly(encoded, &configMap); err != nil {
			return err
		}
		o.ConfigMaps[key] = withStrings(configMap.BinaryData, configMap.Data)
		return errors.Join(checkName(key), checkKeys(o.ConfigMaps[key]))
	default:
		o.Ignored = append(o.Ignored, h.Kind+" "+key.Name)
	}
	return nil
}

// strictly decodes an object. It refuses fields that its kind does not have.
func strictly(encoded []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(encoded, into)
	return errors.Join(append(unknown, err)...)
}

// checkName refuses names that the API server refuses. Files of dev's state are named like objects.
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

// Webhooks are the Secrets of a namespace, as webhooks use them.
func (o *Objects) Webhooks(namespace string) map[string]compile.WebhookSecret {
	secrets := map[string]compile.WebhookSecret{}
	for key, data := range o.Secrets {
		if key.Namespace == namespace {
			secrets[key.Name] = compile.WebhookSecret{Host: o.WebhookHosts[key], Data: data}
		}
	}
	return secrets
}

// head holds the fields that every object has, and the endpoint that an exposure or token names.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		EndpointRef struct {
			Name string `json:"name"`
		} `json:"endpointRef"`
	} `json:"spec"`
}

// headOf reads as much of it as can be read.
func headOf(encoded []byte) head {
	var h head
	_ = json.Unmarshal(encoded, &h) // what is of another type stays empty
	return h
}
