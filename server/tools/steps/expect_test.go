package steps

import "testing"

func TestEqualValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`"42.50"`, `42.5`, true}, {`"a"`, `"a"`, true}, {`"1"`, `"1.0"`, false}, {`null`, `null`, true}, {`null`, `0`, false},
		{`[1, 2]`, `[1,2]`, true}, {`{"a":1,"b":2}`, `{"b":2,"a":1}`, true}, {`true`, `1`, false}, {`1e999999999`, `1e999999999`, false}, {`"1/2"`, `0.5`, false},
	} {
		if got := equalValues([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}
