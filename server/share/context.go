package share

import "context"

// named is a context that knows on whose behalf something is done.
type named struct {
	context.Context
	name string
}

type nameKey struct{}

// WithName returns a context of what is done on behalf of a name.
func WithName(ctx context.Context, name string) context.Context { return &named{ctx, name} }

// Name returns the name on whose behalf something is done; "" if it is nobody's.
func Name(ctx context.Context) string {
	if n, ok := ctx.Value(nameKey{}).(*named); ok {
		return n.name
	}
	return ""
}

// Value implements context.Context.
func (n *named) Value(key any) any {
	if _, ours := key.(nameKey); ours {
		return n
	}
	return n.Context.Value(key)
}
