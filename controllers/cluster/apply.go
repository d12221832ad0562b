package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
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
)

const (
	// FieldOwner is the one field manager of everything that the controllers write.
	FieldOwner = client.FieldOwner("mcp-admin-manager")
	// AppliedAnnotation on a child is a hash of what was applied last.
	AppliedAnnotation = "mcpadmin.dev/applied-hash"
	// ComponentLabel is on every child and every pod. The cache of our own objects selects by it.
	ComponentLabel = "mcpadmin.dev/component"
	// ManagerAnnotation on a child is the mark of the manager that wrote it last.
	ManagerAnnotation = "mcpadmin.dev/applied-by"
	// EndpointLabel names the endpoint of a child or pod.
	EndpointLabel = "mcpadmin.dev/endpoint"
)

// OwnershipConflict is the error for a child whose name another object has. Such an object is never adopted.
type OwnershipConflict struct{ Kind, Name string }

func (e OwnershipConflict) Error() string {
	return fmt.Sprintf("%s %q exists and is not this object's own; delete it or name it otherwise", e.Kind, e.Name)
}

// Children reads and applies the objects that the controllers own. It is safe for concurrent use.
type Children struct {
	client client.Client
	// Cached holds the objects with the component label, live asks the API server.
	Cached, Live client.Reader

	// Mark is the text that this manager writes as ManagerAnnotation.
	Mark ManagerMark
	// outcomes are the last results of applying, by the child's place.
	outcomes Memo[string, applyOutcome]
	now      func() time.Time

	Mu sync.Mutex
	// Newest are the resourceVersions of our own writes, until the cache has them. A cached object that is older is out
	// of date.
	Newest map[string]string
}

// NewChildren returns what applies the controllers' own objects. Cached and live read them; mark says which manager writes.
func NewChildren(c client.Client, cached, live client.Reader, mark ManagerMark) *Children {
	return &Children{client: c, Cached: cached, Live: live, Mark: mark, now: time.Now, Newest: map[string]string{}}
}

// applyOutcome is the result of an object's last apply.
type applyOutcome struct {
	// wish is the hash of what was written. kept is a hash of what the API server made of it all the same: what an
	// admission webhook changes each time is not put back each time. It is "" if everything was as written.
	wish, kept string
	// owned reports whether all that create wrote belongs to our applies by now.
	owned bool
	// yielded is when another manager turned out to be at work on the object; zero if none did.
	yielded time.Time
}

// Find reads a child into obj, whose namespace and name are set, and reports whether it exists. If the cache has no
// object, or one older than our last write, find asks the API server. An object of another owner is an
// OwnershipConflict.
func (c *Children) Find(ctx context.Context, owner, obj client.Object) (bool, error) {
	if LooksFresh(ctx) {
		return c.FindLive(ctx, owner, obj)
	}
	err := c.Cached.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) || err == nil && c.Late(obj) {
		return c.FindLive(ctx, owner, obj)
	}
	if err != nil {
		return false, err
	}
	return true, c.checkOwner(owner, obj)
}

// FindCached is find in the cache alone: a child that it does not have yet may exist.
func (c *Children) FindCached(ctx context.Context, owner, obj client.Object) (bool, error) {
	if err := c.Cached.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return true, c.checkOwner(owner, obj)
}

// FindLive is find past the cache.
func (c *Children) FindLive(ctx context.Context, owner, obj client.Object) (bool, error) {
	err := c.Live.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) && !IsKindGone(err) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		delete(c.Newest, c.PlaceOf(obj))
		c.outcomes.Forget(c.PlaceOf(obj))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.checkOwner(owner, obj)
}

func (c *Children) checkOwner(owner, obj client.Object) error {
	if metav1.IsControlledBy(obj, owner) {
		return nil
	}
	return OwnershipConflict{Kind: c.kindOf(obj), Name: obj.GetName()}
}

func (c *Children) kindOf(obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, c.client.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

// PlaceOf is an object's key in newest.
func (c *Children) PlaceOf(obj client.Object) string {
	return c.kindOf(obj) + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// Apply makes a child as wanted, by server-side apply. It sends nothing if the child is so already. have is an empty
// object of the child's type, with namespace and name, and holds the child as it was found when apply returns. If the
// child was found, the request carries its uid, so that another one of the same name is never changed. If the owner is
// paused and the child is not as wanted, apply changes nothing and returns OwnerPaused. If another manager is at work on the
// child, one of the two gives way, and gets an OtherManager.
func (c *Children) Apply(ctx context.Context, owner, have client.Object, want runtime.ApplyConfiguration) error {
	return c.ApplyIf(ctx, owner, have, want, always)
}

func always() error { return nil }

// ApplyIf is apply that changes no child that is there if may returns an error.
func (c *Children) ApplyIf(ctx context.Context, owner, have client.Object, want runtime.ApplyConfiguration, may func() error) error {
	found, err := c.Find(ctx, owner, have)
	if c.lostOwner(have, want, err) {
		err = nil
	}
	if err != nil {
		return err
	}
	if v1alpha1.IsPaused(owner) {
		return c.compare(found, have, want)
	}
	if !found {
		return c.Create(ctx, owner, want)
	}
	return c.send(ctx, have, want, false, may)
}

// lostOwner reports whether a child belongs to nobody, but is as we applied it: somebody removed its owner reference. What
// we applied last has the owner's uid in its hash, so the child of another object of the same name is not meant.
func (c *Children) lostOwner(have client.Object, want runtime.ApplyConfiguration, err error) bool {
	var conflict OwnershipConflict
	if !errors.As(err, &conflict) || metav1.GetControllerOfNoCopy(have) != nil {
		return false
	}
	wanted, err := annotated(want)
	return err == nil && have.GetAnnotations()[AppliedAnnotation] == wanted.GetAnnotations()[AppliedAnnotation]
}

// compare returns OwnerPaused if a child is not as wanted.
func (c *Children) compare(found bool, have client.Object, want runtime.ApplyConfiguration) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	same := false
	if found {
		var differing string
		differing, err = differences(have, wanted)
		same = differing == ""
	}
	if err != nil || same {
		return err
	}
	return OwnerPaused{wanted.GetKind(), wanted.GetName()}
}

// Create makes a child that was not found. It never applies, because that would take over an object that somebody else
// made meanwhile; such an object is an OwnershipConflict.
func (c *Children) Create(ctx context.Context, owner client.Object, want runtime.ApplyConfiguration) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	wish := wanted.DeepCopy()
	c.Mark.set(wanted)
	err = c.client.Create(ctx, wanted, FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		found := &metav1.PartialObjectMetadata{}
		found.SetGroupVersionKind(wanted.GroupVersionKind())
		if getErr := c.Live.Get(ctx, client.ObjectKeyFromObject(wanted), found); getErr == nil && !metav1.IsControlledBy(found, owner) {
			return OwnershipConflict{Kind: wanted.GetKind(), Name: wanted.GetName()}
		}
	}
	if err != nil {
		return fmt.Errorf("creating %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	c.Wrote(wanted)
	kept, err := c.keptOf(wanted, wish)
	if err == nil && kept != "" {
		c.outcomes.Set(c.PlaceOf(wanted), applyOutcome{wish: wish.GetAnnotations()[AppliedAnnotation], kept: kept})
	}
	return err
}

// ApplyAsRead is apply for a child that the caller has read, or nil: only that very version of it is changed.
func (c *Children) ApplyAsRead(ctx context.Context, read client.Object, want runtime.ApplyConfiguration) error {
	return c.send(ctx, read, want, true, always)
}

// send applies what is wanted to a child that exists, and sends nothing if it is there already. With asRead it changes only
// the very version that was read, and gives way to no other manager: what takes access away must get out.
func (c *Children) send(ctx context.Context, have client.Object, want runtime.ApplyConfiguration, asRead bool, may func() error) error {
	wanted, err := annotated(want)
	if err != nil {
		return err
	}
	differing, err := differences(have, wanted)
	if err != nil || differing == "" {
		return err
	}
	place, wish := c.PlaceOf(have), wanted.GetAnnotations()[AppliedAnnotation]
	last, _ := c.outcomes.Get(place)
	if last.wish == wish && last.kept == HashOf(differing) {
		return nil
	}
	if !asRead {
		if err := c.yield(ctx, place, have, last); err != nil {
			return err
		}
	}
	if err := may(); err != nil {
		return err
	}
	version := have.GetResourceVersion()
	if !last.owned {
		if version, err = c.ownByApply(ctx, have, asRead); err != nil {
			return err
		}
	}
	if err := c.keepReplicas(ctx, have, wanted); err != nil {
		return err
	}
	c.Mark.set(wanted)
	wanted.SetUID(have.GetUID())
	if asRead {
		wanted.SetResourceVersion(version)
	}
	applied, err := c.applyOnce(ctx, wanted)
	if err != nil {
		return err
	}
	c.Wrote(applied)
	o := applyOutcome{wish: wish, owned: true}
	if !asRead { // else the caller reads again what it wrote
		if o.kept, err = c.keptOf(applied, wanted); err != nil {
			return err
		}
	}
	c.outcomes.Set(place, o)
	return nil
}

// keptOf is a hash of what an object lacks of what was written to it a moment ago; "" if it lacks nothing.
func (c *Children) keptOf(written, wanted *unstructured.Unstructured) (string, error) {
	typed, err := c.client.Scheme().New(written.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		typed = written
	} else if err != nil {
		return "", err
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, typed); err != nil {
		return "", err
	}
	wanted.SetUID("")
	wanted.SetResourceVersion("")
	left, err := differences(typed.(client.Object), wanted)
	if err != nil || left == "" {
		return "", err
	}
	return HashOf(left), nil
}

// ownByApply makes all that create wrote belong to our applies: an apply removes only fields that an apply set. It returns
// the version that the child has then.
func (c *Children) ownByApply(ctx context.Context, have client.Object, asRead bool) (string, error) {
	gvk, err := apiutil.GVKForObject(have, c.client.Scheme())
	if err != nil {
		return "", err
	}
	found := &metav1.PartialObjectMetadata{} // the cache has no managed fields
	found.SetGroupVersionKind(gvk)
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(have), found); err != nil {
		return "", err
	}
	upgrade, err := csaupgrade.UpgradeManagedFieldsPatch(found, sets.New(string(FieldOwner)), string(FieldOwner))
	anotherOne := found.UID != have.GetUID() || asRead && found.ResourceVersion != have.GetResourceVersion()
	if err != nil || upgrade == nil || anotherOne {
		return have.GetResourceVersion(), err
	}
	if err := c.client.Patch(ctx, found, client.RawPatch(types.JSONPatchType, upgrade)); err != nil {
		return "", fmt.Errorf("taking over the fields of %s %s: %w", gvk.Kind, have.GetName(), err)
	}
	return found.ResourceVersion, nil
}

// applyOnce applies, and returns the resulting object.
func (c *Children) applyOnce(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	applied := wanted.DeepCopy()
	if err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), FieldOwner, client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	return applied, nil
}

// Forget drops what is remembered of an endpoint's workload.
func (c *Children) Forget(endpoint types.NamespacedName) {
	e := v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Name: endpoint.Name}}
	for _, kind := range WorkloadKinds() {
		kind.SetNamespace(endpoint.Namespace)
		kind.SetName(e.ServiceName())
		c.outcomes.Forget(c.PlaceOf(kind))
	}
}

// Wrote remembers the version that a write of ours gave.
func (c *Children) Wrote(obj client.Object) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Newest[c.PlaceOf(obj)] = obj.GetResourceVersion()
}

// Late reports whether an object from the cache is older than our last write of it. Once it is not, the write is
// forgotten, because a cache does not go back.
func (c *Children) Late(obj client.Object) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	place := c.PlaceOf(obj)
	if OlderThan(obj.GetResourceVersion(), c.Newest[place]) {
		return true
	}
	delete(c.Newest, place)
	return false
}

// OlderThan compares resourceVersions; one that is no number is older than none.
func OlderThan(a, b string) bool {
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
	annotations := wanted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AppliedAnnotation] = HashOf(string(encoded))
	wanted.SetAnnotations(annotations)
	return wanted, nil
}

// HashOf returns a hash of a text, as an annotation has it.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
