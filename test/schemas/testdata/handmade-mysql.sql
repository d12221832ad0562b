-- What people's databases hold, each kind once. Rows are few, but for those that pages must be walked over.

-- Triggers that refuse with words, and that change what is written.
CREATE TABLE guarded (id integer PRIMARY KEY, amount integer);
CREATE TRIGGER guard_insert BEFORE INSERT ON guarded FOR EACH ROW BEGIN IF NEW.amount < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'amounts are not negative here'; END IF; END;
CREATE TRIGGER guard_update BEFORE UPDATE ON guarded FOR EACH ROW BEGIN IF NEW.amount < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'amounts are not negative here'; END IF; END;
INSERT INTO guarded VALUES (1, 5);
CREATE TABLE stamped (id integer AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL, slug varchar(40) NOT NULL);
CREATE TRIGGER stamp_insert BEFORE INSERT ON stamped FOR EACH ROW SET NEW.name = trim(NEW.name), NEW.slug = lower(trim(NEW.name));
CREATE TRIGGER stamp_update BEFORE UPDATE ON stamped FOR EACH ROW SET NEW.name = trim(NEW.name), NEW.slug = lower(trim(NEW.name));

-- Partitions, checks.
CREATE TABLE sale (id integer NOT NULL, region integer NOT NULL, total decimal(8,2), PRIMARY KEY (id, region)) PARTITION BY LIST (region) (PARTITION a VALUES IN (0), PARTITION b VALUES IN (1));
INSERT INTO sale WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 25) SELECT n, n % 2, n * 1.5 FROM s;
CREATE TABLE rated (id integer PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'live', 'gone')), share integer, CONSTRAINT even_only CHECK (share % 2 = 0));
INSERT INTO rated VALUES (1, 'draft', 50), (2, 'live', NULL);

-- Keys: composite and nullable unique ones, none at all (with rows that are the same).
CREATE TABLE seat (hall varchar(10) NOT NULL, number integer NOT NULL, holder varchar(10), UNIQUE (hall, number));
INSERT INTO seat WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20) SELECT concat('h', n % 3), n, if(n % 4 = 0, NULL, concat('p', n)) FROM s;
CREATE TABLE nickname (name varchar(10) UNIQUE, person varchar(10));
INSERT INTO nickname VALUES ('jo', 'Joanna'), ('al', 'Albert'), (NULL, 'Nobody'), (NULL, 'Nobody');
CREATE TABLE visit (page varchar(10), amount decimal(8,2), day date);
INSERT INTO visit WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 60) SELECT concat('p', n % 3), n % 5, date_add('2026-01-01', INTERVAL n % 2 DAY) FROM s;

-- Odd names; a generated column; a key that changes what points at it; tinyint(1) that is no boolean.
CREATE TABLE `Odd "Table"` (id integer PRIMARY KEY, `unit price` decimal(8,2), `select` varchar(10), `größe` varchar(10), `a__b` varchar(10));
INSERT INTO `Odd "Table"` VALUES (1, 9.5, 'x', 'klein', 'y');
CREATE TABLE priced (id integer PRIMARY KEY, net decimal(8,2), gross decimal(8,2) AS (net * 1.2) STORED);
INSERT INTO priced (id, net) VALUES (1, 10);
CREATE TABLE currency (code varchar(3) PRIMARY KEY, label varchar(10));
CREATE TABLE price_list (id integer PRIMARY KEY, currency_code varchar(3), FOREIGN KEY (currency_code) REFERENCES currency (code) ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO currency VALUES ('EUR', 'Euro'), ('USD', 'Dollar');
INSERT INTO price_list VALUES (1, 'EUR'), (2, 'EUR'), (3, 'USD');
CREATE TABLE level (id tinyint(1) PRIMARY KEY, name varchar(10));
CREATE TABLE player (id integer PRIMARY KEY, level_id tinyint(1), FOREIGN KEY (level_id) REFERENCES level (id));
INSERT INTO level VALUES (1, 'one'), (2, 'two');
INSERT INTO player VALUES (1, 1), (2, 2);

-- Views over all of that.
CREATE VIEW cheap_rated AS SELECT id, state FROM rated WHERE share IS NULL;
CREATE VIEW visit_total AS SELECT page, sum(amount) AS total, count(*) AS visits FROM visit GROUP BY page;
