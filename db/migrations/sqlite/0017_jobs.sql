CREATE TABLE `jobs` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text,
	`beat` integer DEFAULT 0 NOT NULL,
	`running_since` integer,
	`started_at` integer,
	`ended_at` integer,
	`duration_ms` integer,
	`result` text,
	`error` text,
	`succeeded_at` integer,
	`requested_at` integer
) STRICT;
