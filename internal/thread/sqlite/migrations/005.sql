-- Why a command was ended by the end of its session.
ALTER TABLE commands ADD COLUMN reason TEXT NOT NULL DEFAULT '';
