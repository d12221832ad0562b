CREATE TABLE customers (
  id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, iban TEXT, password_hash TEXT
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), state TEXT NOT NULL DEFAULT 'open',
  total DECIMAL(10, 2) NOT NULL
);
CREATE TABLE schema_migrations (version TEXT PRIMARY KEY);
INSERT INTO customers VALUES
  (1, 'Ada Boyle', 'ada@example.com', 'DE02120300000000202051', 'x'),
  (2, 'Ben Castro', 'ben@example.com', 'DE02500105170137075030', 'x'),
  (3, 'Cleo Dahl', 'cleo@example.com', NULL, 'x');
INSERT INTO orders VALUES (1, 1, 'paid', '120.00'), (2, 1, 'open', '35.50'), (3, 2, 'paid', '80.00'), (4, 3, 'open', '12.25'), (5, 2, 'open', '60.00');
