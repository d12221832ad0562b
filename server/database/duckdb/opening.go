package duckdb

import (
	"errors"
	"os"
	"strings"
)

// Why a file cannot be opened.
var (
	errRights = errors.New("the user of the server may not read it")
	errHeld   = errors.New("another program has it open for writing; end that program, or give the server a copy")
	errNone   = errors.New("it is no DuckDB database, whatever its name says")
	errNewer  = errors.New("it was written by a newer DuckDB than the server has; export it in an older storage version, or use a newer server")
	errBroken = errors.New("it is broken, or was not written to its end")
	errText   = errors.New("it is not UTF-8, or its lines do not have the same columns")
)

// opening says why a file cannot be opened. DuckDB's own words name the file's path, and may hold values of rows.
func opening(err error) error {
	words := err.Error()
	has := func(all ...string) bool {
		for _, each := range all {
			if strings.Contains(words, each) {
				return true
			}
		}
		return false
	}
	switch kind := failure(err).Error(); {
	case has("Permission denied"):
		return errRights
	case has("Could not set lock", "Conflicting lock"):
		return errHeld
	case has("not a valid DuckDB database file"):
		return errNone
	case has("version number", "storage version", "newer version of DuckDB"):
		return errNewer
	case has("No files found that match", "No such file"):
		return errNotThere
	case has("CSV Error", "sniffing file", "not utf-8"):
		return errText
	case kind == "IO Error", kind == "Invalid Input Error", kind == "Serialization Error", kind == "Invalid Error", kind == "Corruption Error":
		return errBroken
	}
	return failure(err)
}

// mayRead tries whether a file may be read: look does not open it.
func mayRead(path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrPermission):
		return errRights
	case err != nil:
		return errNotThere
	}
	return f.Close()
}
