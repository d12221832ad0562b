package spelling

import "testing"

func TestLatin(t *testing.T) {
	for text, want := range map[string]string{
		"plain_1": "plain_1", "Schüler": "Schueler", "GRÖSSE": "GROESSE", "Größe": "Groesse", "Übung": "Uebung", "ÜB": "UEB", "u\u0308ber": "ueber",
		"prénom": "prenom", "Ångström": "Angstroem", "smørrebrød": "smoerrebroed", "Łódź": "Lodz", "ÇAĞRI": "CAGRI", "ışık": "isik",
		"имя": "imya", "Щука": "Shchuka", "объект": "obekt", "їжак": "yizhak", "όνομα": "onoma", "Αθήνα": "Athina", "სახელი": "sakheli",
		"名前": "名前", "ﬁn²": "fin2", "": "", "a–b": "a–b",
	} {
		if got := Latin(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
