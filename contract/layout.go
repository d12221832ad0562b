package contract

import (
	"hash/fnv"
	"strconv"
)

// Layout says in which token parts an endpoint's tokens lie.
type Layout struct {
	// Parts is the number of token parts: 1, 4, 16 and so on up to MaxTokenParts.
	Parts int `json:"parts"`
	// Before is the number of parts from which this layout grew, as long as a reader may still use it: the first Before
	// parts hold the tokens that they held then as well. 0 is none.
	Before int `json:"before,omitempty"`
}

const (
	// MaxTokenParts is the most parts that an endpoint's tokens lie in.
	MaxTokenParts = 4096
	// tokensPerPart is how many tokens a part has on average before the layout grows.
	tokensPerPart = 256
	// growth is how many times as many parts the next layout has.
	growth = 4
)

// NameHash decides in which part a token lies. It depends on the token's name alone.
func NameHash(namespace, name string) uint32 {
	hash := fnv.New32a()
	hash.Write([]byte(namespace))
	hash.Write([]byte{'/'})
	hash.Write([]byte(name))
	return hash.Sum32()
}

// PartOf is the index of the part, among so many, that holds a token.
func PartOf(namespace, name string, parts int) int {
	return int(NameHash(namespace, name)) & (parts - 1)
}

// Holds reports whether a token of that NameHash lies in the part of that index.
func (l Layout) Holds(index int, hash uint32) bool {
	return int(hash)&(l.Parts-1) == index || l.Before > 0 && int(hash)&(l.Before-1) == index
}

// PartsFor is how many parts so many tokens need.
func PartsFor(tokens int) int {
	parts := 1
	for parts < MaxTokenParts && tokens > parts*tokensPerPart {
		parts *= growth
	}
	return parts
}

// Grown is the next larger number of parts; MaxTokenParts has none larger.
func Grown(parts int) int { return min(parts*growth, MaxTokenParts) }

// valid reports whether the numbers make a layout.
func (l Layout) valid() bool {
	return isParts(l.Parts) && (l.Before == 0 || isParts(l.Before) && l.Before < l.Parts)
}

func isParts(n int) bool { return n >= 1 && n <= MaxTokenParts && n&(n-1) == 0 }

// MainSecret is the name of the Secret of the main part. base is the name of the endpoint's Config.
func MainSecret(base string) string { return base }

// TokensSecret is the name of the Secret of the token part of that index.
func TokensSecret(base string, index int) string {
	return base + "-tokens-" + strconv.Itoa(index)
}
