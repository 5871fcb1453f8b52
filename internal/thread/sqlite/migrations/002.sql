-- Whether somebody asked for the policy of a thread, or it is what the server gives to all.
ALTER TABLE threads ADD COLUMN policy_chosen INTEGER NOT NULL DEFAULT 0;
