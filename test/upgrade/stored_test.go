package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

const (
	group  = "mcpadmin.dev"
	before = "v1alpha1"
	after  = "v1beta1"
)

// The way to v1beta1 of docs/upgrades.md, on a real API server: no webhook, nothing lost, v1alpha1 not served at the end.
func TestTheWayToTheNextVersion(t *testing.T) {
	api := startAPIServer(t)
	ctx := t.Context()
	crds := readCRDs(t)
	for _, crd := range crds {
		must(t, api.Create(ctx, crd))
	}
	objects := createSamples(t, api)

	t.Log("v1beta1 is served beside v1alpha1, which is stored")
	for _, crd := range crds {
		change(t, api, crd, func() {
			next := *crd.Spec.Versions[0].DeepCopy()
			next.Name, next.Storage = after, false
			crd.Spec.Versions = append(crd.Spec.Versions, next)
		})
	}
	for _, o := range objects {
		if got := read(t, api, o, after); got.GetUID() != o.GetUID() || !sameSpec(got, o) {
			t.Errorf("%s %s is another one in %s", o.GetKind(), o.GetName(), after)
		}
	}

	t.Log("v1beta1 is stored, and every object is written once")
	for _, crd := range crds {
		change(t, api, crd, func() { crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = false, true })
	}
	for _, o := range objects {
		must(t, api.Update(ctx, read(t, api, o, after)))
	}
	for _, crd := range crds {
		must(t, api.Get(ctx, client.ObjectKeyFromObject(crd), crd))
		if got := crd.Status.StoredVersions; !slices.Equal(got, []string{before, after}) {
			t.Errorf("%s: the stored versions are %v", crd.Name, got)
		}
		crd.Status.StoredVersions = []string{after}
		must(t, api.Status().Update(ctx, crd))
	}

	// It must stay in the definition: the managed fields of who applied in it name it, and their next apply would fail.
	t.Log("v1alpha1 is no longer served")
	for _, crd := range crds {
		change(t, api, crd, func() { crd.Spec.Versions[0].Served = false })
	}
	eventually(t, func() error {
		if err := api.Get(ctx, client.ObjectKeyFromObject(objects[0]), objects[0].DeepCopy()); err == nil {
			return errors.New(before + " is still served")
		}
		return nil
	})
	for _, o := range objects {
		now := read(t, api, o, after)
		if now.GetUID() != o.GetUID() || !sameSpec(now, o) {
			t.Errorf("%s %s is another one at the end", o.GetKind(), o.GetName())
		}
		applied := &unstructured.Unstructured{Object: map[string]any{"spec": now.Object["spec"]}}
		applied.SetGroupVersionKind(now.GroupVersionKind())
		applied.SetNamespace(now.GetNamespace())
		applied.SetName(now.GetName())
		applied.SetLabels(map[string]string{"applied": "afterwards"})
		if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("gitops"), client.ForceOwnership); err != nil {
			t.Errorf("%s %s cannot be applied to any more: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func startAPIServer(t *testing.T) client.Client {
	t.Helper()
	_, config := apiserver.Start(t)
	scheme := runtime.NewScheme()
	must(t, corev1.AddToScheme(scheme))
	must(t, apiextensions.AddToScheme(scheme))
	api, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return api
}

func readCRDs(t *testing.T) []*apiextensions.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	must(t, err)
	var crds []*apiextensions.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		crd := &apiextensions.CustomResourceDefinition{}
		must(t, yaml.UnmarshalStrict(text, crd))
		if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != before {
			t.Fatalf("%s has another version than %s: this test, and docs/upgrades.md, are about the way from there", file, before)
		}
		crds = append(crds, crd)
	}
	return crds
}

// createSamples creates one object of each kind, applied as GitOps tools do, and returns them as they are stored.
func createSamples(t *testing.T, api client.Client) []*unstructured.Unstructured {
	t.Helper()
	var created []*unstructured.Unstructured
	for _, manifest := range []string{
		`{kind: MCPEndpoint, metadata: {name: shop, namespace: default}, spec: {database: {connectionSecretRef: {name: db}}}}`,
		`{kind: MCPModelExposure, metadata: {name: item, namespace: default}, spec: {endpointRef: {name: shop}, table: {name: item}}}`,
		`{kind: MCPToken, metadata: {name: agent, namespace: default}, spec: {endpointRef: {name: shop}, permissions: [{models: ["*"], verbs: [view]}]}}`,
	} {
		o := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(manifest), &o.Object))
		o.SetAPIVersion(group + "/" + before)
		eventually(t, func() error { // a kind is served a moment after its definition
			return api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("gitops"))
		})
		created = append(created, o)
	}
	return created
}

// change edits a definition in its present state.
func change(t *testing.T, api client.Client, crd *apiextensions.CustomResourceDefinition, edit func()) {
	t.Helper()
	eventually(t, func() error {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}
		edit()
		return api.Update(t.Context(), crd)
	})
}

// read reads an object in a version.
func read(t *testing.T, api client.Client, o *unstructured.Unstructured, version string) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: o.GetKind()})
	eventually(t, func() error { return api.Get(t.Context(), client.ObjectKeyFromObject(o), found) })
	return found
}

func sameSpec(a, b *unstructured.Unstructured) bool {
	encode := func(o *unstructured.Unstructured) string {
		text, _ := yaml.Marshal(o.Object["spec"])
		return string(text)
	}
	return encode(a) == encode(b)
}

func eventually(t *testing.T, try func() error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for {
		err := try()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}
