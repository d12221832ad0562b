package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// differences says where an object lacks something that is wanted, and what it has there; "" if it has everything. It may
// have more: what others wrote, and defaults. Items of a list that is merged may stand beside others and in any order
// (docs/design/workload.md, "What others add").
func differences(have client.Object, wanted *unstructured.Unstructured) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(have)
	if err != nil {
		return "", err
	}
	var found []string
	root := kindOfList(have)
	for _, key := range slices.Sorted(maps.Keys(wanted.Object)) {
		if key != "apiVersion" && key != "kind" {
			found = append(found, differ(key, wanted.Object[key], content[key], root.field(key))...)
		}
	}
	return strings.Join(found, "\n"), nil
}

// differ lists the differences at a place.
func differ(place string, want, have any, at listKind) []string {
	switch want := want.(type) {
	case map[string]any:
		h, isMap := have.(map[string]any)
		if !isMap && len(want) > 0 {
			break
		}
		var found []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			found = append(found, differ(place+"."+key, want[key], h[key], at.field(key))...)
		}
		return found
	case []any:
		h, isList := have.([]any)
		if !isList && len(want) > 0 {
			break
		}
		if at.merged {
			return differInMerged(place, want, h, at)
		}
		return differInWhole(place, want, h, at)
	default:
		if reflect.DeepEqual(want, have) {
			return nil
		}
	}
	return []string{place + "=" + encodedOf(have)}
}

// differInMerged looks for each wanted item in a list that several may write.
func differInMerged(place string, want, have []any, at listKind) []string {
	var found []string
	for _, item := range want {
		key := at.keyOf(item)
		nearest := []string{place + "[" + key + "] is missing"}
		for _, other := range have {
			if at.keyOf(other) != key {
				continue
			}
			d := differ(place+"["+key+"]", item, other, at.item())
			if nearest = d; len(d) == 0 {
				break
			}
		}
		found = append(found, nearest...)
	}
	return found
}

// differInWhole compares a list that one writer owns as a whole.
func differInWhole(place string, want, have []any, at listKind) []string {
	if len(want) == len(have) {
		var found []string
		for i := range want {
			found = append(found, differ(place, want[i], have[i], at.item())...)
		}
		if len(found) == 0 {
			return nil
		}
	}
	return []string{place + "=" + encodedOf(have)}
}

// encodedOf is a value as JSON, or a hash of it if it is long: what is kept of an object must not hold its content.
func encodedOf(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value) // what was decoded from JSON can be encoded
	}
	if len(encoded) > 100 {
		return HashOf(string(encoded))
	}
	return string(encoded)
}

// listKind tells, from the tags of Kubernetes's own types, whether a list at a place is merged by a key of its items. Lists
// in an unknown place are written as a whole, as in most other kinds.
type listKind struct {
	// within is the type of the object at the place, or of the items of the list there; nil is not known.
	within strategicpatch.LookupPatchMeta
	merged bool
	key    string
}

func kindOfList(obj client.Object) listKind {
	if _, untyped := obj.(runtime.Unstructured); untyped {
		return listKind{}
	}
	within, err := strategicpatch.NewPatchMetaFromStruct(obj)
	if err != nil {
		return listKind{}
	}
	return listKind{within: within}
}

// field is the place of a field.
func (k listKind) field(name string) listKind {
	if k.within == nil {
		return listKind{}
	}
	if items, patch, err := k.within.LookupPatchMetadataForSlice(name); err == nil {
		return listKind{within: items, merged: slices.Contains(patch.GetPatchStrategies(), "merge"), key: patch.GetPatchMergeKey()}
	}
	if object, _, err := k.within.LookupPatchMetadataForStruct(name); err == nil {
		return listKind{within: object}
	}
	return listKind{}
}

// item is the place of an item of the list.
func (k listKind) item() listKind { return listKind{within: k.within} }

// keyOf identifies an item of a merged list: its key, or all of it if it is a text.
func (k listKind) keyOf(item any) string {
	if object, is := item.(map[string]any); is {
		return fmt.Sprint(object[k.key])
	}
	return fmt.Sprint(item)
}
