-- A ferry line: sailings, what is free on their decks, who travels, and what was paid.
-- The same statements run on SQLite, PostgreSQL and MariaDB.

CREATE TABLE harbours (
  code VARCHAR(3) NOT NULL PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);

CREATE TABLE sailings (
  sailing_no VARCHAR(8) NOT NULL,
  day DATE NOT NULL,
  from_code VARCHAR(3) NOT NULL,
  to_code VARCHAR(3) NOT NULL,
  open BOOLEAN NOT NULL,
  PRIMARY KEY (sailing_no, day),
  FOREIGN KEY (from_code) REFERENCES harbours (code),
  FOREIGN KEY (to_code) REFERENCES harbours (code)
);

CREATE TABLE decks (
  sailing_no VARCHAR(8) NOT NULL,
  day DATE NOT NULL,
  deck VARCHAR(10) NOT NULL,
  places INTEGER NOT NULL,
  price DECIMAL(10,2) NOT NULL,
  PRIMARY KEY (sailing_no, day, deck),
  FOREIGN KEY (sailing_no, day) REFERENCES sailings (sailing_no, day),
  CONSTRAINT decks_places CHECK (places >= 0)
);

CREATE TABLE travellers (
  traveller_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(40) NOT NULL,
  points INTEGER NOT NULL
);

-- A voucher is spent whole or in parts; one that is worth nothing is deleted.
CREATE TABLE vouchers (
  code VARCHAR(10) NOT NULL PRIMARY KEY,
  traveller_id INTEGER NOT NULL,
  worth DECIMAL(10,2) NOT NULL,
  expires DATE NOT NULL,
  FOREIGN KEY (traveller_id) REFERENCES travellers (traveller_id),
  CONSTRAINT vouchers_worth CHECK (worth > 0)
);

CREATE TABLE bookings (
  booking_id INTEGER NOT NULL PRIMARY KEY,
  traveller_id INTEGER NOT NULL,
  sailing_no VARCHAR(8) NOT NULL,
  day DATE NOT NULL,
  deck VARCHAR(10) NOT NULL,
  booked_at TIMESTAMP NOT NULL,
  paid DECIMAL(10,2) NOT NULL,
  plate VARCHAR(12),
  FOREIGN KEY (traveller_id) REFERENCES travellers (traveller_id),
  FOREIGN KEY (sailing_no, day, deck) REFERENCES decks (sailing_no, day, deck)
);

CREATE TABLE passengers (
  booking_id INTEGER NOT NULL,
  place_no INTEGER NOT NULL,
  name VARCHAR(40) NOT NULL,
  PRIMARY KEY (booking_id, place_no),
  FOREIGN KEY (booking_id) REFERENCES bookings (booking_id)
);
