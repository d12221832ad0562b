package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

const (
	// fieldOwner is the one field manager of everything that the controllers write.
	fieldOwner = client.FieldOwner("mcp-admin-manager")
	// appliedAnnotation on a child is a hash of what was applied last.
	appliedAnnotation = "mcpadmin.dev/applied-hash"
	// componentLabel is on every child and every pod. The cache of our own objects selects by it.
	componentLabel = "mcpadmin.dev/component"
	// endpointLabel names the endpoint of a child or pod.
	endpointLabel = "mcpadmin.dev/endpoint"
)

// ownershipConflict is the error for a child whose name another object has. Such an object is never adopted.
type ownershipConflict struct{ kind, name string }

func (e ownershipConflict) Error() string {
	return fmt.Sprintf("%s %q exists and is not this object's own; delete it or name it otherwise", e.kind, e.name)
}

// children reads and applies the objects that the controllers own. It is safe for concurrent use.
type children struct {
	client client.Client
	// cached holds the objects with the component label, live asks the API server.
	cached, live client.Reader

	mu sync.Mutex
	// newest are the resourceVersions of our own writes, until the cache has them. A cached object that is older is out
	// of date.
	newest map[string]string
}

func newChildren(c client.Client, cached, live client.Reader) *children {
	return &children{client: c, cached: cached, live: live, newest: map[string]string{}}
}

// find reads a child into obj, whose namespace and name are set, and reports whether it exists. If the cache has no
// object, or one older than our last write, find asks the API server. An object of another owner is an
// ownershipConflict.
func (c *children) find(ctx context.Context, owner, obj client.Object) (bool, error) {
	if looksFresh(ctx) {
		return c.findLive(ctx, owner, obj)
	}
	err := c.cached.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) || err == nil && c.late(obj) {
		return c.findLive(ctx, owner, obj)
	}
	if err != nil {
		return false, err
	}
	return true, c.checkOwner(owner, obj)
}

// findLive is find past the cache.
func (c *children) findLive(ctx context.Context, owner, obj client.Object) (bool, error) {
	err := c.live.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.newest, c.placeOf(obj))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.checkOwner(owner, obj)
}

func (c *children) checkOwner(owner, obj client.Object) error {
	if metav1.IsControlledBy(obj, owner) {
		return nil
	}
	return ownershipConflict{c.kindOf(obj), obj.GetName()}
}

func (c *children) kindOf(obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, c.client.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

// placeOf is an object's key in newest.
func (c *children) placeOf(obj client.Object) string {
	return c.kindOf(obj) + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// apply makes a child as wanted, by server-side apply. It sends nothing if the child is so already. have is an empty
// object of the child's type, with namespace and name, and holds the child as it was found when apply returns. If the
// child was found, the request carries its uid, so that another one of the same name is never changed. If the owner is
// paused and the child is not as wanted, apply changes nothing and returns ownerPaused.
func (c *children) apply(ctx context.Context, owner, have client.Object, want runtime.ApplyConfiguration) error {
	found, err := c.find(ctx, owner, have)
	if err != nil {
		return err
	}
	if v1alpha1.IsPaused(owner) {
		return c.compare(found, have, want)
	}
	if !found {
		return c.create(ctx, owner, want)
	}
	return c.send(ctx, have, want)
}

// compare returns ownerPaused if a child is not as wanted.
func (c *children) compare(found bool, have client.Object, want runtime.ApplyConfiguration) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	same := false
	if found {
		same, err = contains(have, wanted)
	}
	if err != nil || same {
		return err
	}
	return ownerPaused{wanted.GetKind(), wanted.GetName()}
}

// create makes a child that was not found. It never applies, because that would take over an object that somebody else
// made meanwhile; such an object is an ownershipConflict.
func (c *children) create(ctx context.Context, owner client.Object, want runtime.ApplyConfiguration) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	err = c.client.Create(ctx, wanted, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		found := &metav1.PartialObjectMetadata{}
		found.SetGroupVersionKind(wanted.GroupVersionKind())
		if getErr := c.live.Get(ctx, client.ObjectKeyFromObject(wanted), found); getErr == nil && !metav1.IsControlledBy(found, owner) {
			return ownershipConflict{wanted.GetKind(), wanted.GetName()}
		}
	}
	if err != nil {
		return fmt.Errorf("creating %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	c.wrote(wanted)
	return nil
}

// applyAsRead is apply for a child that the caller has read, or nil: only that very version of it is changed.
func (c *children) applyAsRead(ctx context.Context, read client.Object, want runtime.ApplyConfiguration) error {
	return c.send(ctx, read, want, func(u *unstructured.Unstructured) { u.SetResourceVersion(read.GetResourceVersion()) })
}

// send applies what is wanted to a child that exists, and sends nothing if it is there already.
func (c *children) send(ctx context.Context, have client.Object, want runtime.ApplyConfiguration, preconditions ...func(*unstructured.Unstructured)) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	if same, err := contains(have, wanted); err != nil || same {
		return err
	}
	wanted.SetUID(have.GetUID())
	for _, set := range preconditions {
		set(wanted)
	}
	applied, err := c.applyOnce(ctx, wanted)
	if err != nil {
		return err
	}
	if upgrade, err := csaupgrade.UpgradeManagedFieldsPatch(applied, sets.New(string(fieldOwner)), string(fieldOwner)); err != nil {
		return err
	} else if upgrade != nil {
		// The fields that create wrote have two managers, both ours; an apply removes only fields that an apply set.
		if err := c.client.Patch(ctx, applied, client.RawPatch(types.JSONPatchType, upgrade)); err != nil {
			return fmt.Errorf("taking over the fields of %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
		}
		if len(preconditions) > 0 {
			wanted.SetResourceVersion(applied.GetResourceVersion())
		}
		if applied, err = c.applyOnce(ctx, wanted); err != nil {
			return err
		}
	}
	c.wrote(applied)
	return nil
}

// applyOnce applies, and returns the object as it is then.
func (c *children) applyOnce(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	applied := wanted.DeepCopy()
	if err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), fieldOwner, client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	return applied, nil
}

// wrote remembers the version that a write of ours gave.
func (c *children) wrote(obj client.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest[c.placeOf(obj)] = obj.GetResourceVersion()
}

// late reports whether an object from the cache is older than our last write of it. Once it is not, the write is
// forgotten, because a cache does not go back.
func (c *children) late(obj client.Object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.placeOf(obj)
	if olderThan(obj.GetResourceVersion(), c.newest[place]) {
		return true
	}
	delete(c.newest, place)
	return false
}

// olderThan compares resourceVersions; one that is no number is older than none.
func olderThan(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// annotated is the wanted object with its hash as an annotation, so that removed fields are noticed.
func annotated(want runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, err
	}
	wanted := &unstructured.Unstructured{Object: content}
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(encoded)
	annotations := wanted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[appliedAnnotation] = hex.EncodeToString(sum[:16])
	wanted.SetAnnotations(annotations)
	return wanted, nil
}

// contains reports whether an object has everything that is wanted. It may have more: what others wrote, and defaults.
func contains(have client.Object, wanted *unstructured.Unstructured) (bool, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(have)
	if err != nil {
		return false, err
	}
	for key, value := range wanted.Object {
		if key != "apiVersion" && key != "kind" && !subset(value, content[key]) {
			return false, nil
		}
	}
	return true, nil
}

func subset(want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok && len(w) > 0 {
			return false
		}
		for key, value := range w {
			if !subset(value, h[key]) {
				return false
			}
		}
		return true
	case []any:
		h, _ := have.([]any)
		if len(h) != len(w) {
			return false
		}
		for i := range w {
			if !subset(w[i], h[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, have)
}
