package sqltext

import "testing"

func TestWellKnownText(t *testing.T) {
	for _, test := range []struct {
		column, text string
		want         bool
	}{
		{"point", "POINT(1 2)", true},
		{"point", " point ( -1.5  +2e3 ) ", true},
		{"point", "POINT(.5 1.)", true},
		{"geometry", "LINESTRING(0 0, 1 1)", true},
		{"polygon", "POLYGON((0 0,1 0,1 1,0 0.0),(0 0,1 0,1 1,0 0))", true},
		{"multipoint", "MULTIPOINT(1 1,2 2)", true},
		{"multipoint", "MULTIPOINT((1 1),(2 2))", true},
		{"multilinestring", "MULTILINESTRING((0 0,1 1),(2 2,3 3))", true},
		{"multipolygon", "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))", true},
		{"geomcollection", "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(POINT(1 2)))", true},
		{"geometrycollection", "GEOMETRYCOLLECTION EMPTY", true},
		{"geometrycollection", "GEOMETRYCOLLECTION()", true},
		{"point", "", false},
		{"point", "POINT", false},
		{"point", "POINT(1)", false},
		{"point", "POINT(1 2", false},
		{"point", "POINT(1 2 3)", false},
		{"point", "POINT(1 2)x", false},
		{"point", "POINT(1 2),POINT(1 2)", false},
		{"point", "POINT(1,2)", false},
		{"point", "POINT(NaN 1)", false},
		{"point", "POINT(1e999 1)", false},
		{"point", "POINT(0x1 1)", false},
		{"point", "LINESTRING(0 0,1 1)", false},
		{"geometry", "CIRCLE(1 1)", false},
		{"linestring", "LINESTRING(0 0)", false},
		{"polygon", "POLYGON((0 0,1 0,1 1))", false},
		{"polygon", "POLYGON((0 0,1 0,1 1,0 1))", false},
		{"polygon", "POLYGON(0 0,1 0,1 1,0 0)", false},
	} {
		if got := isWellKnownText(test.text, test.column); got != test.want {
			t.Errorf("%q in a %s: %t", test.text, test.column, got)
		}
	}
	for _, example := range geometryExamples {
		if !isWellKnownText(example, "geometry") {
			t.Errorf("the example %s is none", example)
		}
	}
}

func TestCutSRID(t *testing.T) {
	for _, tc := range []struct {
		value string
		srid  uint64
		text  string
		ok    bool
	}{
		{"POINT(1 2)", 0, "POINT(1 2)", true},
		{"SRID=4326;POINT(1 2)", 4326, "POINT(1 2)", true},
		{" srid=0; POINT(1 2)", 0, " POINT(1 2)", true},
		{"SRID=4294967295;POINT(1 2)", 4294967295, "POINT(1 2)", true},
		{"SRID=4294967296;POINT(1 2)", 0, "", false},
		{"SRID=-1;POINT(1 2)", 0, "SRID=-1;POINT(1 2)", true}, // which is no well-known text
	} {
		srid, text, ok := cutSRID(tc.value)
		if ok != tc.ok || ok && (srid != tc.srid || text != tc.text) {
			t.Errorf("%s: %d, %q, %t", tc.value, srid, text, ok)
		}
	}
}
