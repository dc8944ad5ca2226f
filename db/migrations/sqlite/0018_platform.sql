CREATE TABLE `error_events` (
	`fingerprint` text NOT NULL,
	`hour` integer NOT NULL,
	`title` text NOT NULL,
	`count` integer NOT NULL,
	`last_seen` integer NOT NULL,
	PRIMARY KEY(`hour`, `fingerprint`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `operations_answers` (
	`kind` text PRIMARY KEY NOT NULL,
	`source` text NOT NULL,
	`as_of` integer NOT NULL,
	`body` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `process_starts` (
	`id` text PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`version` text NOT NULL,
	`revision` text NOT NULL,
	`started_at` integer NOT NULL,
	`deployed_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`stopped_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `process_starts_by_start` ON `process_starts` (`started_at`);