package database

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// Vector says what a column of vectors holds (pgvector, MariaDB, MySQL).
type Vector struct {
	// Schema and Type are the type's, as SQL has them, if it is an extension's; Dimensions is how many numbers each vector has.
	Schema, Type string
	Dimensions   int
	Distance     DistanceKind
	// Unordered says why no list is ordered by the distance of these vectors; "" if lists are.
	Unordered string
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
	// Of is a column of vectors, To the numbers of a vector.
	Of *Column
	To []float32
}

func (Distance) expression() {}

// Column returns the column of the distance.
func (d Distance) Column() *Column {
	c := derived(Float)
	c.Name, c.Expression = "distance", d
	return c
}

// ReadVector returns the numbers of a vector that was read: a list as text (pgvector), or bytes, four for each number (MariaDB). It
// returns none for NULL.
func ReadVector(value Value) (numbers []float32) {
	switch v := value.(type) {
	case string:
		if json.Unmarshal([]byte(v), &numbers) != nil {
			return nil
		}
	case []byte:
		for ; len(v) >= 4; v = v[4:] {
			numbers = append(numbers, math.Float32frombits(binary.LittleEndian.Uint32(v)))
		}
	}
	return numbers
}
