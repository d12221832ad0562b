package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func rowsOf(t *testing.T, text string) [][]any {
	t.Helper()
	var rows [][]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsAreCompared(t *testing.T) {
	for _, tc := range []struct {
		name, job, rows string
		same            bool
	}{
		{"a number and its decimal string", `{"rows":[[34.5,2]]}`, `[["34.500000","2"]]`, true},
		{"ten significant digits", `{"rows":[[3.3333333333333335]]}`, `[["3.333333333333"]]`, true},
		{"too few digits", `{"rows":[[3.3333333333333335]]}`, `[["3.3333"]]`, false},
		{"integers to the last digit", `{"rows":[[12345678901]]}`, `[[12345678902]]`, false},
		{"an integer and its decimal string", `{"rows":[[12345678901]]}`, `[["12345678901.000000"]]`, true},
		{"large integers in any order", `{"rows":[[12345678901],[12345678902]]}`, `[[12345678902],[12345678901]]`, true},
		{"a boolean", `{"rows":[[1,0]]}`, `[[true,false]]`, true},
		{"a timestamp", `{"rows":[["2018-03-06 16:20:14"]]}`, `[["2018-03-06T16:20:14.000Z"]]`, true},
		{"another second", `{"rows":[["2018-03-06 16:20:14"]]}`, `[["2018-03-06T16:20:15"]]`, false},
		{"texts exactly", `{"rows":[["Aberdeen "]]}`, `[["Aberdeen"]]`, false},
		{"texts of digits", `{"rows":[["007"]]}`, `[["7"]]`, false},
		{"NULL is no text", `{"rows":[[null]]}`, `[[""]]`, false},
		{"any order", `{"rows":[[1],[2],[2]]}`, `[[2],[1],[2]]`, true},
		{"as often", `{"rows":[[1],[2],[2]]}`, `[[2],[1],[1]]`, false},
		{"a given order", `{"ordered":true,"rows":[[1],[2]]}`, `[[2],[1]]`, false},
		{"ties", `{"ordered":true,"rows":[[1],[2],[3]],"ties":[[1,3]]}`, `[[1],[3],[2]]`, true},
		{"ties keep their place", `{"ordered":true,"rows":[[1],[2],[3]],"ties":[[1,3]]}`, `[[3],[1],[2]]`, false},
		{"a tie across the limit", `{"ordered":true,"rows":[[1],[2]],"cut":{"sure":1,"candidates":[[2],[3]]}}`, `[[1],[3]]`, true},
		{"a candidate as often as it is there", `{"ordered":true,"rows":[[1],[2],[2]],"cut":{"sure":1,"candidates":[[2],[3]]}}`, `[[1],[3],[3]]`, false},
		{"rows are missing", `{"rows":[[1]]}`, `[]`, false},
		{"a sum of many rows", `{"row_count":2,"rows_sha256":"83d60c5b45b0e06b2d27e2b1c4bcd8f17d05b0e3c5b2d5b6ac9e4c1d0d6a1b2c"}`, `[["a"],["b"]]`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var j job
			decoder := json.NewDecoder(strings.NewReader(tc.job))
			decoder.UseNumber()
			if err := decoder.Decode(&j); err != nil {
				t.Fatal(err)
			}
			if d := j.difference(rowsOf(t, tc.rows)); (d == "") != tc.same {
				t.Errorf("%s and %s: %q", tc.job, tc.rows, d)
			}
		})
	}
}

// A tool says in its own words why it does not answer; whatever else happens is a fault.
func TestFaultsAreNoRefusals(t *testing.T) {
	for text, isRefusal := range map[string]bool{
		`{"error":"book has no field x","code":"invalid_argument"}`: true, `{"error":"it takes too long","code":"timeout"}`: true,
		`{"error":"it failed","code":"internal"}`: false, `{"error":"it is away","code":"unavailable"}`: false, `{"error":"?"}`: false, `panic`: false,
	} {
		var r refusal
		if got := errors.As(refused(text), &r); got != isRefusal {
			t.Errorf("%s is a refusal: %v", text, got)
		}
	}
}

func TestNamesAreValidAndDifferent(t *testing.T) {
	n := namer{}
	for _, tc := range []struct{ text, want string }{
		{"sänger", "sanger"}, {"SANGER", "sanger2"}, {"straße", "strasse"}, {"18_49_quote", "x_18_49_quote"}, {"a__b (c)", "a_b_c"}, {"", "x"}, {"日本", "x2"},
	} {
		if got := n.name(tc.text, 40); got != tc.want {
			t.Errorf("%q is named %s, want %s", tc.text, got, tc.want)
		}
	}
}

func TestOpenQuestionsAreCountedApart(t *testing.T) {
	results := []*result{
		{job: &job{ID: "a"}, outcome: outcomeOneCall, bytes: 10},
		{job: &job{ID: "b", Open: true}, outcome: outcomeNot, bytes: 20},
		{job: &job{ID: "c"}, outcome: outcomeNot, bytes: 30},
	}
	got := (&report{"X", results}).line()
	if want := "jobs: X 2 questions, without 1 that are open: 1 in one call, 0 in at most 5, 1 not, 0 wrong, 40 bytes"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
