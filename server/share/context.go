package share

import "context"

// named is a context that knows on whose behalf something is done.
type named struct {
	context.Context
	name string
}

// Key is the key of a context's value that says on whose behalf something is done: one with the method ShareName.
type Key struct{}

// WithName returns a context of what is done on behalf of a name.
func WithName(ctx context.Context, name string) context.Context { return &named{ctx, name} }

// Name returns the name on whose behalf something is done; "" if it is nobody's.
func Name(ctx context.Context) string {
	if n, ok := ctx.Value(Key{}).(interface{ ShareName() string }); ok {
		return n.ShareName()
	}
	return ""
}

// ShareName returns the name.
func (n *named) ShareName() string { return n.name }

// Value implements context.Context.
func (n *named) Value(key any) any {
	if _, ours := key.(Key); ours {
		return n
	}
	return n.Context.Value(key)
}
