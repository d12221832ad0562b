-- What people's databases hold, each kind once. Rows are few, but for those that pages must be walked over.

-- Triggers that refuse, silently or with words, and that change what is written.
CREATE TABLE frozen (id integer PRIMARY KEY, note text);
CREATE TRIGGER freeze BEFORE UPDATE ON frozen BEGIN SELECT raise(IGNORE); END;
INSERT INTO frozen VALUES (1, 'as it is');
CREATE TABLE folder (id integer PRIMARY KEY, name text NOT NULL, deleted integer NOT NULL DEFAULT 0);
CREATE TRIGGER keep BEFORE DELETE ON folder BEGIN UPDATE folder SET deleted = 1 WHERE id = OLD.id; SELECT raise(IGNORE); END;
INSERT INTO folder VALUES (1, 'inbox', 0), (2, 'outbox', 0);
CREATE TABLE guarded (id integer PRIMARY KEY, amount integer);
CREATE TRIGGER guard_insert BEFORE INSERT ON guarded WHEN NEW.amount < 0 BEGIN SELECT raise(ABORT, 'amounts are not negative here'); END;
CREATE TRIGGER guard_update BEFORE UPDATE ON guarded WHEN NEW.amount < 0 BEGIN SELECT raise(ABORT, 'amounts are not negative here'); END;
INSERT INTO guarded VALUES (1, 5);
CREATE TABLE stamped (id integer PRIMARY KEY, name text NOT NULL, slug text NOT NULL DEFAULT '');
CREATE TRIGGER stamp_insert AFTER INSERT ON stamped BEGIN UPDATE stamped SET name = trim(NEW.name), slug = lower(trim(NEW.name)) WHERE id = NEW.id; END;

-- Checks, deferrable constraints.
CREATE TABLE rated (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'live', 'gone')), share integer, CONSTRAINT even_only CHECK (share % 2 = 0));
INSERT INTO rated VALUES (1, 'draft', 50), (2, 'live', NULL);
CREATE TABLE chain (id integer PRIMARY KEY, next_id integer REFERENCES chain DEFERRABLE INITIALLY DEFERRED, position integer UNIQUE);
INSERT INTO chain VALUES (2, NULL, 2), (1, 2, 1);

-- Keys: composite and nullable unique ones, none at all (with rows that are the same), without rowid.
CREATE TABLE seat (hall text NOT NULL, number integer NOT NULL, holder text, UNIQUE (hall, number));
INSERT INTO seat WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20) SELECT 'h' || (n % 3), n, iif(n % 4 = 0, NULL, 'p' || n) FROM s;
CREATE TABLE nickname (name text UNIQUE, person text);
INSERT INTO nickname VALUES ('jo', 'Joanna'), ('al', 'Albert'), (NULL, 'Nobody'), (NULL, 'Nobody');
CREATE TABLE visit (page text, amount decimal(8,2), day date);
INSERT INTO visit WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 60) SELECT 'p' || (n % 3), n % 5, date('2026-01-01', '+' || (n % 2) || ' days') FROM s;
CREATE TABLE word (text text PRIMARY KEY, uses integer) WITHOUT ROWID;
INSERT INTO word VALUES ('a', 3), ('b', 1);
CREATE TABLE nullable_key (k text PRIMARY KEY, v integer);
INSERT INTO nullable_key VALUES ('a', 1), ('b', 2), (NULL, 3), (NULL, 4);

-- Columns without types, odd names, a generated column, a key that changes what points at it.
CREATE TABLE loose (id integer PRIMARY KEY, anything, blob bytea, price money);
INSERT INTO loose VALUES (1, 174, x'00ff10', 9.5), (2, 'text', 'text too', 3), (3, x'0102', NULL, 'cheap');
CREATE TABLE "Odd ""Table""" (id integer PRIMARY KEY, "unit price" decimal(8,2), "select" text, "größe" text, "a__b" text);
INSERT INTO "Odd ""Table""" VALUES (1, 9.5, 'x', 'klein', 'y');
CREATE TABLE priced (id integer PRIMARY KEY, net decimal(8,2), gross decimal(8,2) GENERATED ALWAYS AS (net * 1.2) STORED);
INSERT INTO priced (id, net) VALUES (1, 10);
CREATE TABLE currency (code text PRIMARY KEY NOT NULL, label text);
CREATE TABLE price_list (id integer PRIMARY KEY, currency_code text REFERENCES currency ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO currency VALUES ('EUR', 'Euro'), ('USD', 'Dollar');
INSERT INTO price_list VALUES (1, 'EUR'), (2, 'EUR'), (3, 'USD');

-- Views over all of that.
CREATE VIEW cheap_rated AS SELECT id, state FROM rated WHERE share IS NULL;
CREATE VIEW visit_total AS SELECT page, sum(amount) AS total, count(*) AS visits FROM visit GROUP BY page;
