package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// floors.json says of each set of questions, by the SHA-256 of its jobs.json, and of each engine how many are answered in one
// call at least: by the schema alone, and with relations and reads declared. Fewer is an error: something that could be asked
// cannot any more. Raise a floor when more are answered.
//
//go:embed floors.json
var floorsText []byte

// readFloors returns the floors of a folder's questions by engine; none if the set is not known.
func readFloors(folder string) (map[string]int, error) {
	questions, err := os.ReadFile(filepath.Join(folder, "jobs.json"))
	if err != nil {
		return nil, err
	}
	var all map[string]map[string]int
	if err := json.Unmarshal(floorsText, &all); err != nil {
		return nil, fmt.Errorf("floors.json: %w", err)
	}
	sum := sha256.Sum256(questions)
	return all[hex.EncodeToString(sum[:])], nil
}
