package database

import "context"

// Replicated is a DB with replicas: servers that follow it.
type Replicated interface {
	DB
	// Replicas is the same database, but Select answers from a replica if one can be used, and else from the database
	// itself.
	Replicas() DB
}

// Follower is a DB that can tell how far a server has followed another.
type Follower interface {
	// Position returns where the log of changes ends on a server that takes changes, in the engine's own form; "" if the
	// server does not tell.
	Position(ctx context.Context) (string, error)
	// Reached reports whether a replica has all changes up to a position; told is false if it cannot tell.
	Reached(ctx context.Context, position string) (reached, told bool, err error)
	// Servers returns how many servers the connections so far have led to: an address may stand for several.
	Servers() int
}
