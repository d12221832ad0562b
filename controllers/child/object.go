package child

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object is an object that an endpoint owns: have is an empty one of its kind with its name, want what it should be, nil if
// there should be none.
type Object struct {
	Have client.Object
	Want runtime.ApplyConfiguration
}

// Wanted reports whether there should be such a child. A nil of an apply configuration's type counts as none.
func (c Object) Wanted() bool {
	return c.Want != nil && !reflect.ValueOf(c.Want).IsNil()
}
