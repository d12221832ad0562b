package database

// Vector says what a column of vectors holds (pgvector).
type Vector struct {
	// Schema and Type are the type's, as SQL has them; Dimensions is how many numbers each vector has.
	Schema, Type string
	Dimensions   int
	Distance     DistanceKind
}

// DistanceKind is a way to measure how far two vectors are from each other.
type DistanceKind uint8

// The ways. InnerProduct is the negative one, so that the nearest has the least distance.
const (
	Cosine DistanceKind = iota
	Euclidean
	InnerProduct
	Taxicab
)

var distanceNames = [...]string{"cosine distance", "Euclidean distance", "inner product, the greatest first", "taxicab distance"}

// String returns the distance's name.
func (k DistanceKind) String() string { return distanceNames[k] }

// Distance is how far a vector of the row is from another one, as a column of the row.
type Distance struct {
	// Of is a column of vectors, To a vector in the text form of its type.
	Of *Column
	To string
}

func (Distance) expression() {}

// Column returns the column of the distance.
func (d Distance) Column() *Column {
	c := derived(Float)
	c.Name, c.Expression = "distance", d
	return c
}
