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
	// maxBytes is the size of the largest value that is remembered, with all that it points to.
	maxBytes = 2 << 10
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
// room for more. From then on others have them too: nothing in it may be changed any more, except in a deep copy. What p has may
// be others' already: Within looks into copies.
func Within(p any) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.within(reflect.ValueOf(p).Elem())
}

// within does the same for a value, and returns its hash and how many bytes it points to: equal values have equal hashes. Values that
// cannot be set, which fields without an exported name have, stay as they are.
func (t *table) within(v reflect.Value) (h uint64, size int) {
	switch v.Kind() {
	case reflect.String:
		return t.withinText(v), v.Len()
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
			return 1, 0
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int()), 0
	case reflect.Interface:
		return 0, maxBytes // nobody knows what it holds
	}
	return 0, 0 // share compares what has equal hashes
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

func (t *table) withinStruct(v reflect.Value) (h uint64, size int) {
	if v.Type() == timeType && v.CanSet() {
		return uint64(v.Addr().Interface().(*time.Time).UnixNano()), 0
	}
	h = 3
	for i := range v.NumField() {
		of, more := t.within(v.Field(i))
		h, size = mix(h, of), size+more
	}
	return h, size
}

func (t *table) withinPointer(v reflect.Value) (h uint64, size int) {
	if v.IsNil() {
		return 0, 0
	}
	if !v.CanSet() {
		return 0, maxBytes
	}
	own := reflect.New(v.Type().Elem())
	own.Elem().Set(v.Elem())
	h, size = t.within(own.Elem())
	v.Set(own)
	return t.share(v, mix(2, h), size+int(own.Elem().Type().Size()))
}

func (t *table) withinSlice(v reflect.Value) (h uint64, size int) {
	each := int(v.Type().Elem().Size())
	if v.Len() == 0 || each == 1 || !v.CanSet() { // bytes are compared where they are shared with what they are in
		return uint64(v.Len()), each * v.Len()
	}
	own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(own, v)
	h, size = 5, each*v.Len()
	for i := range own.Len() {
		of, more := t.within(own.Index(i))
		h, size = mix(h, of), size+more
	}
	v.Set(own)
	return t.share(v, h, size)
}

func (t *table) withinMap(v reflect.Value) (h uint64, size int) {
	if v.Len() == 0 || !v.CanSet() {
		return uint64(v.Len()), 0
	}
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	h, size = 7, int(key.Type().Size()+value.Type().Size())*v.Len()
	for entries := v.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		value.SetIterValue(entries)
		ofKey, keySize := t.within(key)
		ofValue, valueSize := t.within(value)
		h, size = h+mix(ofKey, ofValue), size+keySize+valueSize // in whatever order
		own.SetMapIndex(key, value)
	}
	v.Set(own)
	return t.share(v, h, size)
}

// share replaces a value by the remembered one if they are equal, and remembers it otherwise. What it points to takes so many
// bytes.
func (t *table) share(v reflect.Value, h uint64, size int) (uint64, int) {
	if size > maxBytes {
		return h, size
	}
	slot := t.slot(h)
	if slot.IsValid() && slot.Type() == v.Type() && reflect.DeepEqual(slot.Addr().Interface(), v.Addr().Interface()) {
		v.Set(*slot)
		return h, size
	}
	*slot = reflect.New(v.Type()).Elem() // v itself would keep all that it is a part of
	slot.Set(v)
	return h, size
}

func (t *table) slot(h uint64) *reflect.Value { return &t.kept[mix(h, 11)%slots] }

// mix makes one hash of two.
func mix(a, b uint64) uint64 {
	h := (bits.RotateLeft64(a, 5) ^ b) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}
