INSERT INTO harbours (code, name) VALUES ('KEL', 'Kelmouth'), ('ORN', 'Orneby'), ('VIK', 'Vikstrand');

INSERT INTO sailings (sailing_no, day, from_code, to_code, open) VALUES
('KO 1', '2026-06-01', 'KEL', 'ORN', TRUE),
('KO 1', '2026-06-02', 'KEL', 'ORN', TRUE),
('OV 7', '2026-06-02', 'ORN', 'VIK', FALSE),
('OV 7', '2026-06-03', 'ORN', 'VIK', TRUE);

INSERT INTO decks (sailing_no, day, deck, places, price) VALUES
('KO 1', '2026-06-01', 'open', 40, 12.50),
('KO 1', '2026-06-01', 'lounge', 2, 31.00),
('KO 1', '2026-06-02', 'open', 38, 14.90),
('KO 1', '2026-06-02', 'lounge', 0, 35.00),
('OV 7', '2026-06-02', 'open', 60, 9.95),
('OV 7', '2026-06-03', 'open', 55, 9.95),
('OV 7', '2026-06-03', 'lounge', 6, 21.05);

INSERT INTO travellers (traveller_id, name, points) VALUES
(1, 'Ada Holm', 120), (2, 'Ben O''Neill', 0), (3, 'Çelik Yıldız', 30), (4, 'Dora Lind', 7);

INSERT INTO vouchers (code, traveller_id, worth, expires) VALUES
('V-100', 1, 20.00, '2026-12-31'),
('V-200', 2, 100.00, '2026-12-31'),
('V-300', 3, 50.00, '2026-04-30');

INSERT INTO bookings (booking_id, traveller_id, sailing_no, day, deck, booked_at, paid, plate) VALUES
(501, 1, 'KO 1', '2026-06-01', 'open', '2026-05-01 09:30:00', 25.00, 'KL 42 X'),
(502, 2, 'OV 7', '2026-06-03', 'lounge', '2026-05-03 18:05:10', 21.05, NULL),
(503, 3, 'KO 1', '2026-06-02', 'open', '2026-05-04 00:00:00', 44.70, NULL);

INSERT INTO passengers (booking_id, place_no, name) VALUES
(501, 1, 'Ada Holm'), (501, 2, 'Eli Holm'),
(502, 1, 'Ben O''Neill'),
(503, 1, 'Çelik Yıldız'), (503, 2, 'Faye Berg'), (503, 3, 'Gus Berg');
