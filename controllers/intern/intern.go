// Package intern keeps equal values once. Thousands of the manager's objects have the same labels, conditions, columns and
// pod templates; of those that a decoder made for each of them, one is enough.
//
// Packages cluster, compile, observe and token use it, for what nobody changes any more. It imports nothing of the project.
package intern

import (
	"hash/maphash"
	"math/bits"
	"reflect"
	"sync"
	"time"
)

const (
	// slots is how many values are remembered.
	slots = 1 << 13
	// maxBytes is the size of the largest value that is remembered, without what it points to.
	maxBytes = 1 << 10
)

// table remembers values by their hashes. A value takes the place of the one that was in its slot before, so the table never
// grows, and keeps little of what nobody has any more. A common value that lost its place is remembered again when it comes
// next.
type table struct {
	mu   sync.Mutex
	seed maphash.Seed
	kept [slots]reflect.Value
}

var shared = &table{seed: maphash.MakeSeed()}

// Text returns the remembered text of those equal to it.
func Text(text string) string {
	Within(&text)
	return text
}

// Within replaces each text, list, map and pointer in what p points to by the remembered one that is equal, and gives lists no
// room for more. From then on others have them too: nothing in it may be changed any more, except in a deep copy.
func Within(p any) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.within(reflect.ValueOf(p).Elem())
}

// within does the same for a value, and returns its hash: equal values have equal hashes. Values that cannot be set, which
// fields without an exported name have, stay as they are.
func (t *table) within(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.String:
		return t.withinText(v)
	case reflect.Struct:
		return t.withinStruct(v)
	case reflect.Pointer:
		return t.withinPointer(v)
	case reflect.Slice:
		return t.withinSlice(v)
	case reflect.Map:
		return t.withinMap(v)
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	}
	return 0 // share compares what has equal hashes
}

func (t *table) withinText(v reflect.Value) uint64 {
	text := v.String()
	h := maphash.String(t.seed, text)
	if text == "" || len(text) > maxBytes || !v.CanSet() {
		return h
	}
	slot := t.slot(h)
	if slot.Kind() == reflect.String && slot.String() == text { // of whatever type of texts
		v.SetString(slot.String())
	} else {
		*slot = reflect.ValueOf(text)
	}
	return h
}

var timeType = reflect.TypeFor[time.Time]()

func (t *table) withinStruct(v reflect.Value) uint64 {
	if v.Type() == timeType && v.CanSet() {
		return uint64(v.Addr().Interface().(*time.Time).UnixNano())
	}
	h := uint64(3)
	for i := range v.NumField() {
		h = mix(h, t.within(v.Field(i)))
	}
	return h
}

func (t *table) withinPointer(v reflect.Value) uint64 {
	if v.IsNil() || !v.CanSet() {
		return 0
	}
	h := mix(2, t.within(v.Elem()))
	t.share(v, h, v.Type().Elem().Size())
	return h
}

func (t *table) withinSlice(v reflect.Value) uint64 {
	size := v.Type().Elem().Size()
	if v.Len() == 0 || size == 1 || !v.CanSet() { // bytes are compared where they are shared with what they are in
		return uint64(v.Len())
	}
	if v.Cap() > v.Len() {
		tight := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(tight, v)
		v.Set(tight)
	}
	h := uint64(5)
	for i := range v.Len() {
		h = mix(h, t.within(v.Index(i)))
	}
	t.share(v, h, size*uintptr(v.Len()))
	return h
}

func (t *table) withinMap(v reflect.Value) uint64 {
	if v.Len() == 0 || !v.CanSet() {
		return uint64(v.Len())
	}
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	tight := reflect.MakeMapWithSize(v.Type(), v.Len())
	h := uint64(7)
	for entries := v.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		value.SetIterValue(entries)
		h += mix(t.within(key), t.within(value)) // in whatever order
		tight.SetMapIndex(key, value)
	}
	v.Set(tight)
	t.share(v, h, (key.Type().Size()+value.Type().Size())*uintptr(v.Len()))
	return h
}

// share replaces a value by the remembered one if they are equal, and remembers it otherwise. What it points to takes so many
// bytes.
func (t *table) share(v reflect.Value, h uint64, size uintptr) {
	if size > maxBytes {
		return
	}
	slot := t.slot(h)
	if slot.IsValid() && slot.Type() == v.Type() && reflect.DeepEqual(slot.Addr().Interface(), v.Addr().Interface()) {
		v.Set(*slot)
		return
	}
	*slot = reflect.New(v.Type()).Elem() // v itself would keep all that it is a part of
	slot.Set(v)
}

func (t *table) slot(h uint64) *reflect.Value { return &t.kept[mix(h, 11)%slots] }

// mix makes one hash of two.
func mix(a, b uint64) uint64 {
	h := (bits.RotateLeft64(a, 5) ^ b) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}
