-- By what the folder of a project is known again after it was moved.
-- Only adds: an older program goes on writing.

ALTER TABLE projects ADD COLUMN footprint TEXT;
